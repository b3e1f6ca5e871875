// Broken twins of a good device, each differing from it in one rule of VQ-012 to VQ-020, and the
// case that has to name the difference.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/testing/device_twins.h"
#include "virtaccel/conformance/testing/tampering_device.h"
#include "virtaccel/device/device.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance {

namespace {

using testing::Answer;
using testing::device_options;
using testing::ForgetsTheLastByte;
using testing::GoesOnWhenLost;
using testing::header_bytes;
using testing::is;
using testing::Links;
using testing::make_mock;
using testing::names;
using testing::TamperingDevice;
using wire::Opcode;

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

  private:
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

  private:
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

  private:
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

  private:
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

  private:
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

  private:
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

  private:
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

  private:
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
        if (!fresh && is(answer.links, Opcode::get_device_info)) {
            answer.refuse(Status::invalid_argument);
        }
    }

  private:
    std::set<std::pair<std::uint16_t, std::uint64_t>> seen_;
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
    EXPECT_TRUE(names(starts_over, "VQ-019"));
    ResetsWrongly<false> goes_on;
    EXPECT_TRUE(names(goes_on, "VQ-019"));
}

struct HidesThatItIsLost : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    [[nodiscard]] std::optional<bool> needs_reset() const override { return false; }
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
