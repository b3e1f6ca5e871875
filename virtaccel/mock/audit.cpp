#include "virtaccel/mock/audit.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/text.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::mock {

namespace {

constexpr std::uint32_t slot_bits = 24;
constexpr std::uint32_t slot_mask = (1U << slot_bits) - 1;

// What a caller did wrong, around the name of what it did that to.
struct ViolationRow {
    Violation violation;
    std::string_view before;
    std::string_view after;
};

constexpr std::array violation_rows{
    ViolationRow{Violation::released_twice, "releases (", ") that was released: do that once."},
    ViolationRow{Violation::used_after_release, "uses (",
                 ") that was released: forget a handle with its release."},
    ViolationRow{Violation::used_in_doubt, "names (",
                 ") whose release was indeterminate: never use it again."},
    ViolationRow{Violation::parent_before_child, "releases (",
                 ") that has children: release those first."},
    ViolationRow{Violation::retained_by_event, "releases (",
                 ") that a live event retains: destroy the event first."},
    ViolationRow{Violation::unknown_handle, "names (",
                 ") that this backend has never given out: name only what it has."},
    ViolationRow{Violation::other_context, "names (",
                 ") of another context than the queue's: submit what is of one context."},
    ViolationRow{Violation::called_after_loss, "comes to (",
                 ") that is lost: discard it, and call nothing but abandon."},
};

constexpr std::array<std::string_view, holding_count> holding_names{
    "a context", "a buffer", "a program", "a queue", "an event", "a prepared artifact"};

constexpr std::array<std::string_view, 3> certainty_names{"done", "rejected", "indeterminate"};

}  // namespace

std::string_view print(const AuditedCall& call, std::span<char> room) {
    Text text{room};
    text << row_of(call.call).name << " " << call.occurrence;
    if (call.object != 0) {
        text << " of the object " << call.object;
    }
    text << ": " << certainty_names[static_cast<std::size_t>(call.certainty)] << " "
         << status_name(call.status);
    return text.written();
}

Audit::Audit(const Memory& memory, const AuditOptions& options)
    : memory_(memory),
      options_(options),
      chunks_(memory, (options.objects_max + records_per_chunk - 1) / records_per_chunk),
      log_(memory, options.calls_kept) {}

Audit::~Audit() {
    for (std::uint32_t slot = 1; slot <= slots_; ++slot) {
        vacate(at(slot));
    }
    for (Record* const chunk : chunks_) {
        memory_.release_array(chunk, records_per_chunk);
    }
}

std::uint64_t Audit::live() const {
    return std::accumulate(live_.begin(), live_.end(), std::uint64_t{0});
}

std::uint64_t Audit::acknowledge_discard() {
    std::uint64_t forgotten = 0;
    for (std::uint32_t slot = 1; slot <= slots_; ++slot) {
        Record& record = at(slot);
        if (record.word != 0 && record.given_up && record.kind != Holding::prepared) {
            vacate(record);
            ++forgotten;
        }
    }
    return forgotten;
}

std::uint32_t Audit::begin_instance() {
    lost_ = false;
    return ++instances_;
}

void Audit::end_instance(std::uint32_t instance) {
    give_up(instance);
}

void Audit::lose(std::uint32_t instance) {
    lost_ = lost_ || instance == instances_;
    give_up(instance);
}

void Audit::give_up(std::uint32_t instance) {
    for (std::uint32_t slot = 1; slot <= slots_; ++slot) {
        Record& record = at(slot);
        record.given_up = record.given_up || record.instance == instance;
    }
}

void Audit::enter(Call call) {
    current_ = call;
    ++counts_[static_cast<std::size_t>(call)];
}

void Audit::leave(const AuditedCall& call) {
    if (!log_.empty()) {
        log_[static_cast<std::size_t>(calls_ % log_.size())] = call;
    }
    ++calls_;
}

void Audit::violate(Violation violation, Holding kind) {
    if (violation_ != Violation::none) {
        return;
    }
    violation_ = violation;
    const auto* const row = std::ranges::find(violation_rows, violation, &ViolationRow::violation);
    Text text{sentence_};
    text << "The call (" << row_of(current_).name << " " << calls(current_) << ") " << row->before
         << (violation == Violation::called_after_loss
                 ? "an instance"
                 : holding_names[static_cast<std::size_t>(kind)])
         << row->after;
    sentence_bytes_ = text.written().size();
}

Audit::Record* Audit::find(Name name, Holding kind, std::uint32_t instance, Violation if_gone) {
    const auto slot = static_cast<std::uint32_t>(name.word & slot_mask);
    const auto serial = name.word >> slot_bits;
    const bool is_issued =
        name.object == this && slot != 0 && slot <= slots_ && serial != 0 && serial <= serials_;
    if (!is_issued) {
        violate(Violation::unknown_handle, kind);
        return nullptr;
    }
    Record& record = at(slot);
    if (record.word != name.word) {
        violate(if_gone, kind);
        return nullptr;
    }
    if (record.kind != kind || record.instance != instance) {
        violate(Violation::unknown_handle, kind);
        return nullptr;
    }
    if (record.in_doubt) {
        violate(Violation::used_in_doubt, kind);
        return nullptr;
    }
    return &record;
}

bool Audit::has_room() {
    if (vacant_ != nullptr) {
        return true;
    }
    const std::size_t chunk_index = slots_ / records_per_chunk;
    if (chunk_index == chunks_.size()) {
        return false;
    }
    auto* const chunk = memory_.make_array<Record>(records_per_chunk);
    if (chunk == nullptr) {
        return false;
    }
    chunks_[chunk_index] = chunk;
    for (std::uint32_t i = records_per_chunk; i-- > 0;) {
        chunk[i].slot = slots_ + i + 1;
        chunk[i].next_vacant = vacant_;
        vacant_ = &chunk[i];
    }
    slots_ += records_per_chunk;
    return true;
}

Audit::Record& Audit::publish(Holding kind, std::uint32_t instance, Name inner) {
    Record& record = *vacant_;
    vacant_ = record.next_vacant;
    record = {.word = ++serials_ << slot_bits | record.slot,
              .inner_object = const_cast<void*>(inner.object),
              .inner_word = inner.word,
              .kind = kind,
              .instance = instance,
              .slot = record.slot};
    ++live_[static_cast<std::size_t>(kind)];
    return record;
}

void Audit::doubt(Record& record) {
    record.in_doubt = true;
    --live_[static_cast<std::size_t>(record.kind)];
    ++indeterminate_;
}

void Audit::retire(Record& record) {
    for (Record* const user_of : {record.context, record.queue, record.program}) {
        if (user_of != nullptr) {
            --user_of->users;
        }
    }
    for (Record* const buffer : std::span{record.buffers, record.buffer_count}) {
        --buffer->users;
    }
    vacate(record);
}

void Audit::vacate(Record& record) {
    if (record.word == 0) {
        return;
    }
    --(record.in_doubt ? indeterminate_ : live_[static_cast<std::size_t>(record.kind)]);
    memory_.release_array(record.buffers, record.buffer_count);
    record.word = 0;
    record.buffers = nullptr;
    record.next_vacant = vacant_;
    vacant_ = &record;
}

Audit::Record& Audit::at(std::uint32_t slot) {
    return chunks_[(slot - 1) / records_per_chunk][(slot - 1) % records_per_chunk];
}

}  // namespace virtaccel::mock
