// One life of a whole stack, with the Nth allocation refused, for every N. The one thing to know:
// all of the portable core's memory comes from one counted place, and so does the mock's.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/loopback/loopback.h"
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
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/reference_artifact.h"

namespace virtaccel::end_to_end {
namespace {

using virtaccel::testing::CountingMemory;

struct MockMaker {
    Memory memory;

    Result<backend::AnyBackend> operator()() const {
        return backend::make_owned<mock::Reference>(memory, memory, mock::ReferenceOptions{});
    }
};

constexpr std::uint64_t buffer_bytes = 4096;

// What a guest does with a device from the first command to the last.
guest::Outcome<void> live(guest::Session& session) {
    VIRTACCEL_TRY_ASSIGN(auto context, session.create_context());
    const auto artifact = mock::encode({.operation = mock::Operation::copy, .second_slot = 1});
    VIRTACCEL_TRY_ASSIGN(auto program,
                         context.load({.format = mock::reference_format,
                                       .target = mock::reference_target,
                                       .artifact = artifact,
                                       .resident_bytes = mock::reference_resident_bytes}));
    const guest::BufferSpec spec{
        .bytes = buffer_bytes,
        .usage = usage_transfer | UsageBit::program_input | UsageBit::program_output};
    VIRTACCEL_TRY_ASSIGN(auto source, context.allocate(spec));
    VIRTACCEL_TRY_ASSIGN(auto target, context.allocate(spec));
    VIRTACCEL_TRY_ASSIGN(auto queue, context.create_queue());
    std::vector<std::byte> data(buffer_bytes, std::byte{0x42});
    VIRTACCEL_TRY(source.write(0, data));
    VIRTACCEL_TRY(queue.run(
        program, {guest::bind(0, source, Access::read), guest::bind(1, target, Access::write)}));
    VIRTACCEL_TRY(target.read(0, data));
    VIRTACCEL_TRY_ASSIGN(auto event,
                         queue.submit(program, std::array{guest::bind(0, source, Access::read),
                                                          guest::bind(1, target, Access::write)}));
    VIRTACCEL_TRY(event.cancel());
    VIRTACCEL_TRY(event.release());
    return {};
}

// The whole life in `memory`, of which the allocation after `granted` more is refused. True if all
// went well; else it went wrong with OUT_OF_MEMORY, and the next life of the same device is good.
bool survive(CountingMemory& memory, std::uint64_t granted) {
    MockMaker maker{memory.memory()};
    memory.refuse_after(granted);
    auto loopback = adapters::loopback::Loopback::make(
        memory.memory(), backend::factory_from(maker), loopback_options());
    if (!loopback) {
        EXPECT_GT(memory.refused(), 0U) << loopback.error().message;
        return false;
    }
    auto session = guest::Session::open(loopback->transport(), memory.memory());
    if (!session) {
        EXPECT_EQ(session.error().status, Status::out_of_memory) << words(session.error());
        return false;
    }
    const auto lived = live(*session);
    if (!lived) {
        EXPECT_EQ(lived.error().status, Status::out_of_memory) << words(lived.error());
        EXPECT_FALSE(session->is_lost());
        EXPECT_FALSE(loopback->endpoint().device().needs_reset());
        memory.refuse_nothing();
        const auto again = live(*session);
        EXPECT_TRUE(again.has_value()) << words(again.error());
    }
    EXPECT_EQ(session->parked(), 0U);
    EXPECT_EQ(session->abandoned(), 0U);
    EXPECT_EQ(loopback->endpoint().device().holdings().contexts, 0U);
    EXPECT_EQ(loopback->endpoint().device().holdings().buffer_bytes, 0U);
    return lived.has_value();
}

TEST(OutOfMemory, at_any_allocation_is_answered_and_leaves_nothing_behind) {
    std::uint64_t granted = 0;
    bool done = false;
    while (!done) {
        CountingMemory memory{host::heap()};
        done = survive(memory, granted);
        EXPECT_EQ(memory.live_blocks(), 0U) << "after " << granted << " allocations";
        EXPECT_EQ(memory.live_bytes(), 0U);
        EXPECT_EQ(done, memory.refused() == 0) << "after " << granted << " allocations";
        ++granted;
        ASSERT_LT(granted, 10'000U);
    }
    EXPECT_GT(granted, 20U);
}

}  // namespace
}  // namespace virtaccel::end_to_end
