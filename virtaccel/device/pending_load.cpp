#include "virtaccel/device/pending_load.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/parts.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/dispatch.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/handlers.h"
#include "virtaccel/device/load_record.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

PendingLoad::~PendingLoad() {
    if (record_ != nullptr) {
        Core::end_load(record_);
    }
}

void PendingLoad::prepare() {
    const Frame frame{
        .readable = record_->readable, .writable = record_->writable, .header = record_->header};
    wire::Object<ProgramKind> no_reply;
    const Call<Opcode::load_program> call{
        .frame = frame, .reply = no_reply, .request = record_->request};
    Core& core = *record_->core;
    const backend::Joined& joined = record_->joined;
    const auto sent = make_artifact(core, call.request, call.tail());
    record_->prepared = core.backend.prepare(
        joined.artifact == nullptr ? sent : backend::Parts::artifact_of(joined, sent));
}

Answer defer(Core& core, const Call<Opcode::load_program>& call, const backend::Joined& joined) {
    const Memory memory = core.bookkeeping.memory();
    auto* const record = memory.make_array<LoadRecord>(1);
    if (record == nullptr) {
        return Status::out_of_memory;
    }
    const auto readable = call.frame.readable.pieces;
    const auto writable = call.frame.writable.pieces;
    const std::size_t count = readable.size() + writable.size();
    record->pieces = memory.make_array<Piece>(count);
    if (record->pieces == nullptr) {
        memory.release_array(record, 1);
        return Status::out_of_memory;
    }
    record->core = &core;
    record->epoch = core.epoch;
    record->header = call.frame.header;
    record->request = call.request;
    record->piece_count = count;
    Piece* const first_writable = std::ranges::copy(readable, record->pieces).out;
    std::ranges::copy(writable, first_writable);
    record->readable = call.frame.readable;
    record->readable.pieces = {record->pieces, readable.size()};
    record->writable = call.frame.writable;
    record->writable.pieces = {first_writable, writable.size()};
    record->joined = joined;
    if (joined.artifact != nullptr) {
        backend::Parts::begin_join(*joined.artifact);
    }
    core.put_aside(record);
    return Answer::later();
}

void Core::put_aside(LoadRecord* record) {
    ledger.programs.reserve(record->request.resident_bytes);
    record->holds_room = true;
    ++pending_loads;
    VIRTACCEL_CHECK(!untaken_load);  // the last one must have been taken
    untaken_load = PendingLoad(record);
}

PendingLoad Core::take_load() {
    return std::exchange(untaken_load, {});
}

std::optional<Served> Core::finish(PendingLoad load) {
    LoadRecord& record = *load.record_;
    if (record.core != this || record.epoch != epoch) {
        return std::nullopt;
    }
    if (!record.prepared && !needs_reset) {
        load.prepare();
    }
    const Frame frame{
        .readable = record.readable, .writable = record.writable, .header = record.header};
    if (needs_reset) {
        return refuse(frame, Status::device_lost);
    }
    ledger.programs.unreserve(record.request.resident_bytes);
    record.holds_room = false;
    const auto prepared = *std::exchange(record.prepared, std::nullopt);
    wire::Object<ProgramKind> reply;
    const Answer answer = load_prepared(*this, record.request, prepared, reply);
    return respond_late(*this, frame, answer, reply);
}

void Core::end_load(LoadRecord* record) {
    Core& core = *record->core;
    if (record->prepared && record->prepared->has_value()) {
        core.backend.abandon(**record->prepared);
    } else if (record->prepared) {
        (void)core.told(record->prepared->error());  // no guest hears it, but a loss is a loss
    }
    if (record->holds_room && record->epoch == core.epoch) {
        core.ledger.programs.unreserve(record->request.resident_bytes);
    }
    if (record->joined.artifact != nullptr) {
        core.parts.end_join(*record->joined.artifact);
    }
    const Memory memory = core.bookkeeping.memory();
    memory.release_array(record->pieces, record->piece_count);
    memory.release_array(record, 1);
    if (--core.pending_loads == 0) {
        core.end_waiting();
    }
}

}  // namespace virtaccel::device
