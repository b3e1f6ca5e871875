#include "virtaccel/backend/owned.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

namespace {

// A backend that remembers which call came last and counts its own instances.
struct Recorder {
    explicit Recorder(int* instances) noexcept : live(instances) { ++*live; }

    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    ~Recorder() { --*live; }

    [[nodiscard]] std::string_view name() const { return last; }

    [[nodiscard]] std::string_view description() const { return "records"; }

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity;
        identity.vendor_id = 9;
        return identity;
    }

    [[nodiscard]] Diagnostics diagnostics() const { return {.staged_count = 3}; }

    void set_notifier(Notifier) { last = "set_notifier"; }

    Result<ContextHandle> create_context() {
        last = "create_context";
        return ContextHandle{.word = 1};
    }

    ReleaseOutcome destroy_context(ContextHandle) { return release("destroy_context"); }

    Result<Allocation> allocate(ContextHandle, const BufferRequest& request) {
        last = "allocate";
        return Allocation{.descriptor = request};
    }

    ReleaseOutcome free(BufferHandle) { return release("free"); }

    Status write(BufferHandle, std::uint64_t, Reader&) { return status("write"); }

    Status read(BufferHandle, std::uint64_t, Writer&) { return status("read"); }

    Result<PreparedHandle> prepare(const Artifact&) {
        last = "prepare";
        return PreparedHandle{.word = 2};
    }

    void abandon(PreparedHandle) { last = "abandon"; }

    Result<LoadedProgram> load(ContextHandle, PreparedHandle prepared) {
        last = "load";
        return LoadedProgram{.program = {.word = prepared.word}};
    }

    ReleaseOutcome unload(ProgramHandle) { return release("unload"); }

    Result<QueueHandle> create_queue(ContextHandle) {
        last = "create_queue";
        return QueueHandle{.word = 3};
    }

    ReleaseOutcome destroy_queue(QueueHandle) { return release("destroy_queue"); }

    SubmitOutcome submit(const Submission&) {
        last = "submit";
        return SubmitOutcome::accepted({.word = 4});
    }

    Result<EventStatus> poll(EventHandle) {
        last = "poll";
        return EventStatus{.phase = EventPhase::complete};
    }

    Status cancel(EventHandle) { return status("cancel"); }

    ReleaseOutcome destroy_event(EventHandle) { return release("destroy_event"); }

    ReleaseOutcome release(std::string_view call) {
        last = call;
        return ReleaseOutcome::rejected(Status::busy);
    }

    Status status(std::string_view call) {
        last = call;
        return Status::incompatible;
    }

    int* live;
    std::string_view last;
};

TEST(OwnedBackend, lives_in_the_given_memory_and_ends_with_its_owner) {
    testing::CountingMemory memory{host::heap()};
    int instances = 0;
    {
        auto made = make_owned<Recorder>(memory.memory(), &instances);
        ASSERT_TRUE(made);
        EXPECT_EQ(instances, 1);
        EXPECT_EQ(memory.live_blocks(), 1U);
        AnyBackend moved = *std::move(made);
        EXPECT_EQ(moved.identity().vendor_id, 9U);
        EXPECT_EQ(instances, 1);
        moved = *make_owned<Recorder>(memory.memory(), &instances);
        EXPECT_EQ(instances, 1);
    }
    EXPECT_EQ(instances, 0);
    EXPECT_EQ(memory.live_bytes(), 0U);
}

TEST(OwnedBackend, is_not_made_when_the_memory_refuses) {
    testing::CountingMemory memory{host::heap()};
    memory.refuse_after(0);
    int instances = 0;
    const auto made = make_owned<Recorder>(memory.memory(), &instances);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), Status::out_of_memory);
    EXPECT_EQ(instances, 0);
}

TEST(OwnedBackend, comes_fresh_from_its_factory_each_time) {
    int instances = 0;
    auto maker = [&] { return make_owned<Recorder>(host::heap(), &instances); };
    const BackendFactory factory = factory_from(maker);
    {
        const auto first = factory.make(factory.state);
        const auto second = factory.make(factory.state);
        ASSERT_TRUE(first && second);
        EXPECT_EQ(instances, 2);
    }
    EXPECT_EQ(instances, 0);
}

// Every row of the table leads to the function of its name.
TEST(AnyBackend, passes_each_call_to_its_own_function) {
    int instances = 0;
    Recorder recorder{&instances};
    AnyBackend backend = AnyBackend::borrow(recorder);
    Reader reader;
    Writer writer;
    const auto expect_last = [&](std::string_view call) { EXPECT_EQ(backend.name(), call); };
    backend.set_notifier({});
    expect_last("set_notifier");
    EXPECT_EQ(backend.create_context()->word, 1U);
    expect_last("create_context");
    EXPECT_EQ(backend.destroy_context({}).status, Status::busy);
    expect_last("destroy_context");
    EXPECT_EQ(backend.allocate({}, {.bytes = 5})->descriptor.bytes, 5U);
    expect_last("allocate");
    EXPECT_EQ(backend.free({}).status, Status::busy);
    expect_last("free");
    EXPECT_EQ(backend.write({}, 0, reader), Status::incompatible);
    expect_last("write");
    EXPECT_EQ(backend.read({}, 0, writer), Status::incompatible);
    expect_last("read");
    EXPECT_EQ(backend.prepare({})->word, 2U);
    expect_last("prepare");
    backend.abandon({});
    expect_last("abandon");
    EXPECT_EQ(backend.load({}, {.word = 8})->program.word, 8U);
    expect_last("load");
    EXPECT_EQ(backend.unload({}).status, Status::busy);
    expect_last("unload");
    EXPECT_EQ(backend.create_queue({})->word, 3U);
    expect_last("create_queue");
    EXPECT_EQ(backend.destroy_queue({}).status, Status::busy);
    expect_last("destroy_queue");
    EXPECT_EQ(backend.submit({}).event.word, 4U);
    expect_last("submit");
    EXPECT_EQ(backend.poll({})->phase, EventPhase::complete);
    expect_last("poll");
    EXPECT_EQ(backend.cancel({}), Status::incompatible);
    expect_last("cancel");
    EXPECT_EQ(backend.destroy_event({}).status, Status::busy);
    expect_last("destroy_event");
    EXPECT_EQ(backend.description(), "records");
    EXPECT_EQ(backend.diagnostics().staged_count, 3U);
}

TEST(AnyBackend, releases_each_kind_by_its_own_call) {
    int instances = 0;
    Recorder recorder{&instances};
    AnyBackend backend = AnyBackend::borrow(recorder);
    EXPECT_EQ(backend.release(ContextHandle{}).status, Status::busy);
    EXPECT_EQ(recorder.last, "destroy_context");
    EXPECT_EQ(backend.release(BufferHandle{}).status, Status::busy);
    EXPECT_EQ(recorder.last, "free");
    EXPECT_EQ(backend.release(ProgramHandle{}).status, Status::busy);
    EXPECT_EQ(recorder.last, "unload");
    EXPECT_EQ(backend.release(QueueHandle{}).status, Status::busy);
    EXPECT_EQ(recorder.last, "destroy_queue");
    EXPECT_EQ(backend.release(EventHandle{}).status, Status::busy);
    EXPECT_EQ(recorder.last, "destroy_event");
}

}  // namespace

}  // namespace virtaccel::backend
