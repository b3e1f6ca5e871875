#pragma once
// Events as backends share them: pooled records, and one atomic word that decides what becomes of
// each. The one thing to know: execution, cancellation and failure race to exactly one result by
// one compare-exchange on that word, which also holds how often the record was used, so that a
// handle from an earlier use decides nothing.

#include <atomic>
#include <cstdint>
#include <optional>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/pool.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

// The state of one event record: `use:40 | step:8 | error:16`. A use is what an event handle's word
// holds.
class EventCell {
  public:
    // Owner only: a free record becomes a pending event. What its submission wrote into the record
    // before is seen by whoever claims it.
    std::uint64_t open() {
        const std::uint64_t use = use_of(word_.load(std::memory_order_relaxed)) + use_one;
        word_.store(use | step_word(Step::pending), std::memory_order_release);
        return use;
    }

    // Owner only: the event of this record is destroyed.
    void close() {
        word_.store(use_of(word_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    }

    // Any thread: pending becomes running. True for the one caller that has to run and `finish` it.
    [[nodiscard]] bool claim(std::uint64_t use) {
        return exchange(use | step_word(Step::pending), use | step_word(Step::running));
    }

    // Any thread: ends what its caller has claimed.
    void finish(std::uint64_t use, EventStatus status) {
        word_.store(use | word_of(status), std::memory_order_release);
    }

    // Any thread: ends a pending event at once (cancelled, failed). False if it is already decided.
    [[nodiscard]] bool decide(std::uint64_t use, EventStatus status) {
        return exchange(use | step_word(Step::pending), use | word_of(status));
    }

    // Any thread: where the event of that use stands, or nothing if the record has moved on. A
    // running event is pending to the outside. What ran is seen by who sees it ended.
    [[nodiscard]] std::optional<EventStatus> status(std::uint64_t use) const {
        const std::uint64_t word = word_.load(std::memory_order_acquire);
        const auto step = static_cast<Step>((word >> 16U) & 0xffU);
        if (use_of(word) != use || step == Step::free) {
            return std::nullopt;
        }
        if (step == Step::pending || step == Step::running) {
            return EventStatus{};
        }
        const auto phase =
            static_cast<std::uint16_t>(step) - static_cast<std::uint16_t>(Step::ended);
        return EventStatus{.phase = static_cast<EventPhase>(phase),
                           .error = static_cast<Status>(static_cast<std::uint16_t>(word))};
    }

    // Any thread: the use of a pending event, or nothing.
    [[nodiscard]] std::optional<std::uint64_t> pending_use() const {
        const std::uint64_t word = word_.load(std::memory_order_acquire);
        const std::uint64_t use = use_of(word);
        return word == (use | step_word(Step::pending)) ? std::optional{use} : std::nullopt;
    }

  private:
    // `ended + phase` for a terminal phase.
    enum class Step : std::uint8_t { free = 0, pending = 1, running = 2, ended = 3 };

    static constexpr std::uint64_t use_one = std::uint64_t{1} << 24U;

    static constexpr std::uint64_t use_of(std::uint64_t word) { return word & ~(use_one - 1); }

    static constexpr std::uint64_t step_word(Step step) {
        return static_cast<std::uint64_t>(step) << 16U;
    }

    static constexpr std::uint64_t word_of(EventStatus status) {
        return step_word(Step::ended) + (static_cast<std::uint64_t>(status.phase) << 16U) +
               static_cast<std::uint64_t>(status.error);
    }

    bool exchange(std::uint64_t from, std::uint64_t to) {
        return word_.compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t> word_ = 0;
};

// Pooled event records. `Record` has a member `EventCell cell`, and beside it whatever a backend
// keeps of a submission.
template <class Record>
class EventPool {
  public:
    explicit EventPool(const Memory& memory) : records_(memory) {}

    // A record to fill in; null if the memory refuses. Then `publish`, or `give` it back.
    [[nodiscard]] Record* take() { return records_.take(); }

    void give(Record* record) { records_.give(record); }

    // Makes a filled-in record a pending event. Another thread may end it from here on.
    [[nodiscard]] EventHandle publish(Record& record) {
        ++live_;
        return {.object = &record, .word = record.cell.open()};
    }

    // The record behind a live event.
    [[nodiscard]] static Record& at(EventHandle event) {
        return *static_cast<Record*>(event.object);
    }

    // Destroys a terminal event; anything else is rejected: BUSY if it is pending, DEVICE_LOST if
    // it failed with that, STALE_OBJECT if it is destroyed already.
    [[nodiscard]] ReleaseOutcome destroy(EventHandle event) {
        Record& record = at(event);
        const auto status = record.cell.status(event.word);
        if (!status) {
            return ReleaseOutcome::rejected(Status::stale_object);
        }
        if (status->phase == EventPhase::pending) {
            return ReleaseOutcome::rejected(Status::busy);
        }
        if (status->error == Status::device_lost) {
            return ReleaseOutcome::rejected(Status::device_lost);
        }
        record.cell.close();
        records_.give(&record);
        --live_;
        return ReleaseOutcome::released();
    }

    // Events not yet destroyed.
    [[nodiscard]] std::uint64_t live() const { return live_; }

    // Any thread: calls `visit(Record&)` for every record, in use or not.
    template <class Visit>
    void each(Visit&& visit) {
        records_.each(visit);
    }

  private:
    Pool<Record> records_;
    std::uint64_t live_ = 0;
};

}  // namespace virtaccel::backend
