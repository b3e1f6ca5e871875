// A device may write what it likes into what it shares with its guest, and reaches nothing else
// with it. Elsewhere an ID out of the used ring indexed an array, a used length was believed, one
// head was completed twice and freed twice, and the free list was walked through descriptors that
// the device had changed.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::known_faults {
namespace {

using guest::Chain;
using guest::Client;
using guest::FailureKind;
using queue::Descriptor;
using wire::Opcode;

constexpr std::uint32_t info_bytes = sizeof(wire::ResponseHeader) + sizeof(wire::DeviceInfo);

wire::Config config() {
    wire::Config config;
    config.chain_descriptors_max = 8;
    config.request_bytes_max = 4096;
    config.response_bytes_max = 4096;
    return config;
}

// A client of `driver`, once that is started on `ring`.
Client make_client(queue::DriverRing& driver, const queue::RingMemory& ring) {
    VIRTACCEL_CHECK(driver.start(ring).has_value());
    auto client = Client::make(driver, config(), host::heap());
    VIRTACCEL_CHECK(client.has_value());
    return *std::move(client);
}

Chain make_chain() {
    auto chain = Chain::make(host::heap(), Chain::control_bytes);
    VIRTACCEL_CHECK(chain.has_value());
    return *std::move(chain);
}

// What a device answers to GET_DEVICE_INFO.
struct Answer {
    wire::ResponseHeader header;
    wire::DeviceInfo info;
};

// A client on a ring of eight, with two GET_DEVICE_INFO on their way to a device that is the test.
class HostileDevice {
  public:
    // As many requests as the ring has room for; this many are on their way at first.
    static constexpr std::size_t requests_max = 4;
    static constexpr std::size_t requests = 2;

    HostileDevice() {
        for (std::size_t i = 0; i < requests; ++i) {
            VIRTACCEL_CHECK(client_.get_device_info(chains_[i]).has_value());
            heads[i] = device.next_available().value_or(0xffff);
        }
    }

    HostileDevice(const HostileDevice&) = delete;
    HostileDevice& operator=(const HostileDevice&) = delete;

    // Nothing is in flight when the client ends.
    ~HostileDevice() { reset(); }

    // The right answer to the request at `head`.
    [[nodiscard]] Answer answer_to(std::uint16_t head) const {
        const Descriptor request = ring_.load_descriptor(head);
        wire::RequestHeader header;
        std::memcpy(&header, pointer(request), sizeof header);
        DeviceIdentity identity;
        identity.capabilities = CapabilityBit::host_visible_memory;
        identity.limits = {.contexts = 1,
                           .buffers_per_context = 1,
                           .programs_per_context = 1,
                           .queues_per_context = 1,
                           .events_per_context = 1,
                           .bindings_per_submission = 1,
                           .buffer_bytes = 1,
                           .artifact_bytes = 1};
        Answer answer{.header = {}, .info = wire::to_record(identity)};
        answer.header.payload_bytes = sizeof answer.info;
        answer.header.request_id = header.request_id;
        return answer;
    }

    // Writes an answer to the request at `head`, without completing it.
    void write(std::uint16_t head, const Answer& answer) const {
        const Descriptor response = ring_.load_descriptor(ring_.load_descriptor(head).next);
        std::memcpy(pointer(response), &answer, sizeof answer);
    }

    // Writes the right answer and completes the request.
    void answer(std::uint16_t head) {
        write(head, answer_to(head));
        device.use({.id = head, .bytes = info_bytes});
    }

    // Takes all completions, and counts for each request how often it ended and how.
    void take_completions() {
        for (int taken = 0; taken < 100; ++taken) {
            Chain* const chain = client_.next();
            if (chain == nullptr) {
                return;
            }
            const auto index = static_cast<std::size_t>(chain - chains_.data());
            ASSERT_LT(index, requests_max);
            const auto result = client_.result<Opcode::get_device_info>(*chain);
            endings[index].push_back(result ? std::nullopt : std::optional{result.error().kind});
        }
        FAIL() << "the client never runs out of completions";
    }

    void reset() {
        client_.begin_reset();
        driver_.reset();
        EXPECT_EQ(client_.finish_reset(config()), Status::ok);
        device = queue::testing::RawDevice{ring_};
        take_completions();
    }

    // The device broke a rule: the client asks for recovery, every request has ended at most once,
    // and after a reset each has ended exactly once and the next one is answered.
    void expect_recovery() {
        take_completions();
        EXPECT_TRUE(client_.needs_reset());
        EXPECT_LE(endings[0].size(), 1U);
        EXPECT_LE(endings[1].size(), 1U);
        Chain more = make_chain();
        const auto refused = client_.get_device_info(more);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().kind, FailureKind::recovery_required);
        reset();
        EXPECT_EQ(endings[0].size(), 1U);
        EXPECT_EQ(endings[1].size(), 1U);
        expect_service();
    }

    // Every request of a full ring is answered.
    void expect_service() {
        for (int round = 0; round < 4; ++round) {
            endings = {};
            for (Chain& chain : chains_) {
                ASSERT_TRUE(client_.get_device_info(chain).has_value());
            }
            for (std::size_t i = 0; i < requests_max; ++i) {
                const auto head = device.next_available();
                ASSERT_TRUE(head.has_value());
                answer(*head);
            }
            take_completions();
            for (const auto& ending : endings) {
                ASSERT_EQ(ending, (std::vector<std::optional<FailureKind>>{std::nullopt}));
            }
        }
    }

    [[nodiscard]] const Client& client() const { return client_; }

    [[nodiscard]] const queue::RingMemory& ring() const { return ring_; }

  private:
    [[nodiscard]] static std::byte* pointer(const Descriptor& descriptor) {
        return std::bit_cast<std::byte*>(static_cast<std::uintptr_t>(descriptor.address));
    }

    static constexpr std::uint32_t size = 8;

    queue::testing::GuestRam ram_{host::heap(), 1};
    queue::RingMemory ring_ = queue::ring_at(ram_.bytes().data(), queue::lay_out_ring(size));
    queue::DriverRing driver_{host::heap(), {.chain_descriptors_max = 8}};
    std::array<Chain, requests_max> chains_{make_chain(), make_chain(), make_chain(), make_chain()};
    Client client_ = make_client(driver_, ring_);

  public:
    queue::testing::RawDevice device{ring_};
    std::array<std::uint16_t, requests> heads{};
    // How the requests ended: without a failure, or with one of a kind.
    std::array<std::vector<std::optional<FailureKind>>, requests_max> endings;
};

TEST(HostileDevices, that_use_heads_which_are_none_ask_for_recovery) {
    for (const std::uint32_t id : {8U, 255U, 65'535U, 65'536U, 0x7fff'ffffU, 0xffff'ffffU}) {
        HostileDevice machine;
        machine.device.use({.id = id, .bytes = info_bytes});
        machine.expect_recovery();
    }
}

TEST(HostileDevices, that_use_heads_which_were_never_posted_ask_for_recovery) {
    HostileDevice machine;
    machine.device.use({.id = 6, .bytes = info_bytes});
    machine.expect_recovery();
}

TEST(HostileDevices, that_use_a_descriptor_inside_a_chain_ask_for_recovery) {
    HostileDevice machine;
    const auto inside = machine.ring().load_descriptor(machine.heads[0]).next;
    machine.device.use({.id = inside, .bytes = info_bytes});
    machine.expect_recovery();
}

TEST(HostileDevices, that_use_a_head_twice_end_its_request_once) {
    HostileDevice machine;
    machine.answer(machine.heads[0]);
    machine.answer(machine.heads[0]);
    machine.take_completions();
    ASSERT_EQ(machine.endings[0].size(), 1U);
    EXPECT_EQ(machine.endings[0][0], std::nullopt);
    machine.expect_recovery();
}

TEST(HostileDevices, that_lie_about_the_used_length_ask_for_recovery) {
    for (const std::uint32_t used :
         {0U, 15U, 16U, info_bytes - 1, info_bytes + 1, 0x8000'0000U, 0xffff'ffffU}) {
        HostileDevice machine;
        machine.write(machine.heads[0], machine.answer_to(machine.heads[0]));
        machine.device.use({.id = machine.heads[0], .bytes = used});
        machine.expect_recovery();
    }
}

TEST(HostileDevices, that_forge_a_response_header_ask_for_recovery) {
    const std::function<void(wire::ResponseHeader&)> forgeries[] = {
        [](wire::ResponseHeader& header) { header.request_id = header.request_id + 1; },
        [](wire::ResponseHeader& header) { header.request_id = 0; },
        [](wire::ResponseHeader& header) { header.payload_bytes = 0xffff'ffff; },
        [](wire::ResponseHeader& header) { header.payload_bytes = 0; },
        [](wire::ResponseHeader& header) { header.flags = 1; },
    };
    for (const auto& forge : forgeries) {
        HostileDevice machine;
        auto answer = machine.answer_to(machine.heads[0]);
        forge(answer.header);
        machine.write(machine.heads[0], answer);
        machine.device.use({.id = machine.heads[0], .bytes = info_bytes});
        machine.expect_recovery();
    }
}

TEST(HostileDevices, that_move_the_used_index_ahead_ask_for_recovery) {
    for (const std::uint16_t ahead : std::to_array<std::uint16_t>({3, 8, 9, 40'000, 65'535})) {
        HostileDevice machine;
        machine.ring().publish_used_index(ahead);
        machine.expect_recovery();
    }
}

TEST(HostileDevices, that_rewrite_the_descriptors_reach_nothing) {
    HostileDevice machine;
    const std::array answers{machine.answer_to(machine.heads[0]),
                             machine.answer_to(machine.heads[1])};
    machine.write(machine.heads[0], answers[0]);
    machine.write(machine.heads[1], answers[1]);
    for (std::uint32_t i = 0; i < machine.ring().size; ++i) {
        machine.ring().store_descriptor(i, {.address = ~std::uint64_t{0},
                                            .bytes = 0xffff'ffff,
                                            .flags = 0xffff,
                                            .next = static_cast<std::uint16_t>(i)});
    }
    machine.device.use({.id = machine.heads[1], .bytes = info_bytes});
    machine.device.use({.id = machine.heads[0], .bytes = info_bytes});
    machine.take_completions();
    for (std::size_t i = 0; i < HostileDevice::requests; ++i) {
        EXPECT_EQ(machine.endings[i], (std::vector<std::optional<FailureKind>>{std::nullopt}));
    }
    EXPECT_FALSE(machine.client().needs_reset());
    machine.expect_service();
}

}  // namespace
}  // namespace virtaccel::known_faults
