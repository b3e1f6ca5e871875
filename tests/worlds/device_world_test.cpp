// All short lives of a whole device with few serials left: contexts and queues come, go, are lost
// and are reset away, by request frames, and an ID never names anything but what it was given for.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "tests/worlds/choices.h"
#include "tests/worlds/deeper.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/fault.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::worlds {
namespace {

using wire::Opcode;

struct Answer {
    Status status = Status::internal_error;
    std::uint64_t object_id = 0;
};

// An endpoint over a reference backend that loses a release when told to.
class SmallDevice {
  public:
    SmallDevice(std::uint64_t serials, std::uint32_t capacity)
        : capacity_(capacity), endpoint_(make(serials)) {}

    SmallDevice(const SmallDevice&) = delete;
    SmallDevice& operator=(const SmallDevice&) = delete;
    ~SmallDevice() = default;

    template <Opcode opcode>
    [[nodiscard]] Answer call(const wire::RequestOf<opcode>& record) {
        constexpr std::size_t record_bytes = wire::fixed_bytes<wire::RequestOf<opcode>>;
        wire::RequestHeader header;
        header.opcode = static_cast<std::uint16_t>(opcode);
        header.request_id = 1;
        header.payload_bytes = record_bytes;
        std::array<std::byte, sizeof header + record_bytes> request{};
        std::memcpy(request.data(), &header, sizeof header);
        std::memcpy(request.data() + sizeof header, &record, record_bytes);
        std::array<std::byte, 64> response{};
        const auto served = endpoint_->device().serve(request, response);
        EXPECT_GE(served.used_bytes, sizeof(wire::ResponseHeader));
        const auto reply = wire::load<wire::ResponseHeader>(response.data());
        Answer answer{.status = static_cast<Status>(std::uint16_t{reply.status})};
        if (answer.status == Status::ok && reply.payload_bytes == sizeof answer.object_id) {
            std::memcpy(&answer.object_id, response.data() + sizeof reply, sizeof(std::uint64_t));
        }
        return answer;
    }

    void lose_next(mock::Call call) {
        script_.fail_next(
            call, {.status = Status::device_lost, .certainty = backend::Certainty::indeterminate});
    }

    [[nodiscard]] bool reset() { return endpoint_->reset() != device::ResetAnswer::unavailable; }

  private:
    [[nodiscard]] std::optional<device::Endpoint> make(std::uint64_t serials) {
        device::Options options;
        options.config.chain_descriptors_max = 16;
        options.config.request_bytes_max = 4096;
        options.config.response_bytes_max = 4096;
        options.policy = {.buffer_bytes_max = 4096, .program_resident_bytes_max = 4096};
        options.first_serial = device::serial_end - serials;
        auto endpoint = device::Endpoint::make(
            host::heap(),
            {.state = this,
             .make = [](void* self) { return static_cast<SmallDevice*>(self)->make_backend(); }},
            options);
        EXPECT_TRUE(endpoint.has_value());
        return endpoint ? std::optional{*std::move(endpoint)} : std::nullopt;
    }

    [[nodiscard]] Result<backend::AnyBackend> make_backend() {
        mock::ReferenceOptions options;
        options.identity.limits.contexts = capacity_;
        options.identity.limits.queues_per_context = capacity_;
        VIRTACCEL_TRY_ASSIGN(backend::AnyBackend inner, backend::make_owned<mock::Reference>(
                                                            host::heap(), host::heap(), options));
        return backend::make_owned<mock::FaultBackend>(host::heap(), script_, std::move(inner));
    }

    std::uint32_t capacity_;
    mock::Script script_;
    std::optional<device::Endpoint> endpoint_;
};

// What a guest knows of the objects it was given.
struct Object {
    bool is_queue = false;
    bool is_live = true;
    std::uint64_t raw_id = 0;
    std::size_t context = 0;  // of a queue
};

class Play {
  public:
    Play(std::uint64_t serials, std::uint32_t capacity)
        : serials_(serials), capacity_(capacity), device_(serials, capacity) {}

    // One action; false if the device answers otherwise than it must.
    [[nodiscard]] bool act(Choices& choices) {
        const auto count = static_cast<std::uint32_t>(objects_.size());
        const std::uint32_t choice = choices.among(2 + 3 * count);
        if (choice == 0) {
            return create_context() && probe();
        }
        if (choice == 1) {
            std::ranges::for_each(objects_, [](Object& object) { object.is_live = false; });
            is_lost_ = false;
            return device_.reset() && probe();
        }
        const std::size_t which = (choice - 2) / 3;
        switch ((choice - 2) % 3) {
            case 0:
                return create_queue(which) && probe();
            case 1:
                return destroy(which, false) && probe();
            default:
                return destroy(which, true) && probe();
        }
    }

    [[nodiscard]] std::uint64_t calls() const { return calls_; }

    [[nodiscard]] std::uint64_t refused() const { return refused_; }

  private:
    // The queues that live in a context, or the contexts.
    [[nodiscard]] std::size_t live(std::optional<std::size_t> context) const {
        return static_cast<std::size_t>(std::ranges::count_if(objects_, [&](const Object& object) {
            return object.is_live && object.is_queue == context.has_value() &&
                   (!context || object.context == *context);
        }));
    }

    [[nodiscard]] bool agree(const Answer& answer, Status expected) {
        ++calls_;
        return answer.status == (is_lost_ ? Status::device_lost : expected);
    }

    [[nodiscard]] bool created(const Answer& answer, Status expected, const Object& object) {
        if (!agree(answer, expected)) {
            return false;
        }
        refused_ += answer.status == Status::resource_limit ? 1U : 0U;
        if (answer.status != Status::ok) {
            return true;
        }
        objects_.push_back(object);
        objects_.back().raw_id = answer.object_id;
        return static_cast<std::uint32_t>(answer.object_id) != 0 &&
               ids_.insert(answer.object_id).second;
    }

    [[nodiscard]] Status room_for(std::size_t siblings) const {
        const bool fits = siblings < capacity_ && objects_.size() < serials_;
        return fits ? Status::ok : Status::resource_limit;
    }

    [[nodiscard]] bool create_context() {
        const Status expected = room_for(live(std::nullopt));
        return created(device_.call<Opcode::create_context>({}), expected, {});
    }

    // In a context, dead or alive, or in what is none.
    [[nodiscard]] bool create_queue(std::size_t which) {
        const Object& home = objects_[which];
        const bool is_home = !home.is_queue && home.is_live;
        const Status expected = is_home ? room_for(live(which)) : Status::stale_object;
        return created(device_.call<Opcode::create_queue>({ContextId{home.raw_id}, 0U, 0U}),
                       expected, {.is_queue = true, .context = which});
    }

    [[nodiscard]] bool destroy(std::size_t which, bool loses) {
        Object& object = objects_[which];
        const bool is_used = !object.is_queue && live(which) != 0;
        Status expected = is_used ? Status::busy : Status::ok;
        if (!object.is_live) {
            expected = Status::stale_object;
        }
        if (is_lost_ || expected != Status::ok) {
            return agree(destroy_by_id(object.is_queue, object.raw_id), expected);
        }
        object.is_live = false;
        if (loses) {
            device_.lose_next(object.is_queue ? mock::Call::destroy_queue
                                              : mock::Call::destroy_context);
            is_lost_ = true;
        }
        return agree(destroy_by_id(object.is_queue, object.raw_id), Status::ok);
    }

    [[nodiscard]] Answer destroy_by_id(bool as_queue, std::uint64_t raw_id) {
        return as_queue ? device_.call<Opcode::destroy_queue>({QueueId{raw_id}})
                        : device_.call<Opcode::destroy_context>({ContextId{raw_id}});
    }

    // No ID names an object of the other kind, and a dead one names none of its own.
    [[nodiscard]] bool probe() {
        return std::ranges::all_of(objects_, [this](const Object& object) {
            return agree(destroy_by_id(!object.is_queue, object.raw_id), Status::stale_object) &&
                   (object.is_live ||
                    agree(destroy_by_id(object.is_queue, object.raw_id), Status::stale_object));
        });
    }

    std::uint64_t serials_;
    std::uint32_t capacity_;
    SmallDevice device_;
    std::vector<Object> objects_;
    std::set<std::uint64_t> ids_;
    bool is_lost_ = false;
    std::uint64_t calls_ = 0;
    std::uint64_t refused_ = 0;
};

void expect_right(std::uint64_t serials, std::uint32_t capacity, std::uint32_t actions) {
    std::uint64_t sequences = 0;
    std::uint64_t calls = 0;
    std::uint64_t refused = 0;
    bool is_right = true;
    Choices choices;
    do {
        Play play{serials, capacity};
        for (std::uint32_t i = 0; i < actions && is_right; ++i) {
            is_right = play.act(choices);
        }
        ++sequences;
        calls += play.calls();
        refused += play.refused();
    } while (is_right && choices.advance());
    EXPECT_TRUE(is_right);
    EXPECT_GT(refused, 0U);
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::cout << test->name() << ": " << sequences << " sequences, " << calls
              << " requests answered, " << refused << " creations refused\n";
}

TEST(SmallDevices, answer_every_short_life_as_their_ids_say) {
    expect_right(100, 1, deeper(5U));
}

TEST(SmallDevices, refuse_when_their_serials_end) {
    expect_right(2, 2, deeper(5U));
}

}  // namespace
}  // namespace virtaccel::worlds
