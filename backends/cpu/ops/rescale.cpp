// RESCALE of every type, with operands that may come at run time.
#include "backends/cpu/ops/rescale.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/int8_prelu.h"
#include "backends/cpu/ops/int8_sum.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/rescale_step.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

// The integers of a type, in blocks of 64 bits each.
struct IntegerFormat {
    std::uint32_t bytes = 0;  // of an element
    std::int64_t low = 0;
    std::int64_t high = 0;
    void (*load)(const std::byte* source, std::int64_t* target, std::uint64_t count) = nullptr;
    void (*store)(const std::int64_t* source, std::byte* target, std::uint64_t count) = nullptr;
};

template <class T>
void load(const std::byte* source, std::int64_t* target, std::uint64_t count) {
    const auto* const elements = reinterpret_cast<const T*>(source);
    for (std::uint64_t i = 0; i < count; ++i) {
        target[i] = widened(elements[i]);
    }
}

template <class T>
void store(const std::int64_t* source, std::byte* target, std::uint64_t count) {
    auto* const elements = reinterpret_cast<T*>(target);
    for (std::uint64_t i = 0; i < count; ++i) {
        elements[i] = static_cast<T>(source[i]);
    }
}

template <class T>
constexpr IntegerFormat format{.bytes = sizeof(T),
                               .low = std::numeric_limits<T>::min(),
                               .high = std::numeric_limits<T>::max(),
                               .load = load<T>,
                               .store = store<T>};

// Nothing is rescaled to INT48.
constexpr IntegerFormat int48_format{
    .bytes = sizeof(Int48), .low = 0, .high = 0, .load = load<Int48>, .store = nullptr};

const IntegerFormat& format_of(DType dtype, bool is_unsigned) {
    switch (dtype) {
        case DType::int8:
            return is_unsigned ? format<std::uint8_t> : format<std::int8_t>;
        case DType::int16:
            return is_unsigned ? format<std::uint16_t> : format<std::int16_t>;
        case DType::int48:
            return int48_format;
        default:
            return format<std::int32_t>;
    }
}

struct Formats {
    const IntegerFormat* input = nullptr;
    const IntegerFormat* output = nullptr;
};

class Rescale final : public Step {
  public:
    Rescale(const RescaleShape& shape, const Formats& formats, bool has_wide_multipliers)
        : shape_(shape), formats_(formats), has_wide_multipliers_(has_wide_multipliers) {}

    [[nodiscard]] std::uint32_t parts() const override { return shape_.parts; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        if (has_wide_multipliers_) {
            run(frame, frame.at<const std::int32_t>(shape_.values.multiplier), part);
        } else {
            run(frame, frame.at<const std::int16_t>(shape_.values.multiplier), part);
        }
        return true;
    }

  private:
    static constexpr std::uint64_t block_length = 128;

    template <class Multiplier>
    void run(const Frame& frame, const Multiplier* multipliers, std::uint32_t part) const {
        const auto* const input = frame.at<const std::byte>(shape_.values.input);
        auto* const output = frame.at<std::byte>(shape_.values.output);
        const auto* const shifts = frame.at<const std::int8_t>(shape_.values.shift);
        const std::int64_t input_zero = zero(frame, shape_.values.input_zero, *formats_.input);
        const std::int64_t output_zero = zero(frame, shape_.values.output_zero, *formats_.output);
        std::array<std::int64_t, block_length> block{};
        const Range range = range_of(shape_.elements, shape_.parts, part);
        std::uint64_t channel = range.first % shape_.channels;
        for (std::uint64_t first = range.first; first < range.end; first += block_length) {
            const std::uint64_t count = std::min(block_length, range.end - first);
            formats_.input->load(input + (first * formats_.input->bytes), block.data(), count);
            for (std::int64_t& value : std::span{block}.first(count)) {
                value = scaled(value - input_zero, multipliers[channel], shifts[channel],
                               shape_.rounds_twice);
                value =
                    std::clamp(value + output_zero, formats_.output->low, formats_.output->high);
                channel = channel + 1 == shape_.channels ? 0 : channel + 1;
            }
            formats_.output->store(block.data(), output + (first * formats_.output->bytes), count);
        }
    }

    static std::int64_t zero(const Frame& frame, ValueId value, const IntegerFormat& format) {
        std::int64_t zero = 0;
        format.load(frame.at<const std::byte>(value), &zero, 1);
        return zero;
    }

    RescaleShape shape_;
    Formats formats_;
    bool has_wide_multipliers_;
};

RescaleShape shape_of(const Lowering& lowering, const tosa::Operator& op) {
    const auto& attribute = op.as<tosa::RescaleAttribute>();
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    return {.values = {.output = op.outputs[0],
                       .input = op.inputs[0],
                       .multiplier = op.inputs[1],
                       .shift = op.inputs[2],
                       .input_zero = op.inputs[3],
                       .output_zero = op.inputs[4]},
            .elements = input.elements,
            .channels = attribute.per_channel ? static_cast<std::uint64_t>(input.shape.back()) : 1,
            .rounds_twice = attribute.rounding == tosa::RoundingMode::double_round,
            .parts = lowering.parts_for(input.elements, input.elements)};
}

}  // namespace

void lower_rescale(Lowering& lowering, const tosa::Operator& op) {
    if (is_left_to_int8_sum(lowering, op) || lower_int8_prelu(lowering, op)) {
        return;
    }
    const auto& attribute = op.as<tosa::RescaleAttribute>();
    const RescaleShape shape = shape_of(lowering, op);
    // Operands that lie in the same bytes are needed until the end.
    const bool stands_alone = std::ranges::none_of(op.inputs.subspan(1), [&](ValueId other) {
        return lowering.is_shared(other, shape.values.input);
    });
    if (stands_alone) {
        static_cast<void>(lowering.compute_in_place(shape.values.output, shape.values.input));
    }
    if (auto step = vector_rescale(lowering, op, shape); step != nullptr) {
        return lowering.emit(std::move(step), op.inputs.first(1), op.outputs[0]);
    }
    const Formats formats{
        .input = &format_of(lowering.tensor(op.inputs[0]).dtype, attribute.input_unsigned),
        .output = &format_of(lowering.tensor(op.outputs[0]).dtype, attribute.output_unsigned)};
    lowering.emit(std::make_unique<Rescale>(shape, formats, attribute.scale32), op.inputs,
                  op.outputs[0]);
}

}  // namespace virtaccel::backends::cpu::ops
