// Broken twins of a good device, each differing from it in one rule of VQ-001 to VQ-011, and the
// case that has to name the difference.

#include "virtaccel/conformance/testing/device_twins.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <ranges>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/testing/tampering_device.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::conformance {

namespace {

using testing::Answer;
using testing::device_options;
using testing::ForgetsTheLastByte;
using testing::header_bytes;
using testing::is;
using testing::Links;
using testing::make_mock;
using testing::names;
using testing::run_on;
using testing::TamperingDevice;
using wire::Opcode;

TEST(DeviceTwins, pass_every_case_when_nobody_tampers) {
    TamperingDevice device{host::heap(),
                           {.state = nullptr, .make = make_mock},
                           {.queue_size = 64, .device = device_options()}};
    for (const CaseResult& result : run_on(device)) {
        EXPECT_NE(result.outcome, Outcome::failed) << result.name << ": " << result.reason;
    }
}

// ---- VQ-001 to VQ-003: frames in descriptors

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
        for (const bool writable : {false, true}) {
            std::ranges::copy_if(
                links.indices | std::views::transform([&](auto i) { return descriptor(i); }),
                std::back_inserter(sorted), [&](const queue::Descriptor& d) {
                    return ((d.flags & queue::descriptor_write) != 0) == writable;
                });
        }
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

}  // namespace

}  // namespace virtaccel::conformance
