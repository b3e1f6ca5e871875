// What a request only announces must cost nothing. Elsewhere a small request made the host allocate
// what it claimed before any limit was looked at, and many requests at once cost their sum.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/loopback/loopback.h"
#include "backends/cpu/cpu.h"
#include "host/memory.h"
#include "tests/known_faults/machine.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/queue/testing/chains.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::known_faults {
namespace {

using virtaccel::testing::CountingMemory;

constexpr std::uint64_t one_request_bytes = request_bytes_max + response_bytes_max;

// A machine in a counted memory, warm and with a context.
class CountedMachine : public ::testing::Test {
  protected:
    CountedMachine() {
        EXPECT_EQ(machine_.serve(machine_.info_frame()), info_bytes);
        const Frame made = machine_.frame<Opcode::create_context>({}, 24);
        EXPECT_EQ(machine_.serve(made), 24U);
        context_ = machine_.id_in<ContextKind>(made);
    }

    [[nodiscard]] ContextId context() const { return context_; }

    [[nodiscard]] Machine& machine() { return machine_; }

    [[nodiscard]] CountingMemory& heap() { return heap_; }

    [[nodiscard]] wire::AllocateBuffer buffer_of(std::uint64_t bytes) const {
        return buffer_in(context_, bytes);
    }

    // The frame is refused, and nothing was allocated for it, not even for a moment.
    void expect_refused(const Frame& frame, Status why) {
        const auto granted = heap_.granted();
        heap_.forget_peak();
        const auto before = heap_.live_bytes();
        EXPECT_EQ(machine_.serve(frame), sizeof(wire::ResponseHeader));
        EXPECT_EQ(machine_.status_of(frame), why);
        EXPECT_EQ(heap_.granted(), granted);
        EXPECT_EQ(heap_.peak_bytes(), before);
    }

  private:
    CountingMemory heap_{host::heap()};
    Machine machine_{{.queue_size = 512, .chain_descriptors_max = 16, .backend = backend()},
                     heap_.memory()};
    ContextId context_;

    [[nodiscard]] static mock::ReferenceOptions backend() {
        mock::ReferenceOptions options;
        options.identity.limits.buffer_bytes = request_bytes_max;
        return options;
    }
};

TEST_F(CountedMachine, allocates_nothing_for_an_artifact_of_a_tebibyte_in_four_bytes) {
    wire::LoadProgram record;
    record.context_id = context();
    record.format = 1;
    record.payload_bytes = std::uint64_t{1} << 40U;
    record.resident_bytes = 64;
    expect_refused(machine().frame<Opcode::load_program>(record, 24, 4), Status::invalid_argument);
}

TEST_F(CountedMachine, allocates_nothing_for_a_buffer_past_the_limit) {
    for (const std::uint64_t bytes : {std::uint64_t{1} << 62U, std::uint64_t{request_bytes_max} + 1,
                                      std::numeric_limits<std::uint64_t>::max()}) {
        expect_refused(machine().frame<Opcode::allocate_buffer>(buffer_of(bytes), 24),
                       Status::resource_limit);
    }
}

TEST_F(CountedMachine, allocates_nothing_to_read_more_than_a_response_holds) {
    const Frame allocated = machine().frame<Opcode::allocate_buffer>(buffer_of(64), 24);
    ASSERT_EQ(machine().serve(allocated), 24U);
    const auto id = machine().id_in<BufferKind>(allocated);
    for (const std::uint64_t bytes :
         {std::uint64_t{1} << 32U, std::uint64_t{response_bytes_max} - 15}) {
        expect_refused(machine().frame<Opcode::read_buffer>({id, 0U, bytes}, 16),
                       Status::resource_limit);
    }
}

// 256 requests of the largest size wait at once; what they cost is one of them.
TEST_F(CountedMachine, costs_for_many_outstanding_requests_what_one_costs) {
    const Frame allocated =
        machine().frame<Opcode::allocate_buffer>(buffer_of(request_bytes_max), 24);
    ASSERT_EQ(machine().serve(allocated), 24U);
    constexpr std::uint32_t data_bytes = request_bytes_max - 16 - sizeof(wire::WriteBuffer);
    const Frame write = machine().frame<Opcode::write_buffer>(
        {machine().id_in<BufferKind>(allocated), 0U, data_bytes}, 16, data_bytes);
    ASSERT_EQ(write.request.bytes, request_bytes_max);
    for (std::uint16_t i = 0; i < 256; ++i) {
        machine().rig.offer(static_cast<std::uint16_t>(2 * i), queue::testing::whole(write));
    }
    heap().forget_peak();
    const auto before = heap().live_bytes();
    ASSERT_TRUE(machine().look());
    EXPECT_LE(heap().peak_bytes(), before + one_request_bytes);
    std::uint32_t answered = 0;
    while (const auto used = machine().rig.driver.next_used()) {
        answered += used->bytes == 16 ? 1 : 0;
    }
    EXPECT_EQ(answered, 256U);
}

// The whole stack over the CPU backend, whose memory is counted too.
class CountedStack : public ::testing::Test {
  protected:
    static constexpr std::uint32_t frame_bytes = 1U << 20U;
    static constexpr std::uint64_t ample_bytes = 16U << 20U;

    CountedStack() {
        adapters::loopback::Options options;
        options.queue_size = 16;
        options.device = device_options(16);
        options.device.config.request_bytes_max = frame_bytes;
        options.device.policy = {.buffer_bytes_max = 1U << 30U,
                                 .program_resident_bytes_max = 1U << 30U};
        auto loopback = adapters::loopback::Loopback::make(heap_.memory(),
                                                           backend::factory_from(maker_), options);
        EXPECT_TRUE(loopback.has_value());
        loopback_.emplace(*std::move(loopback));
        auto session = guest::Session::open(loopback_->transport(), heap_.memory());
        EXPECT_TRUE(session.has_value());
        session_.emplace(*std::move(session));
        auto context = session_->create_context();
        EXPECT_TRUE(context.has_value());
        context_ = *std::move(context);
    }

    [[nodiscard]] guest::Outcome<guest::Program> load(const std::vector<std::byte>& model,
                                                      std::uint64_t resident_bytes) {
        return context_.load({.format = tosa::artifact_format,
                              .target = tosa::encode_target(tosa::Target{}),
                              .artifact = model,
                              .resident_bytes = resident_bytes});
    }

    // What the device keeps for `model`, which is loaded with room to spare.
    [[nodiscard]] std::uint64_t resident_bytes_of(const std::vector<std::byte>& model) {
        const auto program = load(model, ample_bytes);
        EXPECT_TRUE(program.has_value());
        return loopback_->endpoint().device().holdings().program_bytes;
    }

    // A load of `model` with so many resident bytes is refused with RESOURCE_LIMIT, and at no time
    // takes more than some copies of the model.
    void expect_refused(const std::vector<std::byte>& model,
                        std::uint64_t resident_bytes = ample_bytes) {
        heap_.forget_peak();
        const auto cold = heap_.live_bytes();
        std::uint64_t warm = 0;
        for (int i = 0; i < 2; ++i) {
            const auto program = load(model, resident_bytes);
            ASSERT_FALSE(program.has_value());
            EXPECT_EQ(program.error().status, Status::resource_limit);
            EXPECT_TRUE(i == 0 || heap_.live_bytes() == warm);
            warm = heap_.live_bytes();
        }
        EXPECT_LE(heap_.peak_bytes(), cold + frame_bytes);
        EXPECT_EQ(loopback_->endpoint().device().holdings().program_bytes, 0U);
    }

  private:
    struct Maker {
        Memory memory;

        Result<backend::AnyBackend> operator()() const { return backends::cpu::make(memory); }
    };

    CountingMemory heap_{host::heap()};
    Maker maker_{heap_.memory()};
    std::optional<adapters::loopback::Loopback> loopback_;
    std::optional<guest::Session> session_;
    guest::Context context_;
};

TEST_F(CountedStack, allocates_nothing_for_an_output_of_half_a_tebi_element) {
    tosa::Builder builder;
    const auto x = builder.input("x", tosa::DType::fp32, {8192, 1, 1});
    const auto y = builder.input("y", tosa::DType::fp32, {1, 8192, 1});
    const auto z = builder.input("z", tosa::DType::fp32, {1, 1, 8192});
    builder.output(builder.add(builder.add(x, y), z), "sum");
    const auto model = tosa::write_file(builder.file());
    ASSERT_LE(model.size(), 2048U);
    expect_refused(model);
}

// 256 MiB between two operators, and 256 MiB that follow from constants.
TEST_F(CountedStack, allocates_nothing_for_more_resident_bytes_than_were_declared) {
    for (const bool are_constants : {false, true}) {
        tosa::Builder builder;
        const auto a = are_constants ? builder.zeros(tosa::DType::fp32, {8192, 1})
                                     : builder.input("a", tosa::DType::fp32, {8192, 1});
        const auto b = are_constants ? builder.zeros(tosa::DType::fp32, {1, 8192})
                                     : builder.input("b", tosa::DType::fp32, {1, 8192});
        const auto sum = builder.add(a, b);
        builder.output(builder.op(tosa::Op::reduce_sum, {sum}, tosa::AxisAttribute{.axis = 1}),
                       "y");
        const auto model = builder.finish();
        ASSERT_TRUE(model.has_value()) << model.error().sentence.view();
        expect_refused(*model);
    }
}

// A convolution of constants is computed at load, in scratch that is many times its result.
TEST_F(CountedStack, allocates_no_scratch_past_the_resident_bytes) {
    tosa::Builder builder;
    const auto x = builder.zeros(tosa::DType::fp32, {1, 4, 4, 1024});
    const auto weight = builder.zeros(tosa::DType::fp32, {1, 3, 3, 1024});
    builder.output(builder.conv2d(x, weight, builder.zeros(tosa::DType::fp32, {1}),
                                  {.pad = {1, 1, 1, 1},
                                   .stride = {1, 1},
                                   .dilation = {1, 1},
                                   .local_bound = false,
                                   .accumulator = tosa::DType::fp32}),
                   "y");
    const auto model = builder.finish();
    ASSERT_TRUE(model.has_value()) << model.error().sentence.view();
    const auto kept = resident_bytes_of(*model);
    ASSERT_LT(kept, 16U << 10U);
    expect_refused(*model, kept);
}

}  // namespace
}  // namespace virtaccel::known_faults
