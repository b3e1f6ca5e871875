#include "backends/cpu/ops/copy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/padding.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

std::uint64_t element_bytes(const tosa::Tensor& tensor) {
    return tosa::bits_of(tensor.dtype).value_or(8) / 8;
}

// How many bytes lie between neighbours along each axis of a dense tensor.
std::array<std::uint64_t, tosa::rank_max> steps_of(const tosa::Tensor& tensor) {
    std::array<std::uint64_t, tosa::rank_max> steps{};
    std::uint64_t step = element_bytes(tensor);
    for (std::size_t axis = tensor.rank(); axis-- > 0;) {
        steps[axis] = step;
        step *= static_cast<std::uint64_t>(tensor.shape[axis]);
    }
    return steps;
}

std::uint64_t dim(const tosa::Tensor& tensor, std::size_t axis) {
    return static_cast<std::uint64_t>(tensor.shape[axis]);
}

// Elements of a known size, so that the compiler need not call memcpy for each.
template <std::size_t bytes>
void copy_row(std::byte* target, const std::byte* source, const Box::Axis& axis) {
    for (std::uint64_t i = 0; i < axis.size; ++i) {
        std::memcpy(target, source, bytes);
        target += axis.target_step;
        source += axis.source_step;
    }
}

void copy_row(std::byte* target, const std::byte* source, const Box::Axis& axis,
              std::uint64_t bytes) {
    switch (bytes) {
        case 1:
            return copy_row<1>(target, source, axis);
        case 2:
            return copy_row<2>(target, source, axis);
        case 4:
            return copy_row<4>(target, source, axis);
        case 8:
            return copy_row<8>(target, source, axis);
        default:
            break;
    }
    for (std::uint64_t i = 0; i < axis.size; ++i) {
        std::memcpy(target + (i * axis.target_step), source + (i * axis.source_step),
                    static_cast<std::size_t>(bytes));
    }
}

template <class T>
void fill(std::byte* target, std::uint64_t bytes, const std::byte* element) {
    T value{};
    std::memcpy(&value, element, sizeof(T));
    std::fill_n(reinterpret_cast<T*>(target), bytes / sizeof(T), value);
}

}  // namespace

void Box::add_axis(const Axis& axis) {
    if (axis.size == 1) {
        return;
    }
    if (rank != 0) {
        Axis& outer = axes[rank - 1];
        if (outer.source_step == axis.size * axis.source_step &&
            outer.target_step == axis.size * axis.target_step) {
            outer = {.size = outer.size * axis.size,
                     .source_step = axis.source_step,
                     .target_step = axis.target_step};
            return;
        }
    }
    axes[rank] = axis;
    ++rank;
}

void Box::make_dense() {
    if (rank != 0 && axes[rank - 1].source_step == element_bytes &&
        axes[rank - 1].target_step == element_bytes) {
        --rank;
        element_bytes *= axes[rank].size;
        axes[rank] = {};
    }
}

bool CopyBox::run(const Frame& frame, std::uint32_t /*part*/) noexcept {
    const std::byte* source = frame.at<std::byte>(source_) + box_.source_offset;
    std::byte* target = frame.at<std::byte>(target_) + box_.target_offset;
    if (box_.rank == 0) {
        std::memcpy(target, source, static_cast<std::size_t>(box_.element_bytes));
        return true;
    }
    const std::uint32_t inner = box_.rank - 1;
    std::array<std::uint64_t, tosa::rank_max> position{};
    while (true) {
        copy_row(target, source, box_.axes[inner], box_.element_bytes);
        std::uint32_t axis = inner;
        while (axis-- > 0) {
            const Box::Axis& outer = box_.axes[axis];
            source += outer.source_step;
            target += outer.target_step;
            if (++position[axis] != outer.size) {
                break;
            }
            position[axis] = 0;
            source -= outer.size * outer.source_step;
            target -= outer.size * outer.target_step;
        }
        if (axis > inner) {  // wrapped below zero: every axis is through
            return true;
        }
    }
}

bool Fill::run(const Frame& frame, std::uint32_t /*part*/) noexcept {
    auto* const target = frame.at<std::byte>(target_);
    switch (element_bytes_) {
        case 1:
            fill<std::uint8_t>(target, bytes_, element_.data());
            break;
        case 2:
            fill<std::uint16_t>(target, bytes_, element_.data());
            break;
        case 4:
            fill<std::uint32_t>(target, bytes_, element_.data());
            break;
        default:
            fill<std::uint64_t>(target, bytes_, element_.data());
            break;
    }
    return true;
}

void lower_nothing(Lowering& /*lowering*/, const tosa::Operator& /*op*/) {}

void lower_identity(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    if (!lowering.join(target, source)) {
        lowering.emit(std::make_unique<CopyAll>(source, target, lowering.tensor(source).bytes),
                      {source}, target);
    }
}

// Parts that nothing precedes in the output are computed where they will be; others are copied.
void lower_concat(Lowering& lowering, const tosa::Operator& op) {
    const ValueId target = op.outputs[0];
    const tosa::Tensor& whole = lowering.tensor(target);
    const auto axis = static_cast<std::size_t>(op.as<tosa::AxisAttribute>().axis);
    const auto steps = steps_of(whole);
    const bool is_outermost =
        std::ranges::all_of(whole.shape.first(axis), [](std::int32_t size) { return size == 1; });
    std::uint64_t offset = 0;
    for (const ValueId source : op.inputs) {
        const tosa::Tensor& part = lowering.tensor(source);
        const bool placed = is_outermost && !lowering.is_known(target) &&
                            !lowering.is_known(source) &&
                            lowering.place_inside(source, target, offset);
        if (!placed) {
            const auto part_steps = steps_of(part);
            Box box{.element_bytes = element_bytes(part), .target_offset = offset};
            for (std::size_t i = 0; i < part.rank(); ++i) {
                box.add_axis(
                    {.size = dim(part, i), .source_step = part_steps[i], .target_step = steps[i]});
            }
            box.make_dense();
            lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
        }
        offset += dim(part, axis) * steps[axis];
    }
}

void lower_pad(Lowering& lowering, const tosa::Operator& op) {
    if (const std::uint32_t reader = reader_that_pads(lowering, op); reader != tosa::nowhere) {
        lowering.keep_until(op.inputs[0], reader);
        return;
    }
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    const tosa::Tensor& inner = lowering.tensor(source);
    const tosa::Tensor& whole = lowering.tensor(target);
    const auto amounts = lowering.known<std::int64_t>(op.inputs[1]);
    const auto inner_steps = steps_of(inner);
    const auto steps = steps_of(whole);
    Box box{.element_bytes = element_bytes(inner)};
    for (std::size_t i = 0; i < inner.rank(); ++i) {
        box.target_offset += static_cast<std::uint64_t>(amounts[2 * i]) * steps[i];
        box.add_axis(
            {.size = dim(inner, i), .source_step = inner_steps[i], .target_step = steps[i]});
    }
    box.make_dense();
    const auto* const value = lowering.known_bytes(op.inputs[2]);
    lowering.emit(std::make_unique<Fill>(target, whole.bytes, value, element_bytes(whole)), {},
                  target);
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

void lower_transpose(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    const tosa::Tensor& from = lowering.tensor(source);
    const tosa::Tensor& to = lowering.tensor(target);
    const auto& perms = op.as<tosa::TransposeAttribute>().perms;
    const auto source_steps = steps_of(from);
    const auto target_steps = steps_of(to);
    Box box{.element_bytes = element_bytes(from)};
    for (std::size_t i = 0; i < to.rank(); ++i) {
        box.add_axis({.size = dim(to, i),
                      .source_step = source_steps[static_cast<std::size_t>(perms[i])],
                      .target_step = target_steps[i]});
    }
    box.make_dense();
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

}  // namespace virtaccel::backends::cpu::ops
