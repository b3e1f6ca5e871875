#pragma once
// Backends that are wrong in one way each: what twins are made of, and which cases see through
// them. A twin computes with the oracle, but sees other operands, or spoils what came out.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/run_case.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/numerics/testing/oracle_backend.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics::testing {

using Inputs = std::vector<Tensor>;
using Before = void (*)(tosa::Operator& op, Inputs& inputs);
using After = void (*)(const Step& step, Tensor& output);

struct Twin {
    const char* name;
    tosa::Op op;
    Before before;
    After after;
    std::array<const char*, 8> caught_by{};
};

// The values of a tensor in another order: `from(position)` is where each comes from.
template <class From>
inline void reorder(Tensor& tensor, From from) {
    const Tensor old = tensor;
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
        tensor.values[i] = old.values[from(position_of(old.shape, i), old)];
    }
}

template <class Function>
inline void each_value(Tensor& tensor, Function function) {
    std::ranges::transform(tensor.values, tensor.values.begin(), function);
}

// An image of N, H, W, C inside a larger one full of `value`.
inline Tensor padded(const Tensor& image, const std::array<std::int32_t, 4>& pad, double value) {
    Tensor result{.dtype = image.dtype,
                  .shape = {image.shape[0], image.shape[1] + pad[0] + pad[1],
                            image.shape[2] + pad[2] + pad[3], image.shape[3]},
                  .values = {},
                  .magnitudes = {}};
    fill(result, [&](const Position& at) {
        const std::int64_t y = at[1] - pad[0];
        const std::int64_t x = at[2] - pad[2];
        const bool is_inside = y >= 0 && y < image.dim(1) && x >= 0 && x < image.dim(2);
        return is_inside ? image.at({at[0], y, x, at[3]}) : value;
    });
    return result;
}

template <class Attribute>
Attribute& attribute_of(tosa::Operator& op) {
    return std::get<Attribute>(op.attribute);
}

template <class Attribute, int value>
inline void pad_with(tosa::Operator& op, Inputs& inputs) {
    auto& attribute = attribute_of<Attribute>(op);
    inputs[0] = padded(inputs[0], attribute.pad, value);
    attribute.pad = {};
}

template <class Attribute, tosa::NanMode mode>
inline void set_nan_mode(tosa::Operator& op, Inputs& /*inputs*/) {
    attribute_of<Attribute>(op).nan_mode = mode;
}

template <std::size_t input>
inline void zero_input(tosa::Operator& /*op*/, Inputs& inputs) {
    each_value(inputs[input], [](double) { return 0.0; });
}

// The lowest bit of an integer, or of an exponent, of the first result that is not 0.
inline void flip_a_bit(const Step& /*step*/, Tensor& output) {
    const auto format = float_format(output.dtype);
    auto value =
        std::ranges::find_if(output.values, [](double x) { return x != 0 && std::isfinite(x); });
    if (value == output.values.end()) {
        return;
    }
    if (format) {
        const std::uint32_t bit = 1U << static_cast<unsigned>(format->fraction_bits);
        *value = decode(*format, encode(*format, *value) ^ bit);
    } else {
        *value = static_cast<double>(static_cast<std::int64_t>(*value) ^ 1);
    }
}

// Towards zero instead of to nearest.
inline void cut_off(const Step& /*step*/, Tensor& output) {
    const auto format = float_format(output.dtype);
    each_value(output, [&](double value) {
        if (!format || !std::isfinite(value)) {
            return std::trunc(value);
        }
        const double step = ulp(*format, value);
        return std::abs(value) > largest(*format) ? value : std::trunc(value / step) * step;
    });
}

// Of the cases that are said to catch a twin, those that fail on it.
inline std::set<std::string> failures_of(const Twin& twin) {
    Interference interference;
    if (twin.before != nullptr) {
        interference.before = [&](tosa::Operator& op, Inputs& inputs) {
            if (op.op == twin.op) {
                twin.before(op, inputs);
            }
        };
    }
    if (twin.after != nullptr) {
        interference.after = [&](const Step& step, Tensor& output) {
            if (step.op.op == twin.op) {
                twin.after(step, output);
            }
        };
    }
    auto make = [&]() -> Result<backend::AnyBackend> {
        return backend::make_owned<OracleBackend>(host::heap(), host::heap(), interference);
    };
    conformance::BackendSubject subject;
    subject.memory = host::heap();
    subject.factory = backend::factory_from(make);
    std::set<std::string> failures;
    for (const Case& row : cases()) {
        const bool is_named = std::ranges::any_of(
            twin.caught_by, [&](const char* name) { return name != nullptr && row.name == name; });
        if (is_named && run_case(subject, row).outcome == conformance::Outcome::failed) {
            failures.insert(row.name);
        }
    }
    return failures;
}

inline void expect_caught(std::span<const Twin> twins) {
    for (const Twin& twin : twins) {
        const auto failures = failures_of(twin);
        for (const char* const name : twin.caught_by) {
            EXPECT_TRUE(name == nullptr || failures.contains(name)) << twin.name << ": " << name;
        }
    }
}

}  // namespace virtaccel::numerics::testing
