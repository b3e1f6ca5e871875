// Broken twins of a good device, each differing from it in one rule about objects, what they hold,
// and how they end; and the case that has to name the difference.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/testing/device_twins.h"
#include "virtaccel/conformance/testing/tampering_device.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance {

namespace {

using testing::Answer;
using testing::header_bytes;
using testing::is;
using testing::Links;
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

std::uint64_t id_in(const Answer& answer) {
    wire::le64 id;
    for (std::size_t i = 0; i < sizeof id; ++i) {
        id.bytes.at(i) = std::to_integer<std::uint8_t>(*answer.at(header_bytes + i));
    }
    return id;
}

// ---- names and what keeps them

// Calls every queue by the name of the first.
struct ReusesANameAtOnce : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (is(links, Opcode::destroy_queue) && real_ != 0) {
            const wire::le64 real = real_;
            std::memcpy(links.readable[0].data + header_bytes, &real, sizeof real);
        }
        return true;
    }

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::create_queue) && answer.is(ok)) {
            real_ = id_in(answer);
            first_ = first_ == 0 ? real_ : first_;
            const wire::le64 first = first_;
            answer.put(header_bytes, std::as_bytes(std::span{&first, 1}));
        }
    }

  private:
    std::uint64_t first_ = 0;
    std::uint64_t real_ = 0;
};

// Gives a buffer the name of its context.
struct NamesTwoThingsAlike : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::allocate_buffer) && answer.is(ok)) {
            const wire::le64 context = answer.asked<wire::AllocateBuffer>().context_id.raw;
            answer.put(header_bytes, std::as_bytes(std::span{&context, 1}));
        }
    }
};

TEST(RuleTwins, that_give_a_name_twice_are_named) {
    EXPECT_TRUE(names<ReusesANameAtOnce>("object.ids-come-once"));
    EXPECT_TRUE(names<ReusesANameAtOnce>("reset.new-ids-are-new"));
    EXPECT_TRUE(names<NamesTwoThingsAlike>("object.live-ids-differ"));
}

TEST(RuleTwins, that_let_go_of_what_is_in_use_are_named) {
    using Careless = Says<Opcode::destroy_context, busy, ok>;
    EXPECT_TRUE(names<Careless>("destroy-context.busy-with-queue"));
    EXPECT_TRUE(names<Careless>("destroy-context.busy-with-buffer"));
    EXPECT_TRUE(names<Careless>("destroy-context.busy-with-program"));
    EXPECT_TRUE(names<Careless>("destroy-context.busy-with-event"));
    EXPECT_TRUE((names<Says<Opcode::free_buffer, busy, ok>>("free-buffer.busy-with-event")));
    EXPECT_TRUE((names<Says<Opcode::unload_program, busy, ok>>("unload-program.busy-with-event")));
    EXPECT_TRUE((names<Says<Opcode::destroy_queue, busy, ok>>("destroy-queue.busy-with-event")));
    EXPECT_TRUE((names<Says<Opcode::free_buffer, busy, ok>>("destroy-event.each-keeps-its-own")));
    EXPECT_TRUE((names<Says<Opcode::free_buffer, busy, ok>>("submit.pending-keeps-everything")));
    EXPECT_TRUE((names<Says<Opcode::destroy_event, busy, ok>>("destroy-event.pending-is-busy")));
}

TEST(RuleTwins, that_remember_what_is_gone_are_named) {
    EXPECT_TRUE((names<Says<Opcode::create_queue, stale, ok>>("destroy-context.ends-its-id")));
    EXPECT_TRUE((names<Says<Opcode::read_buffer, stale, ok>>("free-buffer.ends-its-id")));
    EXPECT_TRUE((names<Says<Opcode::unload_program, stale, ok>>("unload-program.ends-its-id")));
    EXPECT_TRUE((names<Says<Opcode::destroy_queue, stale, ok>>("destroy-queue.ends-its-id")));
    EXPECT_TRUE((names<Says<Opcode::poll_event, stale, invalid>>("destroy-event.ends-its-id")));
}

// The end of a context is the end of every buffer's contents.
struct ForgetsEverything : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        ended_ = ended_ || (is(answer.links, Opcode::destroy_context) && answer.is(ok));
        if (ended_ && is(answer.links, Opcode::read_buffer) && answer.is(ok)) {
            *answer.at(header_bytes) = std::byte{0};
        }
    }

  private:
    bool ended_ = false;
};

TEST(RuleTwins, that_mix_up_contexts_are_named) {
    EXPECT_TRUE(names<ForgetsEverything>("object.contexts-are-apart"));
    using Mixing = Says<Opcode::submit, stale, incompatible>;
    EXPECT_TRUE(names<Mixing>("submit.queue-of-another-context"));
    EXPECT_TRUE(names<Mixing>("submit.program-of-another-context"));
    EXPECT_TRUE(names<Mixing>("submit.buffer-of-another-context"));
}

// ---- quotas

// Stops one object before the end.
template <Opcode opcode, std::uint32_t quota>
struct StopsBeforeTheEnd : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, opcode) && answer.is(ok) && ++made_ == quota) {
            answer.refuse(limit);
        }
    }

  private:
    std::uint32_t made_ = 0;
};

// Judges the ranges of a submission before it counts events.
struct JudgesRangesFirst : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const auto binding = answer.asked<wire::Binding>(sizeof(wire::Submit));
        if (is(answer.links, Opcode::submit) && answer.is(limit) && binding.offset > 4096) {
            answer.refuse(Status::out_of_bounds);
        }
    }
};

TEST(RuleTwins, that_count_otherwise_than_they_say_are_named) {
    EXPECT_TRUE((names<StopsBeforeTheEnd<Opcode::create_context, 64>>("create-context.quota")));
    EXPECT_TRUE((names<StopsBeforeTheEnd<Opcode::create_queue, 16>>("create-queue.quota")));
    EXPECT_TRUE((names<StopsBeforeTheEnd<Opcode::load_program, 256>>("load-program.quota")));
    EXPECT_TRUE((names<Says<Opcode::allocate_buffer, limit, busy>>("allocate-buffer.quota")));
    EXPECT_TRUE(names<JudgesRangesFirst>("submit.quota"));
    EXPECT_TRUE((names<StopsBeforeTheEnd<Opcode::create_context, 64>>("reset.quotas-are-back")));
}

// ---- buffers

struct ShowsOldBytes : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::write_buffer)) {
            written_ = true;
        }
        if (written_ && is(answer.links, Opcode::read_buffer) && answer.is(ok) &&
            *answer.at(header_bytes) == std::byte{0}) {
            *answer.at(header_bytes) = std::byte{0x77};
        }
    }

  private:
    bool written_ = false;
};

TEST(RuleTwins, that_show_what_is_not_there_are_named) {
    EXPECT_TRUE(names<ShowsOldBytes>("allocate-buffer.fresh-is-zero"));
    EXPECT_TRUE(names<ShowsOldBytes>("reset.old-bytes-are-gone"));
}

// Does not give every buffer that it promises.
template <auto unwanted>
struct IsChoosy : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::allocate_buffer) && answer.is(ok) &&
            unwanted(answer.asked<wire::AllocateBuffer>())) {
            answer.refuse(Status::out_of_memory);
        }
    }
};

constexpr auto state_only = [](const wire::AllocateBuffer& r) { return r.usage == 0x10; };
constexpr auto whole_lines = [](const wire::AllocateBuffer& r) { return r.alignment == 64; };
constexpr auto shared_ones = [](const wire::AllocateBuffer& r) { return r.memory_domain == 3; };
constexpr auto large_ones = [](const wire::AllocateBuffer& r) { return r.bytes >= 4096; };

TEST(RuleTwins, that_do_not_give_what_they_promise_are_named) {
    EXPECT_TRUE(names<IsChoosy<state_only>>("allocate-buffer.every-usage"));
    EXPECT_TRUE(names<IsChoosy<whole_lines>>("allocate-buffer.every-alignment"));
    EXPECT_TRUE(names<IsChoosy<shared_ones>>("allocate-buffer.every-domain"));
    EXPECT_TRUE(names<IsChoosy<large_ones>>("allocate-buffer.largest"));
}

// Moves a write that starts at an odd place to the place before.
struct WritesAtEvenPlaces : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (is(links, Opcode::write_buffer) && links.readable.size() == 1) {
            links.readable[0].data[header_bytes + 8] &= std::byte{0xfe};
        }
        return true;
    }
};

// Writes as much as fits, and says then that it did not fit.
struct WritesWhatFits : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (!is(links, Opcode::write_buffer) || links.readable.size() != 1) {
            return true;
        }
        const Piece& piece = links.readable[0];
        auto write = wire::load<wire::WriteBuffer>(piece.data + header_bytes);
        if (write.offset + write.bytes > 16 && write.offset < 16) {
            write.bytes = 16 - write.offset;
            const Bytes data{piece.data + header_bytes + sizeof write,
                             piece.data + header_bytes + sizeof write + write.bytes};
            const Bytes frame = frame_of(Opcode::write_buffer, links.header().request_id,
                                         Caller::payload_of(write, data));
            std::ranges::copy(frame, piece.data);
            queue::Descriptor at = descriptor(links.head);
            at.bytes = static_cast<std::uint32_t>(frame.size());
            replace(links.head, at);
            cut_ = true;
        }
        return true;
    }

    void after(Answer& answer) override {
        if (std::exchange(cut_, false)) {
            answer.refuse(Status::out_of_bounds);
        }
    }

  private:
    bool cut_ = false;
};

// Every buffer shows what was written last, wherever.
struct HasOneBuffer : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::write_buffer) && answer.is(ok)) {
            last_ = answer.links.request().at(header_bytes + sizeof(wire::WriteBuffer));
        }
        if (is(answer.links, Opcode::read_buffer) && answer.is(ok)) {
            *answer.at(header_bytes) = last_;
        }
    }

  private:
    std::byte last_{0};
};

// A transfer that is BUSY is told what is wrong with its range.
struct LooksAtRangesFirst : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const bool moves =
            is(answer.links, Opcode::write_buffer) || is(answer.links, Opcode::read_buffer);
        if (moves && answer.is(busy) && answer.asked<wire::ReadBuffer>().offset > 99) {
            answer.refuse(Status::out_of_bounds);
        }
    }
};

struct CountsResponsesTwice : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::read_buffer) && answer.is(Status::out_of_bounds) &&
            answer.asked<wire::ReadBuffer>().bytes > 4096) {
            answer.refuse(limit);
        }
    }
};

TEST(RuleTwins, that_move_bytes_otherwise_are_named) {
    EXPECT_TRUE(names<WritesAtEvenPlaces>("write-buffer.every-range"));
    EXPECT_TRUE(names<WritesWhatFits>("write-buffer.refused-changes-nothing"));
    EXPECT_TRUE(names<HasOneBuffer>("write-buffer.touches-no-other"));
    EXPECT_TRUE((names<Says<Opcode::write_buffer, ok, Status::permission_denied>>(
        "write-buffer.one-direction")));
    EXPECT_TRUE(names<LooksAtRangesFirst>("write-buffer.busy-with-event"));
    EXPECT_TRUE(names<CountsResponsesTwice>("read-buffer.largest-response"));
}

// ---- programs

// A load that failed is in the way of its context.
struct KeepsWhatFailed : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const bool makes =
            is(answer.links, Opcode::load_program) || is(answer.links, Opcode::submit);
        failed_ = failed_ || (makes && !answer.is(ok));
        if (failed_ && is(answer.links, Opcode::destroy_context) && answer.is(ok)) {
            answer.refuse(busy);
        }
    }

  private:
    bool failed_ = false;
};

// Knows an artifact again and gives its program out once more.
struct LoadsOnce : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::load_program) && answer.is(ok)) {
            first_ = first_ == 0 ? id_in(answer) : first_;
            const wire::le64 first = first_;
            answer.put(header_bytes, std::as_bytes(std::span{&first, 1}));
        }
    }

  private:
    std::uint64_t first_ = 0;
};

// Runs a program once.
struct RunsOnce : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, Opcode::submit) && answer.is(ok) && ++runs_ > 1) {
            answer.refuse(incompatible);
        }
    }

  private:
    int runs_ = 0;
};

TEST(RuleTwins, that_load_otherwise_are_named) {
    EXPECT_TRUE((names<Says<Opcode::load_program, Status::unsupported, incompatible>>(
        "load-program.other-format")));
    EXPECT_TRUE(
        (names<Says<Opcode::load_program, incompatible, invalid>>("load-program.other-target")));
    EXPECT_TRUE(names<KeepsWhatFailed>("load-program.failure-keeps-nothing"));
    EXPECT_TRUE(names<LoadsOnce>("load-program.same-artifact-twice"));
    EXPECT_TRUE(names<RunsOnce>("load-program.runs-again"));
    EXPECT_TRUE((names<Says<Opcode::load_program, invalid, limit>>("load-program.largest")));
}

// ---- submissions

// Judges bindings as they come: what it says of two of them is the other one's.
struct JudgesAsTheyCome : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const auto first = answer.asked<wire::Binding>(sizeof(wire::Submit));
        const auto second =
            answer.asked<wire::Binding>(sizeof(wire::Submit) + sizeof(wire::Binding));
        if (!is(answer.links, Opcode::submit) || first.slot <= second.slot) {
            return;
        }
        if (answer.is(Status::permission_denied)) {
            answer.refuse(Status::out_of_bounds);
        } else if (answer.is(Status::out_of_bounds)) {
            answer.refuse(Status::permission_denied);
        } else if (answer.is(ok)) {
            answer.refuse(incompatible);
        }
    }
};

// Binds whole buffers, wherever a range begins.
struct IgnoresOffsets : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (is(links, Opcode::submit) && links.readable.size() == 1) {
            const std::size_t first = header_bytes + sizeof(wire::Submit);
            for (std::size_t at = first; at < links.readable[0].size; at += sizeof(wire::Binding)) {
                std::fill_n(links.readable[0].data + at + 8, 8, std::byte{0});
            }
        }
        return true;
    }
};

struct HasNoTime : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const std::uint64_t timeout = answer.asked<wire::Submit>().timeout_ns;
        if (is(answer.links, Opcode::submit) && answer.is(ok) && timeout != 0) {
            answer.refuse(timeout == 1 ? invalid : Status::deadline_expired);
        }
    }
};

TEST(RuleTwins, that_submit_otherwise_are_named) {
    using Lenient = Says<Opcode::submit, Status::permission_denied, incompatible>;
    EXPECT_TRUE(names<Lenient>("submit.usage-to-read"));
    EXPECT_TRUE(names<Lenient>("submit.usage-to-write"));
    EXPECT_TRUE(names<Lenient>("submit.usage-to-do-both"));
    EXPECT_TRUE(names<JudgesAsTheyCome>("submit.judged-in-slot-order"));
    EXPECT_TRUE(names<JudgesAsTheyCome>("submit.any-order"));
    EXPECT_TRUE((names<Says<Opcode::submit, incompatible, limit>>("submit.most-bindings")));
    EXPECT_TRUE(names<KeepsWhatFailed>("submit.rejected-keeps-nothing"));
    EXPECT_TRUE(names<IgnoresOffsets>("submit.touches-its-ranges"));
    EXPECT_TRUE(names<IgnoresOffsets>("submit.ends-at-the-end"));
    EXPECT_TRUE(names<HasNoTime>("submit.longest-timeout"));
    EXPECT_TRUE(names<HasNoTime>("submit.shortest-timeout"));
}

// ---- events

// Shows an event as something else from the `from`th look on.
template <int from, EventPhase phase>
struct ChangesItsMind : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        const bool terminal = answer.is(ok) && is(answer.links, Opcode::poll_event) &&
                              *answer.at(header_bytes) != std::byte{0};
        if (terminal && ++looks_[answer.asked<wire::Object<EventKind>>().object_id.raw] >= from) {
            *answer.at(header_bytes) = static_cast<std::byte>(phase);
        }
    }

  private:
    std::map<std::uint64_t, int> looks_;
};

// One event's end is every event's end.
struct EndsThemAll : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        ended_ = ended_ || (is(answer.links, Opcode::destroy_event) && answer.is(ok));
        if (ended_ && is(answer.links, Opcode::poll_event) && answer.is(ok)) {
            answer.refuse(stale);
        }
    }

  private:
    bool ended_ = false;
};

TEST(RuleTwins, whose_events_do_not_stay_as_they_are_are_named) {
    EXPECT_TRUE(
        (names<ChangesItsMind<3, EventPhase::cancelled>>("poll-event.terminal-never-changes")));
    EXPECT_TRUE(
        (names<ChangesItsMind<1, EventPhase::cancelled>>("poll-event.complete-without-error")));
    EXPECT_TRUE(names<EndsThemAll>("poll-event.each-its-own"));
    EXPECT_TRUE((names<Says<Opcode::cancel_event, busy, ok>>("cancel-event.terminal-is-busy")));
    EXPECT_TRUE((names<ChangesItsMind<3, EventPhase::complete>>("cancel-event.decides-once")));
    EXPECT_TRUE((names<ChangesItsMind<3, EventPhase::complete>>("cancel-event.pending")));
}

// ---- resets

// Says that it has reset itself.
struct OnlySaysThatItResets : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    [[nodiscard]] bool reset() override { return true; }
};

// Cannot do much after its second reset.
struct TiresOfResets : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    [[nodiscard]] bool reset() override {
        ++resets_;
        return TamperingDevice::reset();
    }

    void after(Answer& answer) override {
        if (resets_ > 1 && is(answer.links, Opcode::submit) && answer.is(ok)) {
            answer.refuse(Status::internal_error);
        }
    }

  private:
    int resets_ = 0;
};

TEST(RuleTwins, whose_resets_are_none_are_named) {
    EXPECT_TRUE(names<OnlySaysThatItResets>("reset.quotas-are-back"));
    EXPECT_TRUE(names<OnlySaysThatItResets>("reset.old-ids-stay-stale"));
    EXPECT_TRUE(names<OnlySaysThatItResets>("reset.with-work-under-way"));
    EXPECT_TRUE(names<TiresOfResets>("reset.again-and-again"));
}

}  // namespace

}  // namespace virtaccel::conformance
