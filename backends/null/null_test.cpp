#include "backends/null/null.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/identity.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backends::null {

namespace {

backend::RefusalSink sink_into(std::string& lines) {
    return {.state = &lines, .say = [](void* state, std::string_view line) {
                static_cast<std::string*>(state)->append(line).append("\n");
            }};
}

TEST(NullBackend, has_an_identity_that_a_device_accepts) {
    EXPECT_EQ(backend::validate(NullBackend{host::heap()}.identity()), Status::ok);
}

TEST(NullBackend, refuses_every_artifact_and_says_why) {
    NullBackend backend{host::heap()};
    std::string reasons;
    for (const std::uint32_t format : {1U, 0x544f5341U, 0x56414d4bU, 0xffffffffU}) {
        reasons.clear();
        const auto prepared = backend.prepare({.format = format, .refusals = sink_into(reasons)});
        ASSERT_FALSE(prepared);
        EXPECT_EQ(prepared.error(), Status::unsupported);
        EXPECT_EQ(reasons, "The null backend runs no program: choose another backend.\n");
    }
}

TEST(NullBackend, refuses_an_artifact_nobody_wants_to_hear_about) {
    NullBackend backend{host::heap()};
    EXPECT_EQ(backend.prepare({}).error(), Status::unsupported);
}

TEST(NullBackend, keeps_books_of_contexts_buffers_and_queues) {
    testing::CountingMemory memory{host::heap()};
    {
        auto made = backend::make_owned<NullBackend>(memory.memory(), memory.memory());
        ASSERT_TRUE(made);
        backend::AnyBackend& backend = *made;
        const auto context = backend.create_context();
        const auto queue = backend.create_queue(*context);
        const auto buffer = backend.allocate(
            *context, {.bytes = 100, .alignment = 8, .usage = UsageBit::transfer_source});
        ASSERT_TRUE(context && queue && buffer);
        EXPECT_EQ(backend.diagnostics().live_resources, 3U);
        EXPECT_EQ(backend.diagnostics().retained_bytes, 128U);

        std::array<std::byte, 4> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
        const std::array pieces{Piece{.data = bytes.data(), .size = bytes.size()}};
        Reader source{PieceList::of(pieces)};
        EXPECT_EQ(backend.write(buffer->buffer, 96, source), Status::ok);
        bytes = {};
        Writer target{PieceList::of(pieces)};
        EXPECT_EQ(backend.read(buffer->buffer, 96, target), Status::ok);
        EXPECT_EQ(bytes[3], std::byte{4});
        EXPECT_EQ(backend.diagnostics().explicit_transfer_bytes, 8U);

        EXPECT_EQ(backend.free(buffer->buffer).certainty, backend::Certainty::done);
        EXPECT_EQ(backend.destroy_queue(*queue).certainty, backend::Certainty::done);
        EXPECT_EQ(backend.destroy_context(*context).certainty, backend::Certainty::done);
        EXPECT_EQ(backend.diagnostics().live_resources, 0U);
        EXPECT_EQ(backend.diagnostics().retained_bytes, 0U);
    }
    EXPECT_EQ(memory.live_blocks(), 0U);
}

TEST(NullBackend, rejects_what_needs_a_program_without_taking_anything_on) {
    NullBackend backend{host::heap()};
    const auto outcome = backend.submit({});
    EXPECT_EQ(outcome.certainty, backend::Certainty::rejected);
    EXPECT_EQ(outcome.status, Status::unsupported);
    EXPECT_EQ(backend.load({}, {}).error(), Status::unsupported);
    EXPECT_EQ(backend.unload({}).certainty, backend::Certainty::rejected);
    EXPECT_EQ(backend.poll({}).error(), Status::unsupported);
    EXPECT_EQ(backend.cancel({}), Status::unsupported);
    EXPECT_EQ(backend.destroy_event({}).certainty, backend::Certainty::rejected);
    EXPECT_EQ(backend.diagnostics().live_resources, 0U);
}

}  // namespace

}  // namespace virtaccel::backends::null
