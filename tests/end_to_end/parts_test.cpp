// Models larger than a frame, through the whole stack: what comes out, and what the device's side
// of it takes of its memory.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/loopback/loopback.h"
#include "backends/cpu/cpu.h"
#include "host/memory.h"
#include "tests/end_to_end/stack.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::end_to_end {
namespace {

using virtaccel::testing::CountingMemory;

constexpr std::uint32_t small_frame_bytes = 4096;
constexpr std::int32_t inner = 8;

// y = x * w, where w has `columns` columns of eight constants.
std::vector<std::byte> product_model(std::int32_t columns, tosa::DType dtype) {
    tosa::Builder builder;
    const auto x = builder.input("x", tosa::DType::fp32, {1, 1, inner});
    tosa::Value weight;
    if (dtype == tosa::DType::fp32) {
        std::vector<float> values(static_cast<std::size_t>(inner) *
                                  static_cast<std::size_t>(columns));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(i % 97) / 8;
        }
        weight = builder.constant(dtype, {1, inner, columns}, values);
    } else {
        weight = builder.cast(builder.zeros(dtype, {1, inner, columns}), tosa::DType::fp32);
    }
    builder.output(builder.matmul(x, weight), "y");
    auto model = builder.finish();
    EXPECT_TRUE(model.has_value());
    return *std::move(model);
}

// A chain of convolutions, whose weights are FP16 in the model and packed FP32 in the program.
std::vector<std::byte> converted_model(int layers) {
    constexpr std::int32_t channels = 512;
    tosa::Builder builder;
    auto y = builder.input("x", tosa::DType::fp32, {1, 2, 2, channels});
    const auto bias = builder.zeros(tosa::DType::fp32, {channels});
    for (int i = 0; i < layers; ++i) {
        const auto weight = builder.cast(
            builder.zeros(tosa::DType::fp16, {channels, 1, 1, channels}), tosa::DType::fp32);
        y = builder.conv2d(y, weight, bias,
                           {.pad = {0, 0, 0, 0},
                            .stride = {1, 1},
                            .dilation = {1, 1},
                            .local_bound = false,
                            .accumulator = tosa::DType::fp32});
    }
    builder.output(y, "y");
    auto model = builder.finish();
    EXPECT_TRUE(model.has_value());
    return *std::move(model);
}

guest::ProgramSpec spec_of(std::span<const std::byte> model) {
    return {.format = tosa::artifact_format,
            .target = tosa::encode_target(tosa::Target{}),
            .artifact = model,
            .resident_bytes = 0};
}

// A device over the CPU backend, all of whose memory is counted, and a guest beside it.
class PartedModel : public ::testing::Test {
  protected:
    void open(std::uint32_t frame_bytes) {
        close();
        auto options = loopback_options();
        options.device.config.request_bytes_max = frame_bytes;
        auto made = adapters::loopback::Loopback::make(device_heap.memory(),
                                                       backend::factory_from(maker_), options);
        ASSERT_TRUE(made.has_value());
        loopback.emplace(*std::move(made));
        auto session = guest::Session::open(loopback->transport(), host::heap());
        ASSERT_TRUE(session.has_value()) << words(session.error());
        session_.emplace(*std::move(session));
        auto context_made = session_->create_context();
        ASSERT_TRUE(context_made.has_value());
        context = *std::move(context_made);
    }

    void close() {
        context = {};
        session_.reset();
        loopback.reset();
    }

    ~PartedModel() override {
        close();
        EXPECT_EQ(device_heap.live_blocks(), 0U);
    }

    // The bytes of y for x = (1, 2, ..., 8).
    std::vector<std::byte> run(const guest::Program& program, std::int32_t columns) {
        std::vector<float> x(inner);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = static_cast<float>(i + 1);
        }
        std::vector<std::byte> y(static_cast<std::size_t>(columns) * sizeof(float));
        auto input = context.allocate(
            {.bytes = x.size() * sizeof(float), .usage = usage_transfer | UsageBit::program_input});
        auto output = context.allocate(
            {.bytes = y.size(), .usage = usage_transfer | UsageBit::program_output});
        auto queue = context.create_queue();
        EXPECT_TRUE(input && output && queue);
        EXPECT_TRUE(input->write(0, std::as_bytes(std::span{x})).has_value());
        const auto done = queue->run(program, {guest::bind(0, *input, Access::read),
                                               guest::bind(1, *output, Access::write)});
        EXPECT_TRUE(done.has_value());
        EXPECT_TRUE(output->read(0, y).has_value());
        return y;
    }

    [[nodiscard]] std::uint64_t program_bytes() {
        return loopback->endpoint().device().holdings().program_bytes;
    }

    // A load of `model` takes the model once, with a fifth to spare, and what the program keeps.
    void expect_model_once(std::span<const std::byte> model) {
        device_heap.forget_peak();
        const auto before = device_heap.live_bytes();
        const auto program = context.load(spec_of(model));
        ASSERT_TRUE(program.has_value()) << words(program.error());
        const auto kept = program_bytes();
        EXPECT_LE(device_heap.peak_bytes() - before, (model.size() * 6 / 5) + kept);
        // When the parts are gone, what is left is the program.
        EXPECT_LE(device_heap.live_bytes() - before, kept + (model.size() / 100) + 65536);
    }

    CountingMemory device_heap{host::heap()};
    std::optional<adapters::loopback::Loopback> loopback;
    guest::Context context;

  private:
    struct Maker {
        Memory memory;

        Result<backend::AnyBackend> operator()() const { return backends::cpu::make(memory); }
    };

    Maker maker_{device_heap.memory()};
    std::optional<guest::Session> session_;
};

TEST_F(PartedModel, computes_what_it_computes_in_one_piece) {
    constexpr std::int32_t columns = 1000;
    const auto model = product_model(columns, tosa::DType::fp32);
    ASSERT_GT(model.size(), 5 * small_frame_bytes);
    open(1U << 20U);
    auto whole = context.load(spec_of(model));
    ASSERT_TRUE(whole.has_value()) << words(whole.error());
    const auto wanted = run(*whole, columns);
    whole = guest::Program{};  // before its device goes
    float first = 0;
    std::memcpy(&first, wanted.data(), sizeof first);
    EXPECT_NE(first, 0.0F);
    open(small_frame_bytes);
    const auto parted = context.load(spec_of(model));
    ASSERT_TRUE(parted.has_value()) << words(parted.error());
    EXPECT_EQ(run(*parted, columns), wanted);
    EXPECT_EQ(loopback->endpoint().device().holdings().programs, 1U) << "the parts are gone";
}

TEST_F(PartedModel, of_100_megabytes_takes_its_bytes_once_in_frames_of_16_mebibytes) {
    const auto model = product_model(3'200'000, tosa::DType::fp32);
    ASSERT_GT(model.size(), 100'000'000U);
    open(protocol::frame_bytes_max);
    expect_model_once(model);
}

TEST_F(PartedModel, whose_constants_grow_takes_them_once_too) {
    open(1U << 20U);
    expect_model_once(product_model(1'000'000, tosa::DType::fp16));
}

TEST_F(PartedModel, whose_weights_are_converted_layer_by_layer_takes_them_once_too) {
    open(1U << 20U);
    expect_model_once(converted_model(24));
}

TEST_F(PartedModel, that_is_refused_leaves_nothing) {
    auto model = product_model(1000, tosa::DType::fp32);
    open(small_frame_bytes);
    for (int i = 0; i < 2; ++i) {
        const auto before = device_heap.live_bytes();
        auto spec = spec_of(model);
        if (i == 0) {
            spec.resident_bytes = 1000;
        } else {
            model.at(4) ^= std::byte{1};
        }
        const auto program = context.load(spec);
        ASSERT_FALSE(program.has_value());
        EXPECT_EQ(program.error().status,
                  i == 0 ? Status::resource_limit : Status::invalid_argument);
        EXPECT_EQ(program.error().cause, guest::Cause::answer);
        EXPECT_EQ(program_bytes(), 0U);
        EXPECT_LE(device_heap.live_bytes(), before + 65536);
    }
}

// Every allocation of the device fails once; the guest hears of it, and the next load succeeds.
TEST_F(PartedModel, is_refused_at_any_allocation_of_the_device) {
    const auto model = product_model(400, tosa::DType::fp32);
    ASSERT_GT(model.size(), 3 * small_frame_bytes);
    std::uint64_t n = 0;
    for (bool refused = true; refused; ++n) {
        open(small_frame_bytes);
        device_heap.refuse_after(n);
        const auto program = context.load(spec_of(model));
        device_heap.refuse_nothing();
        refused = !program.has_value();
        if (refused) {
            EXPECT_EQ(program.error().status, Status::out_of_memory) << n;
            EXPECT_EQ(program_bytes(), 0U);
            const auto again = context.load(spec_of(model));
            EXPECT_TRUE(again.has_value()) << n;
        }
    }
    EXPECT_GT(n, 5U);
}

}  // namespace
}  // namespace virtaccel::end_to_end
