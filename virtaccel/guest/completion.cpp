// Completions: the driver's checks of spec §5, what a response means, and the end of everything at
// a reset.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>

#include "virtaccel/base/id.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/frame_words.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest {

using wire::Opcode;

namespace {

constexpr std::uint32_t header_bytes = sizeof(wire::ResponseHeader);

// Whether `bytes` are those of `info`. Word by word: the device has just stored them, and a wider
// load would wait for its stores.
[[nodiscard]] bool is_same(const std::byte* bytes, const wire::DeviceInfo& info) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    const auto* const known = reinterpret_cast<const std::byte*>(&info);
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < sizeof info; i += word) {
        const auto at = std::min(i, sizeof info - word);
        std::uint64_t a = 0;
        std::uint64_t b = 0;
        std::memcpy(&a, bytes + at, word);
        std::memcpy(&b, known + at, word);
        difference |= a ^ b;
    }
    return difference == 0;
}

}  // namespace

Chain* Client::next() {
    if (ended_ != 0) [[unlikely]] {
        return next_ended_by_reset();
    }
    if (state_ != State::ready) [[unlikely]] {
        return nullptr;
    }
    const auto completion = port_->next();
    if (!completion) {
        if (port_->broken()) [[unlikely]] {
            require_recovery();
        }
        return nullptr;
    }
    if (completion->cookie >= slots_.size()) [[unlikely]] {
        require_recovery();
        return nullptr;
    }
    const auto index = static_cast<std::uint32_t>(completion->cookie);
    Chain* const chain = slots_[index].chain;
    if (chain == nullptr) [[unlikely]] {
        require_recovery();
        return nullptr;
    }
    free_slot(index);
    judge(*chain, completion->used_bytes);
    return chain;
}

void Client::free_slot(std::uint32_t index) {
    slots_[index] = {.chain = nullptr, .next_free = first_free_};
    first_free_ = index;
    --in_flight_;
}

void Client::judge(Chain& chain, std::uint32_t used_bytes) {
    // The only look at these bytes: the other side may still write to them.
    const std::byte* const response = chain.area_.data() + chain.response_offset_;
    const auto words = load_header(response);
    std::memcpy(&chain.payload_, response + sizeof(wire::ResponseHeader), sizeof chain.payload_);
    const auto success =
        header_word(static_cast<std::uint16_t>(Status::ok), chain.response_bytes_ - header_bytes);
    if (words.first == success && words.request_id == chain.request_id_ &&
        used_bytes == chain.response_bytes_) [[likely]] {
        chain.stage_ = Chain::Stage::succeeded;
        return;
    }
    judge_failure(chain, words.record(), used_bytes);
}

void Client::judge_failure(Chain& chain, const wire::ResponseHeader& header,
                           std::uint32_t used_bytes) {
    const auto status = static_cast<Status>(std::uint16_t{header.status});
    const std::uint32_t payload_bytes = header.payload_bytes;
    if (used_bytes < header_bytes) {
        distrust(chain, Cause::used_bytes);
        return;
    }
    if (header.flags != 0 || header.request_id != chain.request_id_) {
        distrust(chain, Cause::response);
        return;
    }
    // An indeterminate SUBMIT is the one failure with a payload (spec §4).
    const bool has_event =
        chain.opcode() == Opcode::submit && payload_bytes == sizeof(wire::Object<EventKind>);
    if (status == Status::ok || payload_bytes != used_bytes - header_bytes ||
        (payload_bytes != 0 && !has_event)) {
        distrust(chain, Cause::used_bytes);
        return;
    }
    device_lost_ = device_lost_ || status == Status::device_lost;
    chain.has_event_ = has_event;
    chain.stage_ = Chain::Stage::failed;
    chain.failure_ = {.status = status,
                      .opcode = chain.opcode(),
                      .kind = has_event ? FailureKind::indeterminate : kind_of_answer(status),
                      .cause = Cause::answer};
}

Failure Client::distrust(Chain& chain, Cause cause) {
    require_recovery();
    chain.has_event_ = false;
    chain.stage_ = Chain::Stage::failed;
    chain.failure_ = {.status = Status::device_lost,
                      .opcode = chain.opcode(),
                      .kind = FailureKind::recovery_required,
                      .cause = cause};
    return chain.failure_;
}

void Client::expect_completed(const Chain& chain, Opcode op) {
    VIRTACCEL_CHECK(chain.opcode() == op && (chain.stage_ == Chain::Stage::succeeded ||
                                             chain.stage_ == Chain::Stage::failed));
}

Outcome<DeviceIdentity> Client::take_device_info(Chain& chain) {
    if (chain.stage_ == Chain::Stage::failed) [[unlikely]] {
        return std::unexpected{chain.failure_};
    }
    const auto* const reply =
        chain.area_.data() + chain.response_offset_ + sizeof(wire::ResponseHeader);
    if (identity_ && is_same(reply, device_info_)) [[likely]] {
        return *identity_;
    }
    const auto info = wire::load<wire::DeviceInfo>(reply);
    if (wire::validate(info, wire::Around{.limits = limits_}) != Status::ok) {
        return std::unexpected{distrust(chain, Cause::reply)};
    }
    device_info_ = info;
    identity_ = wire::to_identity(info);
    wire::Config frames;
    frames.request_bytes_max = limits_.request_bytes_max;
    frames.response_bytes_max = limits_.response_bytes_max;
    limits_ = wire::frame_limits(frames, *identity_);
    return *identity_;
}

Outcome<EventStatus> Client::take_event_status(Chain& chain) {
    if (chain.stage_ == Chain::Stage::failed) [[unlikely]] {
        return std::unexpected{chain.failure_};
    }
    const auto state = wire::load<wire::EventState>(chain.payload_.data());
    if (wire::validate(state, wire::Around{.limits = limits_}) != Status::ok) [[unlikely]] {
        return std::unexpected{distrust(chain, Cause::reply)};
    }
    const EventStatus status{.phase = static_cast<EventPhase>(std::uint16_t{state.state}),
                             .error = static_cast<Status>(std::uint16_t{state.error})};
    device_lost_ = device_lost_ || status.error == Status::device_lost;
    return status;
}

Outcome<std::uint64_t> Client::take_id(Chain& chain) {
    if (chain.stage_ == Chain::Stage::failed && !chain.has_event_) [[unlikely]] {
        return std::unexpected{chain.failure_};
    }
    const auto object = wire::load<wire::Object<ContextKind>>(chain.payload_.data());
    if (object.object_id.raw == 0) [[unlikely]] {
        return std::unexpected{distrust(chain, Cause::reply)};
    }
    return std::uint64_t{object.object_id.raw};
}

Outcome<Submitted> Client::take_submitted(Chain& chain) {
    const bool accepted = chain.stage_ == Chain::Stage::succeeded;
    if (!accepted && !chain.has_event_) {
        return std::unexpected{chain.failure_};
    }
    const auto raw = take_id(chain);
    if (!raw) {
        return std::unexpected{raw.error()};
    }
    return Submitted{.event = {EventId{*raw}, realm()},
                     .status = accepted ? Status::ok : chain.failure_.status};
}

std::span<const std::byte> Client::bytes_read(const Chain& chain) {
    if (chain.read_into_ == nullptr) {
        return {};
    }
    return {chain.read_into_, chain.response_bytes_ - sizeof(wire::ResponseHeader)};
}

Status Client::finish_reset(const wire::Config& config) {
    begin_reset();
    ++epoch_;
    device_lost_ = false;
    identity_.reset();
    for (const Slot& slot : slots_) {
        if (slot.chain != nullptr && slot.chain->stage_ == Chain::Stage::in_flight) {
            slot.chain->stage_ = Chain::Stage::ended;
            ++ended_;
        }
    }
    ended_cursor_ = 0;
    const auto status = wire::validate(config, wire::Around{.limits = limits_});
    if (status == Status::ok) {
        configure(config);
        state_ = State::ready;
    }
    return status;
}

Chain* Client::next_ended_by_reset() {
    while (slots_[ended_cursor_].chain == nullptr ||
           slots_[ended_cursor_].chain->stage_ != Chain::Stage::ended) {
        ++ended_cursor_;
    }
    const auto index = ended_cursor_++;
    Chain* const chain = slots_[index].chain;
    free_slot(index);
    --ended_;
    chain->has_event_ = false;
    chain->stage_ = Chain::Stage::failed;
    chain->failure_ = {.status = Status::device_lost,
                       .opcode = chain->opcode(),
                       .kind = FailureKind::invalidated,
                       .cause = Cause::reset};
    return chain;
}

std::uint64_t Client::write_bytes_max() const {
    return limits_.request_bytes_max - sizeof(wire::RequestHeader) - sizeof(wire::WriteBuffer);
}

std::uint64_t Client::read_bytes_max() const {
    return limits_.response_bytes_max - sizeof(wire::ResponseHeader);
}

std::uint64_t Client::artifact_bytes_max() const {
    return std::min<std::uint64_t>(
        limits_.artifact_bytes_max,
        limits_.request_bytes_max - sizeof(wire::RequestHeader) - sizeof(wire::LoadProgram));
}

std::uint32_t Client::bindings_max() const {
    const auto room =
        limits_.request_bytes_max - sizeof(wire::RequestHeader) - sizeof(wire::Submit);
    return std::min(limits_.bindings_max, static_cast<std::uint32_t>(room / sizeof(wire::Binding)));
}

}  // namespace virtaccel::guest
