#include "backends/cpu/ops/box.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// Elements of a known size, so that the compiler need not call memcpy for each.
template <std::size_t bytes>
void copy_row(std::byte* target, const std::byte* source, const Box::Axis& axis) {
    for (std::int64_t i = 0; i < axis.size; ++i) {
        std::memcpy(target + (i * axis.target_step), source + (i * axis.source_step), bytes);
    }
}

void copy_row(std::byte* target, const std::byte* source, const Box::Axis& axis,
              std::int64_t bytes) {
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
    for (std::int64_t i = 0; i < axis.size; ++i) {
        std::memcpy(target + (i * axis.target_step), source + (i * axis.source_step),
                    static_cast<std::size_t>(bytes));
    }
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

void copy_box(const Box& box, const std::byte* source, std::byte* target) noexcept {
    source += box.source_offset;
    target += box.target_offset;
    if (box.rank == 0) {
        std::memcpy(target, source, static_cast<std::size_t>(box.element_bytes));
        return;
    }
    const std::uint32_t inner = box.rank - 1;
    std::array<std::int64_t, Box::axes_max> position{};
    while (true) {
        copy_row(target, source, box.axes[inner], box.element_bytes);
        // The innermost axis around the row that is not at its end moves on, those inside it go
        // back to their beginning.
        std::uint32_t axis = inner;
        while (axis != 0 && position[axis - 1] + 1 == box.axes[axis - 1].size) {
            --axis;
            source -= position[axis] * box.axes[axis].source_step;
            target -= position[axis] * box.axes[axis].target_step;
            position[axis] = 0;
        }
        if (axis == 0) {
            return;
        }
        ++position[axis - 1];
        source += box.axes[axis - 1].source_step;
        target += box.axes[axis - 1].target_step;
    }
}

std::int64_t element_bytes(const tosa::Tensor& tensor) {
    return tosa::bits_of(tensor.dtype).value_or(8) / 8;
}

Box box_of(const tosa::Tensor& part, const ByteSteps& source_steps, const ByteSteps& target_steps) {
    Box box{.element_bytes = element_bytes(part)};
    for (std::size_t i = 0; i < part.rank(); ++i) {
        box.add_axis(
            {.size = dim(part, i), .source_step = source_steps[i], .target_step = target_steps[i]});
    }
    box.make_dense();
    return box;
}

ByteSteps steps_of(const tosa::Tensor& tensor) {
    ByteSteps steps{};
    std::int64_t step = element_bytes(tensor);
    for (std::size_t axis = tensor.rank(); axis-- > 0;) {
        steps[axis] = step;
        step *= dim(tensor, axis);
    }
    return steps;
}

}  // namespace virtaccel::backends::cpu::ops
