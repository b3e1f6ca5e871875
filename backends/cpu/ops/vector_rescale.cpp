#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/rescale_kernels.h"
#include "backends/cpu/ops/rescale_step.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

// A factor that shifts by at least as much adds its half in the upper half of a product.
constexpr std::int32_t shift_wanted = 33;
// The largest difference of two INT8 fits INT32 when it is shifted left by as much.
constexpr std::int32_t left_max = 22;
// Above, rounding twice is different from rounding once.
constexpr std::int32_t shift_once_max = 31;

struct Types {
    DType input = DType::unknown;
    DType output = DType::unknown;
    RescaleTypes vectors = RescaleTypes::int8_to_int8;
};

constexpr Types types[] = {
    {DType::int8, DType::int8, RescaleTypes::int8_to_int8},
    {DType::int8, DType::int32, RescaleTypes::int8_to_int32},
    {DType::int32, DType::int8, RescaleTypes::int32_to_int8},
    {DType::int32, DType::int32, RescaleTypes::int32_to_int32},
};

// Known operands.
struct Scales {
    std::span<const std::int32_t> wide_multipliers;  // one of these is empty
    std::span<const std::int16_t> multipliers;
    std::span<const std::int8_t> shifts;

    [[nodiscard]] std::int32_t multiplier(std::size_t i) const {
        return wide_multipliers.empty() ? multipliers[i] : wide_multipliers[i];
    }
};

// Factors as kernels want them, in one block.
RescaleFactors factors_in(const Block& block, std::int64_t channels) {
    const auto* const first = reinterpret_cast<const std::int32_t*>(block.data());
    const std::int64_t length = channels + rescale_lanes_max;
    return {.lefts = first,
            .multipliers = first + length,
            .halves = first + (2 * length),
            .rights = first + (3 * length),
            .channels = channels};
}

Block pack(const Memory& memory, const Scales& scales) {
    const std::size_t channels = scales.shifts.size();
    const std::size_t length = channels + rescale_lanes_max;
    Block block{memory, 4 * sizeof(std::int32_t) * length};
    auto* const first = reinterpret_cast<std::int32_t*>(block.data());
    for (std::size_t i = 0; i < length; ++i) {
        const std::int32_t shift = +scales.shifts[i % channels];
        const std::int32_t left = std::max(0, shift_wanted - shift);
        const std::int32_t right = shift + left - 32;
        first[i] = left;
        first[i + length] = scales.multiplier(i % channels);
        first[i + (2 * length)] = std::int32_t{1} << static_cast<std::uint32_t>(right - 1);
        first[i + (3 * length)] = right;
    }
    return block;
}

class VectorRescale final : public Step {
  public:
    struct Constants {
        RescaleTypes types = RescaleTypes::int8_to_int8;
        RescaleEnds ends;
        Block factors;
        std::uint32_t input_bytes = 0;  // of an element
        std::uint32_t output_bytes = 0;
    };

    VectorRescale(const RescaleShape& shape, Constants constants)
        : shape_(shape),
          constants_(std::move(constants)),
          factors_(factors_in(constants_.factors, static_cast<std::int64_t>(shape.channels))) {
        factors_.rounds_twice = shape.rounds_twice;
    }

    [[nodiscard]] std::uint32_t parts() const override { return shape_.parts; }

    [[nodiscard]] std::uint64_t resident_bytes() const override {
        return constants_.factors.size();
    }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const Range range = range_of(shape_.elements, shape_.parts, part);
        compute_rescale(constants_.types, factors_, constants_.ends,
                        {.input = frame.at<const std::byte>(shape_.values.input) +
                                  (range.first * constants_.input_bytes),
                         .output = frame.at<std::byte>(shape_.values.output) +
                                   (range.first * constants_.output_bytes),
                         .count = static_cast<std::int64_t>(range.size()),
                         .channel = static_cast<std::int64_t>(range.first % shape_.channels)});
        return true;
    }

  private:
    RescaleShape shape_;
    Constants constants_;
    RescaleFactors factors_;
};

// Whether vectors can do with all of the factors. `rounds_twice` becomes false if they would come
// to the same.
bool suits_vectors(std::span<const std::int8_t> shifts, bool is_narrow, bool& rounds_twice) {
    const auto [least, most] = std::ranges::minmax(shifts);
    if (least < shift_wanted - (is_narrow ? left_max : 0)) {
        return false;
    }
    rounds_twice = rounds_twice && most > shift_once_max;
    return !rounds_twice || least >= shift_wanted;
}

// A zero point of INT8 or INT32.
std::int32_t known_zero(const Lowering& lowering, tosa::TensorIndex tensor) {
    return lowering.tensor(tensor).dtype == DType::int8 ? lowering.known<std::int8_t>(tensor)[0]
                                                        : lowering.known<std::int32_t>(tensor)[0];
}

Scales scales_of(const Lowering& lowering, const tosa::Operator& op) {
    Scales scales{.wide_multipliers = {},
                  .multipliers = {},
                  .shifts = lowering.known<std::int8_t>(op.inputs[2])};
    if (op.as<tosa::RescaleAttribute>().scale32) {
        scales.wide_multipliers = lowering.known<std::int32_t>(op.inputs[1]);
    } else {
        scales.multipliers = lowering.known<std::int16_t>(op.inputs[1]);
    }
    return scales;
}

}  // namespace

std::unique_ptr<Step> vector_rescale(const Lowering& lowering, const tosa::Operator& op,
                                     const RescaleShape& shape) {
    const auto& attribute = op.as<tosa::RescaleAttribute>();
    const DType input = lowering.tensor(op.inputs[0]).dtype;
    const DType output = lowering.tensor(op.outputs[0]).dtype;
    const auto* const row = std::ranges::find_if(
        types, [&](const Types& one) { return one.input == input && one.output == output; });
    const bool is_known = std::ranges::all_of(
        op.inputs.subspan(1), [&](tosa::TensorIndex tensor) { return lowering.is_known(tensor); });
    if (row == std::end(types) || !is_known || attribute.input_unsigned ||
        attribute.output_unsigned) {
        return nullptr;
    }
    const Scales scales = scales_of(lowering, op);
    RescaleShape reduced = shape;
    if (!suits_vectors(scales.shifts, input == DType::int8, reduced.rounds_twice)) {
        return nullptr;
    }
    const bool is_narrow = output == DType::int8;
    VectorRescale::Constants constants{
        .types = row->vectors,
        .ends = {.input_zero = known_zero(lowering, op.inputs[3]),
                 .output_zero = known_zero(lowering, op.inputs[4]),
                 .low = is_narrow ? std::numeric_limits<std::int8_t>::min()
                                  : std::numeric_limits<std::int32_t>::min(),
                 .high = is_narrow ? std::numeric_limits<std::int8_t>::max()
                                   : std::numeric_limits<std::int32_t>::max()},
        .factors = pack(lowering.memory(), scales),
        .input_bytes = input == DType::int8 ? 1U : 4U,
        .output_bytes = is_narrow ? 1U : 4U};
    return std::make_unique<VectorRescale>(reduced, std::move(constants));
}

}  // namespace virtaccel::backends::cpu::ops
