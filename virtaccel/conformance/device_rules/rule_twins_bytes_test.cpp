// Broken twins of a good device, each differing from it in one rule that shows in the bytes of a
// request or an answer, and the case that has to name the difference.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/testing/device_twins.h"
#include "virtaccel/conformance/testing/tampering_device.h"
#include "virtaccel/conformance/tosa_sample.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance {

namespace {

using testing::Answer;
using testing::device_options;
using testing::GoesOnWhenLost;
using testing::header_bytes;
using testing::is;
using testing::Links;
using testing::make_mock;
using testing::names;
using testing::Says;
using testing::TamperingDevice;
using wire::Opcode;

constexpr auto ok = Status::ok;
constexpr auto busy = Status::busy;
constexpr auto incompatible = Status::incompatible;
constexpr auto invalid = Status::invalid_argument;
constexpr auto limit = Status::resource_limit;
constexpr auto stale = Status::stale_object;
constexpr auto unsupported = Status::unsupported;

// ---- what a command is refused for, and in which order

TEST(RuleTwins, that_call_a_fault_by_another_name_are_named) {
    EXPECT_TRUE((names<Says<Opcode::get_device_info, limit, invalid>>("frame.too-large")));
    EXPECT_TRUE(
        (names<Says<Opcode::create_context, unsupported, invalid>>("create-context.flag-bit-31")));
    EXPECT_TRUE(
        (names<Says<Opcode::allocate_buffer, invalid, unsupported>>("allocate-buffer.domain-4")));
    EXPECT_TRUE(
        (names<Says<Opcode::allocate_buffer, limit, invalid>>("allocate-buffer.past-largest")));
    EXPECT_TRUE((names<Says<Opcode::read_buffer, Status::out_of_bounds, invalid>>(
        "read-buffer.past-the-end")));
    EXPECT_TRUE((names<Says<Opcode::write_buffer, Status::permission_denied, ok>>(
        "write-buffer.no-destination")));
    EXPECT_TRUE((names<Says<Opcode::load_program, limit, invalid>>("load-program.past-largest")));
    EXPECT_TRUE((names<Says<Opcode::submit, limit, invalid>>("submit.bindings-past-limit")));
    EXPECT_TRUE((names<Says<Opcode::submit, incompatible, invalid>>("submit.slot-unknown")));
    EXPECT_TRUE((names<Says<Opcode::poll_event, stale, invalid>>("poll-event.id-never-given")));
    EXPECT_TRUE((names<Says<Opcode::cancel_event, stale, busy>>("cancel-event.id-never-given")));
}

// Looks at the flags before it knows who asks.
struct LooksAtFlagsFirst : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.used_bytes != 0 && answer.links.header().flags != 0) {
            answer.refuse(unsupported);
        }
    }
};

// Looks for the object before it counts the room.
struct LooksItUpFirst : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.used_bytes == 0 && answer.links.room_bytes() >= header_bytes &&
            answer.asked<wire::Object<EventKind>>().object_id.raw == 0xfffffffffff00001) {
            answer.refuse(stale);
        }
    }
};

// Judges an unknown usage bit before anything else of an allocation.
struct LooksAtUsageFirst : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const auto request = answer.asked<wire::AllocateBuffer>();
        if (is(answer.links, Opcode::allocate_buffer) && answer.used_bytes != 0 &&
            request.usage > usage_known.bits) {
            answer.refuse(unsupported);
        }
    }
};

TEST(RuleTwins, that_check_in_another_order_are_named) {
    EXPECT_TRUE(names<LooksAtFlagsFirst>("frame.first-fault-wins"));
    EXPECT_TRUE(names<LooksAtFlagsFirst>("submit.first-fault-wins"));
    EXPECT_TRUE(names<LooksItUpFirst>("poll-event.first-fault-wins"));
    EXPECT_TRUE(names<LooksItUpFirst>("create-queue.first-fault-wins"));
    EXPECT_TRUE(names<LooksAtUsageFirst>("allocate-buffer.first-fault-wins"));
}

TEST(RuleTwins, that_take_any_name_for_a_live_one_are_named) {
    using Forgiving = Says<Opcode::free_buffer, stale, ok>;
    EXPECT_TRUE(names<Forgiving>("free-buffer.id-never-given"));
    EXPECT_TRUE(names<Forgiving>("free-buffer.id-of-another-kind"));
    EXPECT_TRUE(names<Forgiving>("free-buffer.id-with-a-bit-turned"));
    EXPECT_TRUE((names<Says<Opcode::submit, stale, incompatible>>("submit.id-of-another-kind")));
}

// ---- who the device says it is

// Says one thing of its configuration that cannot be.
template <auto bend>
struct Misconfigured : RingDevice {
    using RingDevice::RingDevice;

    [[nodiscard]] wire::Config config() const override {
        wire::Config config = RingDevice::config();
        bend(config);
        return config;
    }
};

constexpr auto major_2 = [](wire::Config& c) { c.protocol_major = 2; };
constexpr auto two_queues = [](wire::Config& c) { c.command_queue_count = 2; };
constexpr auto long_chains = [](wire::Config& c) { c.chain_descriptors_max = 65; };
constexpr auto small_requests = [](wire::Config& c) { c.request_bytes_max = 96; };
constexpr auto large_responses = [](wire::Config& c) { c.response_bytes_max = 1U << 25U; };

TEST(RuleTwins, whose_configuration_cannot_be_are_named) {
    EXPECT_TRUE(names<Misconfigured<major_2>>("config.major-version"));
    EXPECT_TRUE(names<Misconfigured<two_queues>>("config.one-queue"));
    EXPECT_TRUE(names<Misconfigured<long_chains>>("config.chain-descriptors"));
    EXPECT_TRUE(names<Misconfigured<small_requests>>("config.request-bytes"));
    EXPECT_TRUE(names<Misconfigured<large_responses>>("config.response-bytes"));
}

// Says one thing of itself that cannot be, each time that it is asked.
template <auto bend>
struct Impostor : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::get_device_info) && answer.is(ok)) {
            std::array<std::byte, sizeof(wire::DeviceInfo)> bytes{};
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                bytes.at(i) = *answer.at(header_bytes + i);
            }
            auto info = wire::load<wire::DeviceInfo>(bytes.data());
            bend(info, asked_++);
            answer.put(header_bytes, std::as_bytes(std::span{&info, 1}));
        }
    }

  private:
    unsigned asked_ = 0;
};

constexpr auto reserves = [](wire::DeviceInfo& i, unsigned) { i.reserved.bytes[1] = 1; };
constexpr auto is_secure = [](wire::DeviceInfo& i, unsigned) {
    i.capabilities = std::uint64_t{i.capabilities} | 0x10U;
};
constexpr auto has_no_memory = [](wire::DeviceInfo& i, unsigned) { i.capabilities = 4; };
constexpr auto has_no_queues = [](wire::DeviceInfo& i, unsigned) { i.queues_per_context_max = 0; };
constexpr auto binds_too_much = [](wire::DeviceInfo& i, unsigned) {
    i.bindings_per_submission_max = 4097;
};
constexpr auto is_another = [](wire::DeviceInfo& i, unsigned times) { i.device_id = times; };

TEST(RuleTwins, that_say_what_cannot_be_of_themselves_are_named) {
    EXPECT_TRUE(names<Impostor<reserves>>("device-info.reserved"));
    EXPECT_TRUE(names<Impostor<is_secure>>("device-info.reserved-capabilities"));
    EXPECT_TRUE(names<Impostor<has_no_memory>>("device-info.memory-domain"));
    EXPECT_TRUE(names<Impostor<has_no_queues>>("device-info.limits"));
    EXPECT_TRUE(names<Impostor<binds_too_much>>("device-info.bindings"));
    EXPECT_TRUE(names<Impostor<is_another>>("device-info.never-changes"));
    EXPECT_TRUE(names<Impostor<is_another>>("reset.same-identity"));
}

// ---- frames

// Keeps 32 bits of a request ID.
struct ForgetsTheUpperHalf : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.used_bytes != 0) {
            answer.put(12, std::array<std::byte, 4>{});
        }
    }
};

struct SeesEachNameOnce : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const std::uint64_t id = answer.links.header().request_id;
        if (id == last_ && answer.is(ok)) {
            answer.refuse(invalid);
        }
        last_ = id;
    }

  private:
    std::uint64_t last_ = 0;
};

// Counts to one less than it says.
struct StopsOneShort : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.links.request().size() >= config().request_bytes_max) {
            answer.refuse(limit);
        }
    }
};

// Wants more room than a refusal has.
struct RefusesInComfort : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.links.room_bytes() == header_bytes && !answer.is(ok)) {
            answer.put(0, Bytes(header_bytes, canary));
            answer.used_bytes = 0;
        }
    }
};

// Writes as much of a refusal as there is room for.
struct RefusesInPart : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const std::size_t room = answer.links.room_bytes();
        if (answer.used_bytes == 0 && room < header_bytes && room != 0) {
            answer.used_bytes = static_cast<std::uint32_t>(room);
        }
    }
};

TEST(RuleTwins, that_frame_their_answers_wrongly_are_named) {
    EXPECT_TRUE(names<ForgetsTheUpperHalf>("frame.request-id-is-echoed"));
    EXPECT_TRUE(names<SeesEachNameOnce>("frame.request-id-again"));
    EXPECT_TRUE(names<StopsOneShort>("frame.largest"));
    EXPECT_TRUE(names<RefusesInComfort>("frame.refusal-in-16-bytes"));
    EXPECT_TRUE(names<RefusesInPart>("frame.no-room-for-a-header"));
}

// ---- artifacts

// Leaves a bit of what a program writes as it was not.
struct TurnsABit : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::read_buffer) && answer.is(ok)) {
            *answer.at(header_bytes + 4) ^= std::byte{1};
        }
    }
};

TEST(RuleTwins, that_take_reference_artifacts_for_something_else_are_named) {
    using Muddled = Says<Opcode::load_program, invalid, incompatible>;
    EXPECT_TRUE(names<Muddled>("reference-artifact.too-short"));
    EXPECT_TRUE(names<Muddled>("reference-artifact.magic"));
    EXPECT_TRUE(names<Muddled>("reference-artifact.reserved-last"));
    using Strict = Says<Opcode::load_program, incompatible, invalid>;
    EXPECT_TRUE(names<Strict>("reference-artifact.version-minor"));
    EXPECT_TRUE(names<Strict>("reference-artifact.resident-too-many"));
    EXPECT_TRUE(names<Strict>("reference-artifact.target-words"));
    EXPECT_TRUE(
        (names<Says<Opcode::load_program, unsupported, invalid>>("reference-artifact.operation")));
    EXPECT_TRUE(names<TurnsABit>("reference-artifact.fill"));
    EXPECT_TRUE(names<TurnsABit>("reference-artifact.exclusive-or"));
    EXPECT_TRUE(names<TurnsABit>("reference-artifact.barrier"));
    EXPECT_TRUE(names<TurnsABit>("reference-artifact.overlapping-copy"));
    EXPECT_TRUE(
        (names<Says<Opcode::submit, incompatible, invalid>>("reference-artifact.bindings")));
}

// Runs something else for any TOSA model, whatever it was made for.
struct TakesEveryTarget : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (is(links, Opcode::load_program) && links.readable.size() == 1) {
            wire::LoadProgram load =
                wire::load<wire::LoadProgram>(links.readable[0].data + header_bytes);
            load.format = mock::reference_format;
            std::ranges::copy(mock::reference_target, load.target.begin());
            load.payload_bytes = mock::reference_artifact_bytes;
            load.resident_bytes = mock::reference_resident_bytes;
            const auto artifact =
                mock::encode({.operation = mock::Operation::copy, .second_slot = 1});
            Bytes payload = Caller::payload_of(load, artifact);
            const Bytes frame = frame_of(Opcode::load_program, links.header().request_id, payload);
            std::ranges::copy(frame, links.readable[0].data);
            queue::Descriptor at = descriptor(links.head);
            at.bytes = static_cast<std::uint32_t>(frame.size());
            replace(links.head, at);
        }
        return true;
    }
};

TEST(RuleTwins, that_take_any_target_words_are_named) {
    for (const auto* const name :
         {"tosa-artifact.format-word", "tosa-artifact.abi", "tosa-artifact.major",
          "tosa-artifact.patch", "tosa-artifact.no-profile", "tosa-artifact.level",
          "tosa-artifact.unknown-extension", "tosa-artifact.int16-without-integer",
          "tosa-artifact.reserved-last"}) {
        TakesEveryTarget device{host::heap(),
                                {.state = nullptr, .make = make_mock},
                                {.queue_size = 64, .device = device_options()}};
        EXPECT_TRUE(names(device, name, tosa_sample()));
    }
}

// ---- the ring, and a device that is lost

// Takes the latest chain first.
struct TakesTheLatestFirst : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void kick() override {
        const queue::RingMemory& ring = driver().ring();
        const std::uint16_t end = ring.available_index();
        if (end >= 4 && seen_ + 4 == end) {
            for (std::uint16_t i = 0; i < 2; ++i) {
                const auto low = static_cast<std::uint16_t>(seen_ + i);
                const auto high = static_cast<std::uint16_t>(end - 1 - i);
                const std::uint16_t head = ring.load_available(low);
                ring.store_available(low, ring.load_available(high));
                ring.store_available(high, head);
            }
        }
        seen_ = end;
        TamperingDevice::kick();
    }

  private:
    std::uint16_t seen_ = 0;
};

// Gives up for this time once something was wrong.
struct StopsAtABadFrame : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void kick() override {
        bad_ = false;
        TamperingDevice::kick();
    }

    void after(Answer& answer) override {
        if (bad_) {
            answer.used_bytes = 0;
        }
        bad_ = bad_ || !answer.is(ok);
    }

  private:
    bool bad_ = false;
};

// Loses its way when it has gone around once.
struct GoesAroundOnce : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (++answers_ > driver().ring().size) {
            answer.used_bytes = 0;
        }
    }

  private:
    std::uint32_t answers_ = 0;
};

TEST(RuleTwins, that_take_chains_as_they_like_are_named) {
    EXPECT_TRUE(names<TakesTheLatestFirst>("ring.taken-in-order"));
    EXPECT_TRUE(names<StopsAtABadFrame>("ring.bad-frames-stop-nobody"));
    EXPECT_TRUE(names<GoesAroundOnce>("ring.around-and-around"));
}

// Once it is lost, it looks at nothing any more.
struct GivesUpWhenLost : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (needs_reset().value_or(false) && answer.used_bytes != 0) {
            answer.refuse(Status::device_lost);
        }
    }
};

// Looks an object up even if it is lost.
struct LooksWhenLost : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.is(Status::device_lost) && is(answer.links, Opcode::free_buffer) &&
            answer.asked<wire::Object<BufferKind>>().object_id.raw == 0xfffffffffff00001) {
            answer.refuse(stale);
        }
    }
};

TEST(RuleTwins, that_do_not_know_what_loss_means_are_named) {
    EXPECT_TRUE(names<GoesOnWhenLost>("loss.every-command"));
    EXPECT_TRUE(names<GivesUpWhenLost>("loss.bytes-come-first"));
    EXPECT_TRUE(names<LooksWhenLost>("loss.before-objects"));
}

}  // namespace

}  // namespace virtaccel::conformance
