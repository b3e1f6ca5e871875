#pragma once
// How near a backend's result has to be to the true one: one row for each operator, which
// docs/numerics.md publishes. The one thing to know: integers, and numbers that are only moved or
// chosen, are exact; only what is computed in floating point has room, and TOSA 1.0 says how much.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

enum class Rule : std::uint8_t {
    // The same bits, but that any NaN is as good as another.
    bits,
    // The true value rounded to the type; zeros of either sign are the same.
    exact,
    // So many ULPs of the true value. A result below the smallest normal number may be zero.
    ulps,
    // So many ULPs of a magnitude that the oracle says (Tensor::magnitudes), for each of its terms:
    // for a sum of products, the sum of the products' magnitudes.
    ulps_of_magnitude,
    // So many ULPs of the true value, or a share of the largest input (Tensor::magnitudes).
    ulps_or_share,
};

// What is asked of an operator's floating-point output. A number of ULPs for each type that has
// one; 0 where `rule` needs none.
struct AccuracyRow {
    tosa::Op op = tosa::Op::unknown;
    Rule rule = Rule::exact;
    double ulps = 0;
    double bf16_ulps = 0;
    std::string_view source;
};

[[nodiscard]] std::span<const AccuracyRow> accuracy_rows();

// What is asked of one output.
struct Accuracy {
    Rule rule = Rule::exact;
    double ulps = 0;
};

// What is asked of the output of `op` in a type; exact for an integer, and for an operator without
// a row.
[[nodiscard]] Accuracy accuracy_of(tosa::Op op, tosa::DType output);

// The bound in words: "0.5 ULP", "exact".
[[nodiscard]] std::string words_of(const Accuracy& accuracy);

// An output as it should be. `flushed` is the same where the inputs' numbers below the smallest
// normal one were taken for zeros, which TOSA allows; what is only moved keeps them.
struct Expectation {
    Tensor kept;
    Tensor flushed;
};

// How a result compares with what it should be.
struct Comparison {
    bool is_right = true;
    // The greatest error, in the ULPs that the rule counts; of a sum of products, in ULPs of the
    // magnitude, without regard to the number of terms. Infinite if what should be finite is not,
    // or the other way round.
    double ulps = 0;
    // Empty if it is right; else which element is farthest off, and both numbers.
    std::string reason;
};

// `got` has the bytes of a tensor like the expected one.
[[nodiscard]] Comparison compare(const Expectation& expectation, std::span<const std::byte> got,
                                 const Accuracy& accuracy);

}  // namespace virtaccel::numerics
