#include "virtaccel/numerics/accuracy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::Op;

constexpr std::string_view moved = "TOSA 1.0: the operator moves elements and computes nothing";
constexpr std::string_view chosen = "TOSA 1.0: the result is one of the inputs";
constexpr std::string_view one_rounding = "TOSA 1.0, precision requirements: 0.5 ULP, BF16 1 ULP";
constexpr std::string_view nearest = "TOSA 1.0, CAST: round to nearest, ties to even";
constexpr std::string_view dot_product =
    "TOSA 1.0, dot product accuracy: magnitude is the sum of all terms' magnitudes";
constexpr std::string_view exponential =
    "TOSA 1.0, precision requirements: magnitude is the result times (1 + abs(x))";
constexpr std::string_view interpolation = "TOSA 1.0, precision requirements: the share is 0.006";

// In the order of the operators' numbers.
constexpr AccuracyRow rows[] = {
    {Op::avg_pool2d, Rule::ulps_of_magnitude, 1, 1, dot_product},
    {Op::conv2d, Rule::ulps_of_magnitude, 1, 1, dot_product},
    {Op::depthwise_conv2d, Rule::ulps_of_magnitude, 1, 1, dot_product},
    {Op::matmul, Rule::ulps_of_magnitude, 1, 1, dot_product},
    {Op::max_pool2d, Rule::exact, 0, 0, chosen},
    {Op::clamp, Rule::exact, 0, 0, chosen},
    {Op::sigmoid, Rule::ulps_of_magnitude, 2, 2, exponential},
    {Op::add, Rule::ulps, 0.5, 1, one_rounding},
    {Op::maximum, Rule::exact, 0, 0, chosen},
    {Op::minimum, Rule::exact, 0, 0, chosen},
    {Op::mul, Rule::ulps, 0.5, 1, one_rounding},
    {Op::sub, Rule::ulps, 0.5, 1, one_rounding},
    {Op::negate, Rule::exact, 0, 0, chosen},
    {Op::select, Rule::bits, 0, 0, moved},
    {Op::reduce_max, Rule::exact, 0, 0, chosen},
    {Op::reduce_min, Rule::exact, 0, 0, chosen},
    {Op::reduce_sum, Rule::ulps_of_magnitude, 1, 1, dot_product},
    {Op::concat, Rule::bits, 0, 0, moved},
    {Op::pad, Rule::bits, 0, 0, moved},
    {Op::reshape, Rule::bits, 0, 0, moved},
    {Op::reverse, Rule::bits, 0, 0, moved},
    {Op::transpose, Rule::bits, 0, 0, moved},
    {Op::gather, Rule::bits, 0, 0, moved},
    {Op::scatter, Rule::bits, 0, 0, moved},
    {Op::resize, Rule::ulps_or_share, 20, 20, interpolation},
    {Op::cast, Rule::exact, 0, 0, nearest},
    {Op::identity, Rule::bits, 0, 0, moved},
};

constexpr double share_of_largest = 0.006;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::string text_of(double number) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
    return {buffer.data(), end};
}

// One element's error: how large it is in ULPs, and whether it may be that large.
struct Error {
    double ulps = 0;
    bool is_allowed = true;
};

constexpr Error hopeless = {.ulps = infinity, .is_allowed = false};

// An element under judgement.
struct Element {
    double wanted = 0;
    double got = 0;
    double magnitude = 0;  // of Tensor::magnitudes, or nothing
    double terms = 1;
};

// Numbers below the smallest normal one are supported or zero, but those of FP8 are supported.
bool may_flush(const FloatFormat& format, double least) {
    return format.bits() > 8 && std::abs(least) < smallest_normal(format);
}

// Whether `got` is `wanted` after rounding, where only that counts. NaNs are alike.
Error judge_exact(const FloatFormat& format, const Element& element, bool signs_matter) {
    const double wanted = rounded(format, element.wanted);
    if (std::isnan(wanted) || std::isnan(element.got)) {
        return std::isnan(wanted) && std::isnan(element.got) ? Error{} : hopeless;
    }
    if (wanted == element.got) {
        const bool is_same = !signs_matter || std::signbit(wanted) == std::signbit(element.got);
        return {.ulps = 0, .is_allowed = is_same};
    }
    if (std::isinf(wanted) || std::isinf(element.got)) {
        return hopeless;
    }
    const bool is_flushed = !signs_matter && may_flush(format, wanted) && element.got == 0;
    return {.ulps = std::abs(element.got - wanted) / ulp(format, wanted), .is_allowed = is_flushed};
}

// Whether `got` lies within `allowed` of a finite `wanted`. Past the largest number lies infinity,
// or NaN where there is none.
Error judge_distance(const FloatFormat& format, const Element& element, double allowed,
                     double unit) {
    const double most = std::abs(element.wanted) + allowed;
    const double least = std::abs(element.wanted) - allowed;
    if (most > largest(format) && (std::isinf(element.got) || std::isnan(element.got))) {
        const bool is_there = format.has_infinity
                                  ? element.got == std::copysign(infinity, element.wanted)
                                  : std::isnan(element.got);
        return is_there ? Error{} : hopeless;
    }
    if (std::isnan(element.got) || std::isinf(element.got)) {
        return hopeless;
    }
    const double distance = std::abs(element.got - element.wanted);
    const bool is_flushed = (least <= 0 || may_flush(format, least)) && element.got == 0;
    return {.ulps = distance / unit,
            .is_allowed = distance <= allowed || (format.bits() > 8 && is_flushed)};
}

Error judge_float(const FloatFormat& format, const Element& element, const Accuracy& accuracy) {
    if (accuracy.rule == Rule::bits || accuracy.rule == Rule::exact ||
        !std::isfinite(element.wanted)) {
        return judge_exact(format, element, accuracy.rule == Rule::bits);
    }
    const double own_ulp = ulp(format, element.wanted);
    switch (accuracy.rule) {
        case Rule::ulps_of_magnitude: {
            if (element.magnitude == 0) {
                return judge_exact(format, element, false);
            }
            const double unit = std::max(std::ldexp(element.magnitude, -format.fraction_bits),
                                         smallest_normal(format));
            const double allowed = accuracy.ulps * element.terms * unit;
            // Past the largest number on the way there, nothing is said of the result.
            return element.magnitude + allowed > largest(format)
                       ? Error{}
                       : judge_distance(format, element, allowed, unit);
        }
        case Rule::ulps_or_share:
            return judge_distance(
                format, element,
                std::max(accuracy.ulps * own_ulp, share_of_largest * element.magnitude), own_ulp);
        default:
            return judge_distance(format, element, accuracy.ulps * own_ulp, own_ulp);
    }
}

Error judge_integer(const Element& element) {
    const double distance = std::abs(element.got - element.wanted);
    return {.ulps = distance, .is_allowed = distance == 0};
}

Error judge(const Tensor& expected, std::size_t i, double got, const Accuracy& accuracy) {
    const Element element{.wanted = expected.values[i],
                          .got = got,
                          .magnitude = expected.magnitudes.empty() ? 0 : expected.magnitudes[i],
                          .terms = expected.terms};
    const auto format = float_format(expected.dtype);
    return format ? judge_float(*format, element, accuracy) : judge_integer(element);
}

std::string reason_for(const Tensor& expected, std::size_t index, double got, const Error& error) {
    std::string place;
    const Position position = position_of(expected.shape, index);
    for (std::size_t axis = 0; axis < expected.shape.size(); ++axis) {
        place += (axis == 0 ? "" : ", ") + std::to_string(position[axis]);
    }
    const auto format = float_format(expected.dtype);
    const double wanted =
        format ? rounded(*format, expected.values[index]) : expected.values[index];
    return "The element (" + place + ") is (" + text_of(got) + ") and should be (" +
           text_of(wanted) + "), which is off by (" + text_of(error.ulps) +
           (format ? " ULP)" : ")");
}

}  // namespace

std::span<const AccuracyRow> accuracy_rows() {
    return rows;
}

Accuracy accuracy_of(tosa::Op op, tosa::DType output) {
    const auto* const row = std::ranges::find(rows, op, &AccuracyRow::op);
    if (row == std::end(rows) || !float_format(output)) {
        return {};
    }
    return {.rule = row->rule, .ulps = output == tosa::DType::bf16 ? row->bf16_ulps : row->ulps};
}

std::string words_of(const Accuracy& accuracy) {
    switch (accuracy.rule) {
        case Rule::bits:
            return "the same bits";
        case Rule::exact:
            return "exact";
        case Rule::ulps:
            return text_of(accuracy.ulps) + " ULP";
        case Rule::ulps_of_magnitude:
            return text_of(accuracy.ulps) + " ULP of the magnitude for each term";
        case Rule::ulps_or_share:
            break;
    }
    return text_of(accuracy.ulps) + " ULP, or a share of the largest input";
}

Comparison compare(const Expectation& expectation, std::span<const std::byte> got,
                   const Accuracy& accuracy) {
    const Tensor& expected = expectation.kept;
    const Tensor found = unpack(expected.dtype, expected.shape, got);
    Comparison comparison;
    double worst = 0;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        Error error = judge(expected, i, found.values[i], accuracy);
        if (!error.is_allowed && accuracy.rule != Rule::bits) {
            const Error other = judge(expectation.flushed, i, found.values[i], accuracy);
            error = other.is_allowed ? other : error;
        }
        comparison.ulps = std::max(comparison.ulps, error.ulps);
        if (!error.is_allowed && (comparison.is_right || error.ulps > worst)) {
            worst = error.ulps;
            comparison.is_right = false;
            comparison.reason = reason_for(expected, i, found.values[i], error);
        }
    }
    if (!comparison.is_right) {
        comparison.reason += "; allowed is (" + words_of(accuracy) + ").";
    }
    return comparison;
}

}  // namespace virtaccel::numerics
