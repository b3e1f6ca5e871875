// The Nth allocation fails, for every N of a whole life: the guest hears OUT_OF_MEMORY, the backend
// is not called, nothing leaks, and the same request succeeds when there is memory again.
#include "host/memory.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {
namespace {

using testing::default_options;
using testing::DeviceRig;
using wire::Opcode;

// Counts allocations and refuses one.
struct Tap {
    std::int64_t until_refusal = -1;  // negative: never
    std::uint64_t allocations = 0;
    std::uint64_t refusals = 0;
    std::int64_t live_bytes = 0;

    Memory memory() {
        return {.state = this,
                .allocate = [](void* state, std::size_t bytes, std::size_t alignment) -> void* {
                    auto& tap = *static_cast<Tap*>(state);
                    ++tap.allocations;
                    if (tap.until_refusal-- == 0) {
                        ++tap.refusals;
                        return nullptr;
                    }
                    tap.live_bytes += static_cast<std::int64_t>(bytes);
                    const Memory heap = host::heap();
                    return heap.allocate(heap.state, bytes, alignment);
                },
                .release =
                    [](void* state, void* block, std::size_t bytes, std::size_t alignment) {
                        static_cast<Tap*>(state)->live_bytes -= static_cast<std::int64_t>(bytes);
                        const Memory heap = host::heap();
                        heap.release(heap.state, block, bytes, alignment);
                    }};
    }
};

class MemoryTest : public DeviceRig {
  public:
    ~MemoryTest() override {
        // The rig's own device goes last; it came from the heap.
        EXPECT_EQ(tap.live_bytes, 0);
    }

    [[nodiscard]] Memory memory() override { return tap_in_use ? tap.memory() : host::heap(); }

    // Sends a request; if it is refused for memory, sends it again.
    testing::Reply insist(testing::Request& request) {
        const auto calls = backend->calls();
        const auto refusals = tap.refusals;
        auto reply = send(request);
        if (reply.deferred) {
            return reply;
        }
        if (tap.refusals != refusals) {
            EXPECT_TRUE(reply.refuses(Status::out_of_memory));
            EXPECT_EQ(backend->calls(), calls) << "refused before the backend";
            EXPECT_FALSE(device().needs_reset());
            reply = send(request);
        }
        EXPECT_EQ(reply.status, Status::ok);
        return reply;
    }

    template <Opcode op>
    testing::Reply insist_on(const wire::RequestOf<op>& record,
                             std::span<const std::byte> tail = {}) {
        return insist(request<op>(record, tail));
    }

    // Everything a guest can make grow, past the first slab of buffers and the first blocks.
    void live_a_life() {
        const auto home = made<ContextKind>(insist_on<Opcode::create_context>({}));
        const auto line = made<QueueKind>(insist_on<Opcode::create_queue>({home, 0U, 0U}));
        const auto loaded =
            made<ProgramKind>(insist_on<Opcode::load_program>(artifact(home), artifact_bytes()));
        std::vector<wire::Binding> bindings;
        for (std::uint32_t i = 0; i < 300; ++i) {
            const auto id = made<BufferKind>(insist_on<Opcode::allocate_buffer>(allocation(home)));
            bindings.push_back(binding(id, i));
        }
        std::vector<EventId> events;
        for (int i = 0; i < 4; ++i) {
            events.push_back(made<EventKind>(insist_on<Opcode::submit>(
                submission(line, loaded, bindings.size()), std::as_bytes(std::span{bindings}))));
        }
        for (const auto id : events) {
            insist_on<Opcode::poll_event>({id});
            insist_on<Opcode::destroy_event>({id});
        }
        EXPECT_FALSE(device().reset().discard);
        EXPECT_EQ(backend->live(), 0U);
    }

    Tap tap;
    bool tap_in_use = false;
};

TEST_F(MemoryTest, is_refused_at_any_point_of_a_life_without_harm) {
    tap_in_use = true;
    remake(default_options());
    const auto made_by = tap.allocations;
    live_a_life();
    const auto total = tap.allocations;
    EXPECT_GE(total - made_by, 8U) << "five kinds, a second slab, blocks";
    for (std::uint64_t n = 0; n < total - made_by; ++n) {
        remake(default_options());
        tap.until_refusal = static_cast<std::int64_t>(n);
        tap.refusals = 0;
        live_a_life();
        EXPECT_EQ(tap.refusals, 1U) << n;
    }
    tap_in_use = false;
    remake(default_options());
}

TEST_F(MemoryTest, for_a_load_that_waits_may_be_refused_and_comes_back) {
    tap_in_use = true;
    auto options = default_options();
    options.deferred_loads_max = 4;
    remake(options);
    auto load = request<Opcode::load_program>(artifact(context()), artifact_bytes());
    EXPECT_TRUE(send(load).deferred) << "it brings the first slab of programs, which stays";
    EXPECT_TRUE(static_cast<bool>(device().take_load()));
    const auto before = tap.live_bytes;
    for (const std::int64_t n : {0, 1}) {
        tap.until_refusal = n;
        EXPECT_TRUE(send(load).refuses(Status::out_of_memory)) << n;
        EXPECT_EQ(tap.live_bytes, before) << n;
    }
    EXPECT_TRUE(send(load).deferred);
    EXPECT_GT(tap.live_bytes, before);
    EXPECT_TRUE(static_cast<bool>(device().take_load())) << "and dropped at once";
    EXPECT_EQ(tap.live_bytes, before);
    tap_in_use = false;
    remake(default_options());
}

TEST_F(MemoryTest, for_the_device_itself_may_be_refused_at_any_point) {
    for (std::int64_t n = 0;; ++n) {
        tap.until_refusal = n;
        const auto device =
            Device::make(tap.memory(), backend::AnyBackend::borrow(*backend), default_options());
        if (device) {
            EXPECT_GE(n, 11) << "the core, five directories, five arrays of bindings";
            break;
        }
        EXPECT_EQ(device.error(), Unfit::no_memory);
        EXPECT_EQ(tap.live_bytes, 0);
    }
    tap.until_refusal = -1;
}

TEST_F(MemoryTest, is_taken_no_more_once_a_device_is_warm) {
    tap_in_use = true;
    remake(default_options());
    live_a_life();
    const auto warm = tap.allocations;
    for (int i = 0; i < 3; ++i) {
        live_a_life();
    }
    EXPECT_EQ(tap.allocations, warm);
    tap_in_use = false;
    remake(default_options());
}

TEST_F(MemoryTest, for_bookkeeping_ends_at_its_limit) {
    auto options = default_options();
    options.bookkeeping_bytes_max = 400'000;
    backend->shown.limits.contexts = 1U << 20U;
    remake(options);
    std::uint32_t created = 0;
    while (true) {
        const auto reply = call<Opcode::create_context>();
        if (reply.status != Status::ok) {
            EXPECT_TRUE(reply.refuses(Status::out_of_memory));
            break;
        }
        ++created;
    }
    EXPECT_GT(created, 0U);
    EXPECT_LT(created, 10'000U);
    EXPECT_FALSE(device().reset().discard);
    context();
}

// H5: no request makes the device allocate what it announces.
TEST_F(MemoryTest, is_not_taken_for_what_a_request_only_announces) {
    tap_in_use = true;
    remake(default_options());
    const auto home = context();
    const auto before = tap.live_bytes;
    auto huge = artifact(home);
    huge.payload_bytes = std::uint64_t{1} << 40U;
    EXPECT_TRUE(call<Opcode::load_program>(huge, artifact_bytes().first(4))
                    .refuses(Status::invalid_argument));
    EXPECT_TRUE(call<Opcode::allocate_buffer>(allocation(home, std::uint64_t{1} << 62U))
                    .refuses(Status::resource_limit));
    EXPECT_TRUE(call<Opcode::read_buffer>({BufferId{1}, 0U, std::uint64_t{1} << 32U}, {}, 20)
                    .refuses(Status::resource_limit));
    EXPECT_TRUE(
        call<Opcode::submit>(submission({1}, {1}, 0xffffffff)).refuses(Status::resource_limit));
    EXPECT_EQ(tap.live_bytes, before);
    tap_in_use = false;
    remake(default_options());
}

// H6: flat memory and even books over many failures.
TEST_F(MemoryTest, stays_flat_over_many_failures) {
    tap_in_use = true;
    remake(default_options());
    const auto home = context();
    buffer(home);
    program(home);
    const auto bytes = tap.live_bytes;
    const auto before = device().holdings();
    auto misaligned = allocation(home);
    misaligned.alignment = 3;
    for (int i = 0; i < 20'000; ++i) {
        ASSERT_TRUE(call<Opcode::allocate_buffer>(misaligned).refuses(Status::invalid_argument));
        ASSERT_TRUE(call<Opcode::free_buffer>({BufferId{1}}).refuses(Status::stale_object));
        backend->next(testing::Operation::load, testing::Ending::rejected(Status::incompatible));
        ASSERT_TRUE(call<Opcode::load_program>(artifact(home), artifact_bytes())
                        .refuses(Status::incompatible));
    }
    EXPECT_EQ(tap.live_bytes, bytes);
    EXPECT_EQ(device().holdings().buffer_bytes, before.buffer_bytes);
    EXPECT_EQ(device().holdings().program_bytes, before.program_bytes);
    EXPECT_EQ(backend->live(), 3U);
    tap_in_use = false;
    remake(default_options());
}

}  // namespace
}  // namespace virtaccel::device
