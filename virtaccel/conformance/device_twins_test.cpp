// Broken twins of a good device, each differing from it in one rule, and the case that has to name
// the difference.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/testing/tampering_device.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

namespace {

using testing::Answer;
using testing::Links;
using testing::TamperingDevice;
using wire::Opcode;

constexpr std::size_t header_bytes = 16;

Result<backend::AnyBackend> make_mock(void* /*state*/) {
    return backend::make_owned<mock::Reference>(host::heap(), host::heap());
}

device::Options device_options() {
    device::Options options;
    options.config.chain_descriptors_max = 16;
    options.config.request_bytes_max = std::uint32_t{1} << 20U;
    options.config.response_bytes_max = std::uint32_t{1} << 20U;
    options.policy = {.buffer_bytes_max = std::uint64_t{1} << 30U,
                      .program_resident_bytes_max = std::uint64_t{1} << 30U};
    return options;
}

Results run_on(DeviceUnderTest& device) {
    DeviceSubject subject;
    subject.memory = host::heap();
    subject.device = &device;
    subject.program = reference_sample();
    subject.patience.pauses_max = 100;
    return run_device_cases(subject);
}

::testing::AssertionResult names(const Results& results, std::string_view name) {
    const auto found = std::ranges::find(results, name, &CaseResult::name);
    if (found == results.end() || found->outcome != Outcome::failed || found->reason.empty()) {
        return ::testing::AssertionFailure() << name << " does not fail";
    }
    return ::testing::AssertionSuccess() << found->reason;
}

// Whether the case fails on a device of class T, and says why.
template <class T>
::testing::AssertionResult names(std::string_view name) {
    T device{host::heap(),
             {.state = nullptr, .make = make_mock},
             RingDeviceOptions{.queue_size = 64, .device = device_options()}};
    EXPECT_EQ(device.unfit(), "");
    return names(run_on(device), name);
}

bool is(const Links& links, Opcode opcode) {
    return links.header().opcode == static_cast<std::uint16_t>(opcode);
}

TEST(DeviceTwins, pass_every_case_when_nobody_tampers) {
    TamperingDevice device{host::heap(),
                           {.state = nullptr, .make = make_mock},
                           {.queue_size = 64, .device = device_options()}};
    for (const CaseResult& result : run_on(device)) {
        EXPECT_EQ(result.outcome, Outcome::passed) << result.name << ": " << result.reason;
    }
}

// ---- VQ-001 to VQ-003: frames in descriptors

struct ForgetsTheLastByte : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        answer.used_bytes -= is(answer.links, Opcode::get_device_info) ? 1 : 0;
    }
};

struct WantsThreeDescriptors : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        answer.used_bytes = answer.links.indices.size() == 2 ? 0 : answer.used_bytes;
    }
};

TEST(DeviceTwins, that_answer_one_and_one_wrongly_are_named) {
    EXPECT_TRUE(names<ForgetsTheLastByte>("VQ-001"));
    EXPECT_TRUE(names<WantsThreeDescriptors>("VQ-001"));
}

struct WantsTheHeaderInOnePiece : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (!answer.links.readable.empty() && answer.links.readable[0].size < header_bytes) {
            answer.used_bytes = 0;
        }
    }
};

struct WantsThePayloadInOnePiece : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.links.readable.size() == 2 && answer.links.readable[0].size > header_bytes) {
            answer.refuse(Status::invalid_argument);
        }
    }
};

struct WantsItsRoomInOnePiece : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (!answer.links.writable.empty() && answer.links.writable[0].size < header_bytes) {
            answer.used_bytes = 0;
        }
    }
};

TEST(DeviceTwins, that_mind_how_a_frame_is_cut_are_named) {
    EXPECT_TRUE(names<WantsTheHeaderInOnePiece>("VQ-002"));
    EXPECT_TRUE(names<WantsThePayloadInOnePiece>("VQ-002"));
    EXPECT_TRUE(names<WantsItsRoomInOnePiece>("VQ-002"));
}

// Takes segments for words: what does not end on one gets a zero there.
struct PadsSegments : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (is(links, Opcode::write_buffer) && links.readable.size() > 2) {
            *links.readable.back().data = std::byte{0xff};
        }
        return true;
    }
};

struct WritesIntoTheFirstSegment : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::read_buffer) && answer.links.writable.size() > 3) {
            *answer.links.writable.back().data = canary;
        }
    }
};

TEST(DeviceTwins, that_pad_segments_are_named) {
    EXPECT_TRUE(names<PadsSegments>("VQ-003"));
    EXPECT_TRUE(names<WritesIntoTheFirstSegment>("VQ-003"));
}

// ---- VQ-004 to VQ-006: bad chains

struct AnswersWithoutARequest : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.links.readable.empty()) {
            answer.refuse(Status::invalid_argument);
        }
    }
};

struct TouchesWhatItRejects : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.used_bytes == 0 && answer.at(0) != nullptr) {
            *answer.at(0) = std::byte{0};
        }
    }
};

// Serves a request that has no room for an answer.
struct CountsWhatItCannotWrite : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        answer.used_bytes = answer.links.writable.empty() ? header_bytes : answer.used_bytes;
    }
};

TEST(DeviceTwins, that_answer_half_a_chain_are_named) {
    EXPECT_TRUE(names<AnswersWithoutARequest>("VQ-004"));
    EXPECT_TRUE(names<TouchesWhatItRejects>("VQ-004"));
    EXPECT_TRUE(names<CountsWhatItCannotWrite>("VQ-004"));
}

// Puts the readable descriptors of a chain before the writable ones, as a lenient device would read
// them.
struct SortsChains : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        std::vector<queue::Descriptor> sorted;
        for (const std::uint16_t index : links.indices) {
            sorted.push_back(descriptor(index));
        }
        std::ranges::stable_sort(sorted, {}, [](const queue::Descriptor& d) {
            return (d.flags & queue::descriptor_write) != 0;
        });
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            const queue::Descriptor place = descriptor(links.indices[i]);
            sorted[i].next = place.next;
            sorted[i].flags =
                static_cast<std::uint16_t>((sorted[i].flags & ~queue::descriptor_next) |
                                           (place.flags & queue::descriptor_next));
            replace(links.indices[i], sorted[i]);
        }
        return true;
    }
};

TEST(DeviceTwins, that_accept_readable_after_writable_are_named) {
    EXPECT_TRUE(names<SortsChains>("VQ-005"));
    EXPECT_TRUE(names<TouchesWhatItRejects>("VQ-005"));
}

// Reads a chain as well as it can: `repair` says what a descriptor becomes, from its chain and
// place.
template <auto repair>
struct Repairs : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        for (std::size_t i = 0; i < links.indices.size(); ++i) {
            queue::Descriptor at = descriptor(links.indices[i]);
            repair(at, i, links, *this);
            replace(links.indices[i], at);
        }
        return true;
    }

    [[nodiscard]] std::uint32_t size() { return driver().ring().size; }

    [[nodiscard]] queue::Descriptor at(std::uint16_t index) { return descriptor(index); }
};

void end_here(queue::Descriptor& at) {
    at.flags = static_cast<std::uint16_t>(at.flags & ~queue::descriptor_next);
}

constexpr auto skips_empty = [](queue::Descriptor& at, std::size_t, const Links&, auto& device) {
    if ((at.flags & queue::descriptor_next) != 0 && at.next < device.size()) {
        const queue::Descriptor next = device.at(at.next);
        if (next.bytes == 0) {
            end_here(at);
        }
    }
    if (at.bytes == 0 && (at.flags & queue::descriptor_next) != 0) {
        at = device.at(at.next);
    }
};
constexpr auto cuts_loops = [](queue::Descriptor& at, std::size_t i, const Links& links, auto&) {
    const auto seen = std::span{links.indices}.first(i + 1);
    if ((at.flags & queue::descriptor_next) != 0 &&
        std::ranges::find(seen, at.next) != seen.end()) {
        end_here(at);
    }
};
constexpr auto cuts_long_ones = [](queue::Descriptor& at, std::size_t i, const Links&, auto&) {
    if (i + 1 == 16) {
        end_here(at);
    }
};
constexpr auto ignores_indirect = [](queue::Descriptor& at, std::size_t, const Links&, auto&) {
    at.flags = static_cast<std::uint16_t>(at.flags & ~queue::descriptor_indirect);
};
constexpr auto stops_at_the_edge = [](queue::Descriptor& at, std::size_t, const Links&,
                                      auto& device) {
    if (at.next >= device.size()) {
        end_here(at);
    }
};

// Drops the head of a chain that it does not like.
struct KeepsBadHeads : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        const auto is_indirect = [this](std::uint16_t index) {
            return (descriptor(index).flags & queue::descriptor_indirect) != 0;
        };
        return std::ranges::none_of(links.indices, is_indirect);
    }
};

TEST(DeviceTwins, that_read_bad_chains_as_well_as_they_can_are_named) {
    EXPECT_TRUE(names<Repairs<skips_empty>>("VQ-006"));
    EXPECT_TRUE(names<Repairs<cuts_loops>>("VQ-006"));
    EXPECT_TRUE(names<Repairs<cuts_long_ones>>("VQ-006"));
    EXPECT_TRUE(names<Repairs<ignores_indirect>>("VQ-006"));
    EXPECT_TRUE(names<Repairs<stops_at_the_edge>>("VQ-006"));
    EXPECT_TRUE(names<TouchesWhatItRejects>("VQ-006"));
    EXPECT_TRUE(names<KeepsBadHeads>("VQ-006"));
}

// ---- VQ-007 to VQ-011: refusals

struct AnswersHalfAHeader : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.used_bytes == 0 && answer.links.room_bytes() >= header_bytes) {
            answer.refuse(Status::invalid_argument);
        }
    }
};

struct FillsSmallRooms : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.links.room_bytes() < header_bytes && answer.at(0) != nullptr) {
            *answer.at(0) = std::byte{3};
        }
    }
};

TEST(DeviceTwins, that_answer_a_truncated_header_are_named) {
    EXPECT_TRUE(names<AnswersHalfAHeader>("VQ-007"));
    EXPECT_TRUE(names<FillsSmallRooms>("VQ-007"));
}

struct RefusesInSeventeenBytes : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        answer.used_bytes += answer.used_bytes == header_bytes && answer.status() != Status::ok;
    }
};

struct RefusesUntidily : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.status() != Status::ok && answer.at(header_bytes) != nullptr) {
            *answer.at(header_bytes) = std::byte{0};
        }
    }
};

struct CallsEverythingUnsupported : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.status() == Status::invalid_argument) {
            answer.refuse(Status::unsupported);
        }
    }
};

TEST(DeviceTwins, that_refuse_a_payload_in_other_than_sixteen_bytes_are_named) {
    EXPECT_TRUE(names<RefusesInSeventeenBytes>("VQ-008"));
    EXPECT_TRUE(names<RefusesUntidily>("VQ-008"));
    EXPECT_TRUE(names<CallsEverythingUnsupported>("VQ-008"));
}

struct FindsOpcodesInvalid : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const std::uint16_t opcode = answer.links.header().opcode;
        if (answer.used_bytes != 0 && wire::command_index(opcode) == wire::command_count) {
            answer.refuse(Status::invalid_argument);
        }
    }
};

// Looks at the low bits only.
struct GuessesOpcodes : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (links.readable.size() == 1 && links.readable[0].size == header_bytes) {
            links.readable[0].data[0] &= std::byte{3};
        }
        return true;
    }
};

TEST(DeviceTwins, that_do_not_say_that_an_opcode_is_unknown_are_named) {
    EXPECT_TRUE(names<FindsOpcodesInvalid>("VQ-009"));
    EXPECT_TRUE(names<GuessesOpcodes>("VQ-009"));
}

// Clears a range of a request of `opcode`, as a device that does not look there.
template <Opcode opcode, std::size_t offset, std::size_t bytes>
struct DoesNotLookAt : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (is(links, opcode) && links.readable.size() == 1 &&
            links.readable[0].size >= offset + bytes) {
            std::fill_n(links.readable[0].data + offset, bytes, std::byte{0});
        }
        return true;
    }
};

TEST(DeviceTwins, that_do_not_look_at_a_flag_or_a_reserved_field_are_named) {
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::get_device_info, 2, 2>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::create_context, 16, 4>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::create_context, 20, 4>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::create_queue, 24, 4>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::create_queue, 28, 4>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::load_program, 28, 4>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::submit, 36, 4>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::allocate_buffer, 41, 1>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::allocate_buffer, 47, 1>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::allocate_buffer, 52, 4>>("VQ-010")));
    EXPECT_TRUE((names<DoesNotLookAt<Opcode::allocate_buffer, 51, 1>>("VQ-010")));
}

// Reads as much as it needs and ignores what follows, in the frame or in the payload.
template <bool in_payload>
struct IgnoresTheRest : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (links.readable.size() != 1 || links.readable[0].size < header_bytes) {
            return true;
        }
        const Piece& piece = links.readable[0];
        auto header = links.header();
        const std::size_t rest = piece.size - header_bytes - header.payload_bytes;
        const std::size_t cut = in_payload && header.payload_bytes % 8 == 1 ? 1 : 0;
        header.payload_bytes = static_cast<std::uint32_t>(header.payload_bytes - cut);
        std::memcpy(piece.data, &header, sizeof header);
        queue::Descriptor at = descriptor(links.head);
        at.bytes = static_cast<std::uint32_t>(at.bytes - (in_payload ? cut : rest));
        replace(links.head, at);
        return true;
    }
};

TEST(DeviceTwins, that_ignore_trailing_bytes_are_named) {
    EXPECT_TRUE(names<IgnoresTheRest<true>>("VQ-011"));
    EXPECT_TRUE(names<IgnoresTheRest<false>>("VQ-011"));
}

// ---- VQ-012, VQ-013: how much is written

// Does the work of one command before it sees that the answer does not fit.
template <Opcode opcode>
struct ActsBeforeItLooks : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (is(links, opcode) && links.writable.size() == 1 && links.writable[0].size < 24 &&
            links.writable[0].size >= header_bytes) {
            rooms_[links.head] = links.writable[0];
            queue::Descriptor at = descriptor(links.indices.back());
            at.address = std::bit_cast<std::uintptr_t>(room(24).data());
            at.bytes = 24;
            replace(links.indices.back(), at);
        }
        return true;
    }

    void after(Answer& answer) override {
        const auto found = rooms_.find(answer.links.head);
        if (found == rooms_.end()) {
            return;
        }
        if (answer.status() == Status::invalid_argument) {
            std::memcpy(found->second.data, answer.at(0), header_bytes);
        } else {
            answer.used_bytes = 0;
        }
        rooms_.erase(found);
    }

    std::map<std::uint16_t, Piece> rooms_;
};

struct RefusesShortRoom : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.used_bytes == 0 && answer.links.room_bytes() >= header_bytes &&
            answer.links.request().size() >= header_bytes) {
            answer.refuse(Status::resource_limit);
        }
    }
};

TEST(DeviceTwins, that_act_before_they_look_at_the_capacity_are_named) {
    EXPECT_TRUE(names<ActsBeforeItLooks<Opcode::create_context>>("VQ-012"));
    EXPECT_TRUE(names<ActsBeforeItLooks<Opcode::allocate_buffer>>("VQ-012"));
    EXPECT_TRUE(names<ActsBeforeItLooks<Opcode::load_program>>("VQ-012"));
    EXPECT_TRUE(names<ActsBeforeItLooks<Opcode::create_queue>>("VQ-012"));
    EXPECT_TRUE(names<ActsBeforeItLooks<Opcode::submit>>("VQ-012"));
    EXPECT_TRUE(names<RefusesShortRoom>("VQ-012"));
}

struct UsesAllRoom : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.used_bytes != 0) {
            answer.used_bytes = static_cast<std::uint32_t>(answer.links.room_bytes());
        }
    }
};

template <Opcode opcode>
struct TouchesOneByteMore : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, opcode) && answer.at(answer.used_bytes) != nullptr) {
            *answer.at(answer.used_bytes) = std::byte{0};
        }
    }
};

TEST(DeviceTwins, whose_used_length_is_not_exact_are_named) {
    EXPECT_TRUE(names<UsesAllRoom>("VQ-013"));
    EXPECT_TRUE(names<ForgetsTheLastByte>("VQ-013"));
    EXPECT_TRUE(names<TouchesOneByteMore<Opcode::get_device_info>>("VQ-013"));
    EXPECT_TRUE(names<TouchesOneByteMore<Opcode::read_buffer>>("VQ-013"));
    EXPECT_TRUE(names<TouchesOneByteMore<Opcode::poll_event>>("VQ-013"));
    EXPECT_TRUE(names<TouchesOneByteMore<Opcode::free_buffer>>("VQ-013"));
}

// ---- VQ-014 to VQ-017: queues

// Answers every second request of a batch under the name of the one before.
struct MixesUpIds : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const std::uint64_t id = answer.links.header().request_id;
        if (is(answer.links, Opcode::get_device_info) && last_ != 0 && id == last_ + 1) {
            const wire::le64 other = last_;
            answer.put(8, std::as_bytes(std::span{&other, 1}));
            last_ = 0;
            return;
        }
        last_ = id;
    }

    std::uint64_t last_ = 0;
};

struct WaitsForSlowLoads : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool hold_loads(bool held) override {
        held_ = held;
        RingDevice::hold_loads(held);
        if (!held) {
            kick();
        }
        return true;
    }

    bool before(const Links&) override { return !held_; }

    bool held_ = false;
};

TEST(DeviceTwins, that_mix_up_or_hold_up_completions_are_named) {
    EXPECT_TRUE(names<MixesUpIds>("VQ-014"));
    EXPECT_TRUE(names<WaitsForSlowLoads>("VQ-014"));
}

// Answers SUBMIT when its event has ended.
struct WaitsForEvents : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool hold_events(bool held) override {
        held_ = held;
        return RingDevice::hold_events(held);
    }

    bool before(const Links& links) override { return !held_ || !is(links, Opcode::submit); }

    bool held_ = false;
};

TEST(DeviceTwins, that_wait_for_the_event_of_a_submission_are_named) {
    EXPECT_TRUE(names<WaitsForEvents>("VQ-015"));
}

// Has room for fewer requests than its queue, and says so to the last of them.
struct IsBusyWhenFull : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void kick() override {
        served_ = 0;
        TamperingDevice::kick();
    }

    void after(Answer& answer) override {
        if (++served_ == 32) {
            answer.refuse(Status::busy);
        }
    }

    int served_ = 0;
};

struct LosesOneOfMany : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void kick() override {
        const queue::RingMemory& ring = driver().ring();
        const std::uint16_t before = ring.used_index();
        TamperingDevice::kick();
        if (static_cast<std::uint16_t>(ring.used_index() - before) == ring.size / 2) {
            ring.publish_used_index(static_cast<std::uint16_t>(ring.used_index() - 1));
        }
    }
};

TEST(DeviceTwins, that_cannot_stand_a_full_queue_are_named) {
    EXPECT_TRUE(names<IsBusyWhenFull>("VQ-016"));
    EXPECT_TRUE(names<LosesOneOfMany>("VQ-016"));
}

// Falls asleep without a second look.
struct SleepsAtOnce : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before_it_sleeps(void (*act)(void*), void* state) override {
        act_ = act;
        state_ = state;
        return true;
    }

    void kick() override {
        TamperingDevice::kick();
        if (act_ != nullptr) {
            std::exchange(act_, nullptr)(state_);
        }
    }

    void (*act_)(void*) = nullptr;
    void* state_ = nullptr;
};

struct NeverInterrupts : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    [[nodiscard]] std::uint64_t interrupts() const override { return 0; }
};

struct AlwaysInterrupts : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void kick() override {
        ++kicks_;
        TamperingDevice::kick();
    }

    [[nodiscard]] std::uint64_t interrupts() const override { return kicks_; }

    std::uint64_t kicks_ = 0;
};

TEST(DeviceTwins, that_lose_or_ignore_notifications_are_named) {
    EXPECT_TRUE(names<SleepsAtOnce>("VQ-017"));
    EXPECT_TRUE(names<NeverInterrupts>("VQ-017"));
    EXPECT_TRUE(names<AlwaysInterrupts>("VQ-017"));
}

// ---- VQ-018 to VQ-020: resets

// Goes on, after a reset, with what was offered before it.
template <bool completes, bool writes>
struct IsLate : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        last_ = links;
        return true;
    }

    [[nodiscard]] bool reset() override {
        const queue::RingMemory& ring = driver().ring();
        const std::uint16_t available = ring.available_index();
        if (available != 0) {
            last_ = links_of(ring.load_available(static_cast<std::uint16_t>(available - 1)));
        }
        late_ = last_;
        return TamperingDevice::reset();
    }

    void kick() override {
        TamperingDevice::kick();
        const queue::RingMemory& ring = driver().ring();
        if (late_ && ring.available_index() == 0) {
            if (writes && !late_->writable.empty()) {
                *late_->writable[0].data = std::byte{0};
            }
            if (completes) {
                ring.store_used(0, {.id = late_->head, .bytes = 24});
                ring.publish_used_index(1);
            }
        }
        late_.reset();
    }

    std::optional<Links> last_;
    std::optional<Links> late_;
};

TEST(DeviceTwins, that_are_late_after_a_reset_are_named) {
    EXPECT_TRUE((names<IsLate<true, false>>("VQ-018")));
    EXPECT_TRUE((names<IsLate<false, true>>("VQ-018")));
}

// Remembers request IDs for ever.
struct RemembersRequests : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const auto header = answer.links.header();
        const bool fresh = seen_.insert({header.opcode, header.request_id}).second;
        if (!fresh && is(answer.links, Opcode::get_device_info) && asked_twice_++ > 40) {
            answer.refuse(Status::invalid_argument);
        }
    }

    std::set<std::pair<std::uint16_t, std::uint64_t>> seen_;
    int asked_twice_ = 0;
};

// Gives out the same IDs again after each reset, or keeps all objects.
template <bool starts_over>
class ResetsWrongly final : public DeviceUnderTest {
  public:
    [[nodiscard]] wire::Config config() const override { return device_->config(); }

    [[nodiscard]] std::optional<std::uint32_t> exchange(std::span<const Piece> readable,
                                                        std::span<const Piece> writable) override {
        if (readable.empty() || writable.empty()) {
            return 0;
        }
        return device_->serve(PieceList::of(readable), PieceList::of(writable)).used_bytes;
    }

    [[nodiscard]] bool reset() override {
        if (starts_over) {
            device_ = fresh();
        }
        return true;
    }

  private:
    static std::optional<device::Device> fresh() {
        return *device::Device::make(host::heap(), *make_mock(nullptr), device_options());
    }

    std::optional<device::Device> device_ = fresh();
};

TEST(DeviceTwins, whose_names_outlive_a_reset_are_named) {
    EXPECT_TRUE(names<RemembersRequests>("VQ-019"));
    ResetsWrongly<true> starts_over;
    EXPECT_TRUE(names(run_on(starts_over), "VQ-019"));
    ResetsWrongly<false> goes_on;
    EXPECT_TRUE(names(run_on(goes_on), "VQ-019"));
}

struct HidesThatItIsLost : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    [[nodiscard]] std::optional<bool> needs_reset() const override { return false; }
};

// Forgets its loss with the first answer that says so.
struct GoesOnWhenLost : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.status() == Status::device_lost && is(answer.links, Opcode::get_device_info)) {
            const wire::DeviceInfo info;
            wire::ResponseHeader header;
            header.payload_bytes = static_cast<std::uint32_t>(sizeof info);
            header.request_id = std::uint64_t{answer.links.header().request_id};
            answer.put(0, std::as_bytes(std::span{&header, 1}));
            answer.put(sizeof header, std::as_bytes(std::span{&info, 1}));
            answer.used_bytes = sizeof header + sizeof info;
        }
    }
};

struct StaysLost : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    [[nodiscard]] bool reset() override {
        return RingDevice::needs_reset().value_or(false) || TamperingDevice::reset();
    }
};

TEST(DeviceTwins, that_do_not_stand_by_their_loss_are_named) {
    EXPECT_TRUE(names<HidesThatItIsLost>("VQ-020"));
    EXPECT_TRUE(names<GoesOnWhenLost>("VQ-020"));
    EXPECT_TRUE(names<StaysLost>("VQ-020"));
}

}  // namespace

}  // namespace virtaccel::conformance
