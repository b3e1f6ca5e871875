// All interleavings of two threads that end events, over records that are used again. Each call on
// a cell reaches the other thread by one atomic access, so calls are the steps.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/worlds/block.h"
#include "tests/worlds/exploration.h"
#include "tests/worlds/interner.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/event_pool.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::worlds {
namespace {

using backend::Certainty;
using backend::EventCell;
using backend::EventHandle;
using backend::EventStatus;

constexpr std::size_t events_max = 4;

constexpr EventStatus complete{.phase = EventPhase::complete};
constexpr EventStatus ends[] = {
    {.phase = EventPhase::cancelled},
    {.phase = EventPhase::failed, .error = Status::internal_error},
    {.phase = EventPhase::failed, .error = Status::device_lost},
    complete,
};
constexpr std::uint8_t decisions = 3;
constexpr std::uint8_t completes = 3;

// A cell whose uses all look the same.
class CellWithoutUses {
  public:
    std::uint64_t open() {
        cell_.close();
        return cell_.open() & 0;
    }

    void close() { cell_.close(); }

    [[nodiscard]] bool claim(std::uint64_t) { return cell_.claim(now()); }

    void finish(std::uint64_t, EventStatus status) { cell_.finish(now(), status); }

    [[nodiscard]] bool decide(std::uint64_t, EventStatus status) {
        return cell_.decide(now(), status);
    }

    [[nodiscard]] std::optional<EventStatus> status(std::uint64_t) const {
        return cell_.status(now());
    }

  private:
    [[nodiscard]] std::uint64_t now() const {
        std::uint64_t word = 0;
        std::memcpy(&word, &cell_, sizeof word);
        return word & ~std::uint64_t{0xffffff};
    }

    EventCell cell_;
};

// A cell that lets a running event be cancelled.
class CellThatInterrupts : public EventCell {
  public:
    [[nodiscard]] bool decide(std::uint64_t use, EventStatus status) {
        if (EventCell::decide(use, status)) {
            return true;
        }
        if (this->status(use) != EventStatus{}) {
            return false;
        }
        finish(use, status);
        return true;
    }
};

// A cell that lets two claim.
class CellOfTwo : public EventCell {
  public:
    [[nodiscard]] bool claim(std::uint64_t use) {
        (void)EventCell::claim(use);
        return status(use) == EventStatus{};
    }
};

enum class Act : std::uint8_t { publish, claim, finish, decide, destroy };

template <class Cell>
class EventWorld {
  public:
    // The pool's bytes and the notes, by number.
    using State = std::array<std::uint32_t, 2>;

    explicit EventWorld(std::size_t events) : events_(events), block_(4096) {
        pool_ = block_.make<Pool>(block_.memory());
        handles_ = block_.make<Handles>();
        // The pool's first chunk is part of every image.
        pool_->give(pool_->take());
    }

    [[nodiscard]] State first() {
        return {images_.number_of(block_.image()), notes_.number_of(Notes{})};
    }

    void steps(const State& state, std::vector<Step<State>>& target) {
        const Notes notes = notes_.at(state[1]);
        const auto add = [&](const Move& move) {
            Notes next = notes;
            block_.restore(images_.at(state[0]));
            const bool right = make(move, next) && holds(next);
            target.push_back({.state = {images_.number_of(block_.image()), notes_.number_of(next)},
                              .label = move.label(),
                              .broken = right ? "" : "An event is not what its history says."});
        };
        if (notes.published < events_) {
            add({.act = Act::publish});
        }
        for (std::uint8_t event = 0; event < notes.published; ++event) {
            add({.act = Act::destroy, .event = event});
            for (std::uint8_t actor = 0; actor < 2; ++actor) {
                add({.act = Act::claim, .actor = actor, .event = event});
                for (std::uint8_t end = 0; end < decisions; ++end) {
                    add({.act = Act::decide, .actor = actor, .event = event, .end = end});
                }
                if (notes.events[event].phase == Phase::running &&
                    notes.events[event].actor == actor) {
                    add({.act = Act::finish, .actor = actor, .event = event, .end = completes});
                    add({.act = Act::finish, .actor = actor, .event = event, .end = 1});
                }
            }
        }
    }

    [[nodiscard]] bool is_finished(const State& state) {
        const Notes notes = notes_.at(state[1]);
        return notes.published == events_ && notes.live == 0;
    }

    [[nodiscard]] std::string describe(const State&, std::uint32_t label) {
        constexpr std::string_view names[] = {"publish", "claim", "finish", "decide", "destroy"};
        return "actor " + std::to_string(label >> 8U & 15U) + ' ' +
               std::string{names[label & 15U]} + " event " + std::to_string(label >> 4U & 15U) +
               " as " + std::to_string(label >> 12U);
    }

  private:
    struct Record {
        Cell cell;
    };

    using Pool = backend::EventPool<Record>;
    using Handles = std::array<EventHandle, events_max>;

    enum class Phase : std::uint8_t { none, pending, running, ended, destroyed };

    struct EventNote {
        Phase phase = Phase::none;
        std::uint8_t actor = 0;
        std::uint8_t end = 0;
    };

    struct Notes {
        std::array<EventNote, events_max> events{};
        std::uint8_t published = 0;
        std::uint8_t live = 0;
    };

    struct Move {
        Act act = Act::publish;
        std::uint8_t actor = 0;
        std::uint8_t event = 0;
        std::uint8_t end = 0;

        [[nodiscard]] std::uint32_t label() const {
            return static_cast<std::uint32_t>(act) | std::uint32_t{event} << 4U |
                   std::uint32_t{actor} << 8U | std::uint32_t{end} << 12U;
        }
    };

    [[nodiscard]] Cell& cell(std::uint8_t event) { return Pool::at((*handles_)[event]).cell; }

    // Makes one call; whether it answered what the notes, which it keeps, say.
    [[nodiscard]] bool make(const Move& move, Notes& notes) {
        if (move.act == Act::publish) {
            Record* const record = pool_->take();
            (*handles_)[notes.published] = pool_->publish(*record);
            notes.events[notes.published++] = {.phase = Phase::pending};
            ++notes.live;
            return true;
        }
        EventNote& event = notes.events[move.event];
        const EventHandle handle = (*handles_)[move.event];
        const bool is_open = event.phase == Phase::pending;
        switch (move.act) {
            case Act::claim: {
                const bool claimed = cell(move.event).claim(handle.word);
                if (claimed) {
                    event = {.phase = Phase::running, .actor = move.actor};
                }
                return claimed == is_open;
            }
            case Act::decide: {
                const bool decided = cell(move.event).decide(handle.word, ends[move.end]);
                if (decided) {
                    event = {.phase = Phase::ended, .end = move.end};
                }
                return decided == is_open;
            }
            case Act::finish:
                cell(move.event).finish(handle.word, ends[move.end]);
                event = {.phase = Phase::ended, .end = move.end};
                return true;
            default:
                return destroy(handle, event, notes);
        }
    }

    [[nodiscard]] bool destroy(EventHandle handle, EventNote& event, Notes& notes) {
        const auto outcome = pool_->destroy(handle);
        if (event.phase == Phase::destroyed) {
            return outcome.status == Status::stale_object;
        }
        if (event.phase != Phase::ended) {
            return outcome.status == Status::busy;
        }
        if (ends[event.end].error == Status::device_lost) {
            return outcome.status == Status::device_lost;
        }
        event = {.phase = Phase::destroyed};
        --notes.live;
        return outcome.certainty == Certainty::done;
    }

    [[nodiscard]] bool holds(const Notes& notes) {
        for (std::uint8_t i = 0; i < notes.published; ++i) {
            const EventNote& event = notes.events[i];
            std::optional<EventStatus> expected = EventStatus{};
            if (event.phase == Phase::destroyed) {
                expected = std::nullopt;
            } else if (event.phase == Phase::ended) {
                expected = ends[event.end];
            }
            if (cell(i).status((*handles_)[i].word) != expected) {
                return false;
            }
        }
        return pool_->live() == notes.live;
    }

    std::size_t events_;
    Block block_;
    Pool* pool_;
    Handles* handles_;
    Interner images_;
    ValueInterner<Notes> notes_;
};

template <class Cell>
Outcome run(std::size_t events) {
    EventWorld<Cell> world{events};
    const Outcome outcome = explore(world);
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::cout << summary(test->name(), outcome);
    return outcome;
}

TEST(SmallEvents, end_once_however_two_threads_race) {
    const Outcome outcome = run<EventCell>(events_max);
    EXPECT_EQ(outcome.broken, "");
    EXPECT_GT(outcome.finished, 0U);
}

TEST(BrokenEvents, are_caught_when_uses_look_the_same) {
    EXPECT_NE(run<CellWithoutUses>(events_max).broken, "");
}

TEST(BrokenEvents, are_caught_when_a_running_one_can_be_cancelled) {
    EXPECT_NE(run<CellThatInterrupts>(events_max).broken, "");
}

TEST(BrokenEvents, are_caught_when_two_can_claim) {
    EXPECT_NE(run<CellOfTwo>(events_max).broken, "");
}

}  // namespace
}  // namespace virtaccel::worlds
