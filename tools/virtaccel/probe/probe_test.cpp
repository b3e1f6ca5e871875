#include "tools/virtaccel/probe/probe.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "adapters/stdio/framing.h"
#include "host/error.h"
#include "host/memory.h"
#include "tools/virtaccel/probe/cases.h"
#include "tools/virtaccel/probe/peer.h"
#include "tools/virtaccel/probe/world.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli::probe {
namespace {

using adapters::stdio::ResetReply;

struct MockMaker {
    mock::ReferenceOptions options;

    Result<backend::AnyBackend> operator()() const {
        return backend::make_owned<mock::Reference>(host::heap(), host::heap(), options);
    }
};

device::Endpoint make_endpoint(MockMaker& maker) {
    device::Options options;
    options.config.chain_descriptors_max = 16;
    options.config.request_bytes_max = 1U << 20U;
    options.config.response_bytes_max = 1U << 20U;
    options.policy = {.buffer_bytes_max = 1U << 30U, .program_resident_bytes_max = 1U << 30U};
    auto endpoint = device::Endpoint::make(host::heap(), backend::factory_from(maker), options);
    EXPECT_TRUE(endpoint.has_value());
    return *std::move(endpoint);
}

// A device in this process, one of whose answers can be made wrong.
class DevicePeer final : public Peer {
  public:
    explicit DevicePeer(mock::ReferenceOptions options = {}) : maker_{options} {}

    // Falsifies the answer number `number`, from 0.
    void falsify(std::uint32_t number) { falsified_ = number; }

    [[nodiscard]] std::uint32_t answers() const { return answers_; }

    [[nodiscard]] host::OrError<std::uint32_t> exchange(std::span<const std::byte> request,
                                                        std::span<std::byte> response) override {
        const auto served = endpoint_.device().serve(request, response);
        return answers_++ == falsified_ ? falsify(request, response) : served.used_bytes;
    }

    [[nodiscard]] host::OrError<ResetReply> reset(std::uint32_t seed) override {
        const auto answer = endpoint_.reset(seed);
        const bool wrong = answers_++ == falsified_;
        return (answer == device::ResetAnswer::refused) == wrong ? ResetReply::reused
                                                                 : ResetReply::refused;
    }

  private:
    // A well-formed answer with a status that is never right.
    [[nodiscard]] static std::uint32_t falsify(std::span<const std::byte> request,
                                               std::span<std::byte> response) {
        wire::ResponseHeader header;
        header.status = static_cast<std::uint16_t>(Status::deadline_expired);
        if (request.size() < sizeof(wire::RequestHeader) || response.size() < sizeof header) {
            // Nothing would be right here.
            return 16;
        }
        header.request_id = wire::load<wire::RequestHeader>(request.data()).request_id;
        std::memcpy(response.data(), &header, sizeof header);
        return sizeof header;
    }

    MockMaker maker_;
    device::Endpoint endpoint_ = make_endpoint(maker_);
    std::uint32_t answers_ = 0;
    std::optional<std::uint32_t> falsified_;
};

struct Verdict {
    Tally tally;
    std::string failure;
    std::string wrong;  // the lines that say so
};

Verdict verdict_on(Peer& peer, bool strict) {
    std::string wrong;
    Probe probe{peer, strict, [&wrong](std::string_view line) {
                    if (line.starts_with("WRONG")) {
                        wrong += std::string{line} + '\n';
                    }
                }};
    run_all(probe);
    return {.tally = probe.tally(), .failure = probe.failure(), .wrong = wrong};
}

void expect_all_right(const mock::ReferenceOptions& options, std::uint32_t answers_min) {
    DevicePeer peer{options};
    const auto verdict = verdict_on(peer, true);
    EXPECT_EQ(verdict.wrong, "");
    EXPECT_EQ(verdict.failure, "");
    EXPECT_GE(verdict.tally.right, answers_min);
}

TEST(Probe, finds_every_answer_of_our_device_right) {
    expect_all_right({}, 500);
}

TEST(Probe, takes_events_that_end_at_once_or_late) {
    expect_all_right({.complete_at = mock::CompleteAt::submit}, 500);
    expect_all_right({.complete_at = mock::CompleteAt::poll, .pending_polls = 5}, 500);
}

TEST(Probe, takes_events_that_never_end_by_themselves) {
    expect_all_right({.complete_at = mock::CompleteAt::never}, 400);
}

TEST(Probe, takes_devices_that_cannot_cancel) {
    mock::ReferenceOptions options;
    options.identity.capabilities =
        options.identity.capabilities - CapabilityBit::event_cancellation;
    expect_all_right(options, 500);
}

TEST(Probe, takes_devices_with_one_memory_domain) {
    mock::ReferenceOptions options;
    options.identity.capabilities = CapabilityBit::device_local_memory;
    expect_all_right(options, 500);
}

// Runs the first case, which the others need, then `one` with its answer number `falsified` wrong;
// how many answers `one` had.
std::uint32_t run_falsified(const Case& one, std::optional<std::uint32_t> falsified, Tally& tally) {
    DevicePeer peer;
    Probe probe{peer, false, [](std::string_view) {}};
    World world{probe};
    run(world, all_cases().front());
    const auto before = peer.answers();
    if (falsified) {
        peer.falsify(before + *falsified);
    }
    run(world, one);
    tally = probe.tally();
    return peer.answers() - before;
}

// Every answer and every reset counts: whichever one is wrong, the probe says so.
TEST(Probe, notices_every_single_wrong_answer) {
    for (const Case& one : all_cases()) {
        Tally tally;
        const auto answers = run_falsified(one, std::nullopt, tally);
        ASSERT_EQ(tally.wrong, 0U) << one.name;
        for (std::uint32_t number = 0; number < answers; ++number) {
            run_falsified(one, number, tally);
            EXPECT_GT(tally.wrong, 0U) << one.name << ", answer " << number;
        }
    }
}

// A device whose answers are bent in one way after the other.
class BentPeer final : public Peer {
  public:
    enum class Bend : std::uint8_t { none, flags, payload_bytes, request_id, used_bytes };

    explicit BentPeer(Bend bend) : bend_(bend) {}

    [[nodiscard]] host::OrError<std::uint32_t> exchange(std::span<const std::byte> request,
                                                        std::span<std::byte> response) override {
        const auto used = peer_.exchange(request, response);
        if (!used || *used == 0) {
            return used;
        }
        auto header = wire::load<wire::ResponseHeader>(response.data());
        header.flags = bend_ == Bend::flags ? 1 : 0;
        header.payload_bytes = header.payload_bytes + (bend_ == Bend::payload_bytes ? 1U : 0U);
        header.request_id = header.request_id + (bend_ == Bend::request_id ? 1U : 0U);
        std::memcpy(response.data(), &header, sizeof header);
        return *used - (bend_ == Bend::used_bytes ? 1 : 0);
    }

    [[nodiscard]] host::OrError<ResetReply> reset(std::uint32_t seed) override {
        return peer_.reset(seed);
    }

  private:
    Bend bend_;
    DevicePeer peer_;
};

TEST(Probe, notices_headers_that_are_bent) {
    using enum BentPeer::Bend;
    for (const auto bend : {flags, payload_bytes, request_id, used_bytes}) {
        BentPeer peer{bend};
        EXPECT_GT(verdict_on(peer, false).tally.wrong, 100U) << static_cast<int>(bend);
    }
    BentPeer straight{none};
    EXPECT_EQ(verdict_on(straight, true).wrong, "");
}

// A peer that goes away.
class DeadPeer final : public Peer {
  public:
    [[nodiscard]] host::OrError<std::uint32_t> exchange(
        std::span<const std::byte> /*request*/, std::span<std::byte> /*response*/) override {
        return host::error("It is gone.");
    }

    [[nodiscard]] host::OrError<ResetReply> reset(std::uint32_t /*seed*/) override {
        return ResetReply::reused;
    }
};

TEST(Probe, stops_when_the_device_does_not_answer_any_more) {
    DeadPeer peer;
    const auto verdict = verdict_on(peer, false);
    EXPECT_EQ(verdict.failure, "It is gone.");
    EXPECT_EQ(verdict.tally.wrong, 1U);
}

}  // namespace
}  // namespace virtaccel::cli::probe
