#include "virtaccel/device/device.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

std::expected<Device, Unfit> Device::make(const Memory& memory, backend::AnyBackend backend,
                                          const Options& options) {
    const auto core = Core::make(memory, std::move(backend), options);
    if (!core) {
        return std::unexpected{core.error()};
    }
    return Device{*core};
}

Device::Device(Device&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}

Device& Device::operator=(Device&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
}

Device::~Device() {
    if (core_ != nullptr) {
        Core::drop(core_);
    }
}

Served Device::serve(const PieceList& readable, const PieceList& writable) {
    return core_->serve(readable, writable);
}

Served Device::serve(std::span<const std::byte> request, std::span<std::byte> response) {
    // A piece may be read and written; this one is only read.
    const std::array pieces{Piece{const_cast<std::byte*>(request.data()), request.size()},
                            Piece{response.data(), response.size()}};
    const std::span<const Piece> both{pieces};
    return core_->serve({.pieces = both.first(1), .bytes = request.size(), .lease = {}},
                        {.pieces = both.last(1), .bytes = response.size(), .lease = {}});
}

PendingLoad Device::take_load() {
    return core_->take_load();
}

std::optional<Served> Device::finish(PendingLoad load) {
    return core_->finish(std::move(load));
}

ResetReport Device::reset() {
    return core_->reset();
}

bool Device::needs_reset() const {
    return core_->needs_reset;
}

bool Device::discard_required() const {
    return core_->discard_required;
}

void Device::drop_backend() {
    core_->drop_backend();
}

const DeviceIdentity& Device::identity() const {
    return core_->identity;
}

const wire::Config& Device::config() const {
    return core_->options.config;
}

Holdings Device::holdings() const {
    return {
        .contexts = core_->tables.contexts.size(),
        .buffers = core_->tables.buffers.size(),
        .programs = core_->tables.programs.size(),
        .queues = core_->tables.queues.size(),
        .events = core_->tables.events.size(),
        .buffer_bytes = core_->ledger.buffers.charged_bytes(),
        .program_bytes = core_->ledger.programs.charged_bytes(),
        .quarantined = core_->ledger.quarantined,
    };
}

std::uint64_t Device::next_serial() const {
    return core_->serials.next();
}

const backend::AnyBackend& Device::backend() const {
    return core_->backend;
}

void Device::set_notifier(backend::Notifier notifier) {
    if (core_->backend) {
        core_->backend.set_notifier(notifier);
    }
}

}  // namespace virtaccel::device
