#pragma once
// Small models for tests, and what is said about a spoilt one.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::tosa::testing {

// y = (x + c) + x, over FP32 of shape {1, 4}. Operators: CONST, ADD, ADD. Tensors: x, c, sum, y.
inline Builder two_additions() {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 4});
    const Value c = builder.constant({1, 4}, {1, 2, 3, 4});
    const Value sum = builder.add(x, c);
    builder.output(builder.add(sum, x), "y");
    return builder;
}

// A convolutional network with one of each operator that a detector has: CONST, CONST_SHAPE, CAST,
// CONV2D, DEPTHWISE_CONV2D, RESHAPE, CLAMP, ADD, PAD, MAX_POOL2D, CONCAT.
inline Builder small_network() {
    Builder builder;
    const Value x = builder.input("image", DType::fp32, {1, 8, 8, 3});
    const Value weight = builder.cast(builder.zeros(DType::fp16, {4, 3, 3, 3}), DType::fp32);
    const Conv2dAttribute window = {.pad = {1, 1, 1, 1},
                                    .stride = {1, 1},
                                    .dilation = {1, 1},
                                    .local_bound = false,
                                    .accumulator = DType::fp32};
    const Value bias = builder.zeros(DType::fp32, {4});
    const Value first = builder.clamp(builder.conv2d(x, weight, bias, window), 0, 6);
    const Value depth = builder.reshape(builder.zeros(DType::fp32, {1, 3, 3, 4}),
                                        std::vector<std::int64_t>{3, 3, 4, 1});
    const Value second = builder.add(builder.depthwise_conv2d(first, depth, bias, window), first);
    const Value pooled = builder.max_pool2d(second, {.kernel = {2, 2},
                                                     .stride = {2, 2},
                                                     .pad = {},
                                                     .accumulator = DType::unknown,
                                                     .nan_mode = NanMode::propagate});
    const Value padded = builder.pad(pooled, {0, 0, 0, 0, 0, 0, 0, 2});
    const Value flat = builder.reshape(padded, {1, 16, 6});
    builder.output(builder.concat({flat, flat}, 1), "boxes");
    builder.output(pooled, "features");
    return builder;
}

// Status and sentence of a refusal, or OK and nothing.
struct Verdict {
    Status status = Status::ok;
    std::string sentence;
    std::uint32_t operator_index = nowhere;

    friend std::ostream& operator<<(std::ostream& stream, const Verdict& verdict) {
        return stream << status_name(verdict.status) << ": " << verdict.sentence;
    }

    // Whether the refusal has this status and says this.
    [[nodiscard]] bool says(Status wanted, const std::string& part) const {
        return status == wanted && sentence.find(part) != std::string::npos;
    }
};

template <class T>
Verdict verdict_of(const Checked<T>& checked) {
    if (checked) {
        return {};
    }
    return {.status = checked.error().status,
            .sentence = std::string{checked.error().sentence.view()},
            .operator_index = checked.error().operator_index};
}

inline Verdict verify_verdict(std::span<const std::byte> bytes, const Limits& limits = {}) {
    return verdict_of(verify(bytes, limits));
}

inline Verdict verify_verdict(const FileModel& model, const Limits& limits = {}) {
    return verify_verdict(write_file(model), limits);
}

// What verify() and then validate_for() say.
inline Verdict validate_verdict(const FileModel& model, const Target& target) {
    const std::vector<std::byte> bytes = write_file(model);
    const Checked<Graph> graph = verify(bytes);
    return graph ? verdict_of(validate_for(*graph, target)) : verdict_of(graph);
}

// A target that offers everything.
inline Target generous() {
    Target target;
    target.extensions = extensions_known;
    return target;
}

inline FileBlock& main_of(FileModel& model) {
    return model.regions.front().blocks.front();
}

}  // namespace virtaccel::tosa::testing
