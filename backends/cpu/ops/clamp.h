#pragma once
// CLAMP's attribute for FP32, for its own step and for those that clamp what they write.

#include <limits>

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu::ops {

// A NaN stays one, or becomes `low` if it is to be ignored.
struct Clamp {
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
    bool ignores_nan = false;

    [[nodiscard]] float operator()(float x) const {
        float above = x < low ? low : x;
        if (ignores_nan) {
            above = x >= low ? x : low;
        }
        return above > high ? high : above;
    }
};

[[nodiscard]] Clamp clamp_of(const tosa::Operator& op);

}  // namespace virtaccel::backends::cpu::ops
