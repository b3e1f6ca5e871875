// Steps of real operators, their parts on several threads at the same time. Elsewhere tests run the
// parts one after the other, where ThreadSanitizer has nothing to see.
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/executor.h"
#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/typed.h"
#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/event_pool.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

namespace {

using testing::encoded;
using testing::whole_numbers;
using tosa::Builder;
using tosa::DType;
using tosa::Op;
using tosa::Value;

constexpr std::int32_t side = 48;
constexpr std::int32_t channels = 32;

// Whole numbers so small that the order of sums does not matter.
Value constant(Builder& builder, DType dtype, const std::vector<std::int32_t>& shape) {
    const auto count = tosa::element_count(shape).value();
    return builder.constant(dtype, shape, encoded(dtype, whole_numbers(count, 2, 7)));
}

tosa::Conv2dAttribute convolving(DType accumulator) {
    return {.pad = {1, 1, 1, 1},
            .stride = {1, 1},
            .dilation = {1, 1},
            .local_bound = false,
            .accumulator = accumulator};
}

tosa::PoolAttribute pooling(DType accumulator, tosa::NanMode nan_mode) {
    return {.kernel = {3, 3},
            .stride = {1, 1},
            .pad = {1, 1, 1, 1},
            .accumulator = accumulator,
            .nan_mode = nan_mode};
}

// Every value is an output, so that each operator has a step of its own.
Builder floats() {
    Builder builder;
    const auto x = builder.input("x", DType::fp32, {1, side, side, channels});
    const auto bias = constant(builder, DType::fp32, {channels});
    const auto dense = builder.conv2d(x, constant(builder, DType::fp32, {channels, 3, 3, channels}),
                                      bias, convolving(DType::fp32));
    const auto narrow = builder.cast(x, DType::fp16);
    const Value values[] = {
        dense,
        builder.depthwise_conv2d(x, constant(builder, DType::fp32, {3, 3, channels, 1}), bias,
                                 convolving(DType::fp32)),
        builder.max_pool2d(x, pooling(DType::unknown, tosa::NanMode::propagate)),
        builder.op(Op::avg_pool2d,
                   {narrow, builder.zeros(DType::fp16, {1}), builder.zeros(DType::fp16, {1})},
                   pooling(DType::fp32, tosa::NanMode::unknown)),
        builder.mul(dense, builder.add(dense, x)),
    };
    for (const Value value : values) {
        builder.output(value, std::to_string(value.tensor));
    }
    return builder;
}

Builder bytes() {
    Builder builder;
    const auto x = builder.input("x", DType::int8, {1, side, side, channels});
    const auto bias = constant(builder, DType::int32, {channels});
    const auto dense = builder.conv2d(x, constant(builder, DType::int8, {channels, 3, 3, channels}),
                                      bias, convolving(DType::int32));
    const auto depthwise = builder.depthwise_conv2d(
        x, constant(builder, DType::int8, {3, 3, channels, 1}), bias, convolving(DType::int32));
    const std::int32_t multiplier[] = {1 << 30};
    const std::int8_t shift[] = {35};
    for (const Value sum : {dense, depthwise}) {
        const auto y =
            builder.op(Op::rescale,
                       {sum, builder.constant(DType::int32, {1}, multiplier),
                        builder.constant(DType::int8, {1}, shift), builder.zeros(DType::int32, {1}),
                        builder.zeros(DType::int8, {1})},
                       tosa::RescaleAttribute{.scale32 = true,
                                              .rounding = tosa::RoundingMode::single_round,
                                              .per_channel = false,
                                              .input_unsigned = false,
                                              .output_unsigned = false},
                       {.dtype = DType::int8, .shape = {}});
        builder.output(y, std::to_string(y.tensor));
    }
    builder.output(builder.max_pool2d(x, pooling(DType::unknown, tosa::NanMode::propagate)), "max");
    return builder;
}

// What all slots hold in the end.
std::vector<std::vector<std::byte>> computed(const Builder& builder, DType dtype,
                                             std::uint32_t threads) {
    const auto model = builder.finish().value();
    const auto prepared = testing::prepare(model, testing::target_of(model), {.threads = threads});
    Program& program = *prepared.program;
    for (const auto& step : program.steps) {
        EXPECT_EQ(step->parts() > 1, threads > 1);
    }
    std::vector<std::vector<std::byte>> slots;
    std::vector<BoundRange> ranges;
    for (const ProgramSlot& slot : program.slots) {
        slots.emplace_back(slot.bytes);
    }
    slots[0] = encoded(dtype, whole_numbers(std::size_t{side} * side * channels, 3, 5));
    for (auto& slot : slots) {
        ranges.push_back({slot.data()});
    }
    backend::EventPool<Event> events{host::heap()};
    Executor executor{threads};
    for (int run = 0; run < 3; ++run) {
        Event& event = *events.take();
        event.program = &program;
        event.ranges = ranges.data();
        const backend::EventHandle handle = events.publish(event);
        executor.submit(event, handle.word);
        while (event.cell.status(handle.word)->phase == EventPhase::pending) {
            std::this_thread::yield();
        }
        EXPECT_EQ(event.cell.status(handle.word)->phase, EventPhase::complete);
        static_cast<void>(events.destroy(handle));
    }
    return slots;
}

TEST(PartsInThreads, give_what_one_thread_gives) {
    EXPECT_EQ(computed(floats(), DType::fp32, 3), computed(floats(), DType::fp32, 1));
    EXPECT_EQ(computed(bytes(), DType::int8, 3), computed(bytes(), DType::int8, 1));
}

}  // namespace

}  // namespace virtaccel::backends::cpu
