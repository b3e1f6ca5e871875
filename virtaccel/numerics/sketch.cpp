#include "virtaccel/numerics/sketch.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/base/panic.h"
#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

std::string lower(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(), [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return result;
}

Tensor tensor_of(tosa::DType dtype, const Shape& shape, const Values& values) {
    Tensor tensor{.dtype = dtype, .shape = shape, .values = {}, .magnitudes = {}};
    const std::size_t count = tosa::element_count(shape).value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
        tensor.values.push_back(values[i % values.size()]);
    }
    return rounded(tensor);
}

}  // namespace

std::string lower_name(tosa::DType dtype) {
    return lower(tosa::name_of(dtype));
}

void CaseList::add(const CaseName& name, std::string_view title, const Types& types,
                   std::function<Problem()> make) {
    std::string full = "numerics." + lower(tosa::name_of(name.op)) + ".";
    full.append(name.type).append(".").append(name.what);
    cases_.push_back({.name = std::move(full),
                      .title = std::string{title},
                      .op = name.op,
                      .input = types.input,
                      .output = types.output,
                      .make = std::move(make)});
}

tosa::Value Sketch::input(tosa::DType dtype, const Shape& shape, const Values& values) {
    inputs_.push_back(tensor_of(dtype, shape, values));
    return builder_.input("x" + std::to_string(inputs_.size() - 1), dtype, shape);
}

tosa::Value Sketch::constant(tosa::DType dtype, const Shape& shape, const Values& values) {
    return builder_.constant(dtype, shape, pack(tensor_of(dtype, shape, values)));
}

tosa::Value Sketch::scalar(tosa::DType dtype, double value) {
    return constant(dtype, {1}, {value});
}

tosa::Value Sketch::op(tosa::Op op, tosa::List<tosa::Value> inputs, tosa::DType output,
                       const tosa::Attribute& attribute) {
    return builder_.op(op, inputs, attribute, {.dtype = output, .shape = {}});
}

Problem Sketch::finish(tosa::Value output) {
    builder_.output(output, "y");
    auto model = builder_.finish();
    // Only a bug in a case makes a model that is none.
    VIRTACCEL_CHECK(model.has_value());
    return {.model = *std::move(model), .inputs = std::move(inputs_)};
}

std::uint32_t Numbers::next() {
    constexpr std::uint32_t factor = 1664525;
    constexpr std::uint32_t step = 1013904223;
    state_ = (state_ * factor) + step;
    return state_ >> 8U;
}

Values Numbers::integers(std::size_t count, std::int64_t least, std::int64_t most) {
    Values values(count);
    std::ranges::generate(values, [&] {
        return static_cast<double>(least + (std::int64_t{next()} % (most - least + 1)));
    });
    return values;
}

// A product of two, so that sums of a few of them have more bits than any type.
Values Numbers::reals(std::size_t count) {
    constexpr double half = 8388608;  // of 2^24
    Values values(count);
    std::ranges::generate(values, [&] {
        const double sign_and_size = (next() / half) - 1;
        return sign_and_size * (next() / (2 * half));
    });
    return values;
}

Values edges_of(tosa::DType dtype) {
    const auto format = float_format(dtype);
    if (!format) {
        return calm_edges_of(dtype);
    }
    Values values = calm_edges_of(dtype);
    const double smallest = ulp(*format, 0);
    const double below_normal = smallest_normal(*format) - smallest;
    values.insert(values.end(), {smallest, -smallest, below_normal, -below_normal,
                                 std::numeric_limits<double>::quiet_NaN()});
    return values;
}

Values calm_edges_of(tosa::DType dtype) {
    if (const auto format = float_format(dtype)) {
        const double most = largest(*format);
        const double least = smallest_normal(*format);
        const double next = 1 + ulp(*format, 1);
        Values values{0.0, -0.0, 1, -1, next, -next, least, -least, most, -most};
        if (format->has_infinity) {
            constexpr double infinity = std::numeric_limits<double>::infinity();
            values.insert(values.end(), {infinity, -infinity});
        }
        return values;
    }
    if (dtype == tosa::DType::boolean) {
        return {0, 1};
    }
    const auto [least, most] = range_of(dtype);
    return {0,
            1,
            -1,
            static_cast<double>(least),
            static_cast<double>(most),
            static_cast<double>(least + 1),
            static_cast<double>(most - 1)};
}

Values all_of(tosa::DType dtype) {
    const std::uint32_t width = tosa::bits_of(dtype).value_or(0);
    const std::uint32_t count = 1U << width;
    Bytes bytes;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (width >= 8 || i % 2 == 0) {
            bytes.push_back(static_cast<std::byte>(width < 8 ? i | ((i + 1) << width) : i));
        }
        if (width > 8) {
            bytes.push_back(static_cast<std::byte>(i >> 8U));
        }
    }
    const std::int32_t shape[] = {static_cast<std::int32_t>(count)};
    Values values = unpack(dtype, shape, bytes).values;
    if (!float_format(dtype)) {
        const auto least = static_cast<double>(range_of(dtype).first);
        std::erase_if(values, [least](double value) { return value < least; });
    }
    return values;
}

}  // namespace virtaccel::numerics
