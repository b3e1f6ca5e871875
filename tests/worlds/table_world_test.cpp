// All short lives of a few objects of two kinds: what an ID names, and that it never names another.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "tests/worlds/choices.h"
#include "tests/worlds/deeper.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/ids.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/device/options.h"

namespace virtaccel::worlds {
namespace {

// How the tables are used wrongly.
enum class Misuse : std::uint8_t {
    none,
    serials_restart,   // at a reset
    serials_per_kind,  // each kind counts by itself
    ignores_the_end,   // of the serials
    buries_nothing,    // a quarantined slot is given away again
    looks_at_slots,    // a lookup compares the slot only
    keeps_at_reset,    // a reset forgets nothing
};

struct TableWorldOptions {
    std::uint32_t capacity = 2;
    // Serials left.
    std::uint64_t serials = 4;
    std::uint32_t actions = 7;
    Misuse misuse = Misuse::none;
};

// What became of an object.
enum class Fate : std::uint8_t { live, released, quarantined, reset };

struct Object {
    bool is_queue = false;
    std::uint64_t raw_id = 0;
    std::uint64_t handle = 0;
    Fate fate = Fate::live;
};

// One play: two tables that share a counter of serials, as in the device.
class Play {
  public:
    explicit Play(const TableWorldOptions& options)
        : options_(options),
          contexts_(host::heap(), options.capacity),
          queues_(host::heap(), options.capacity),
          first_serial_(device::serial_end - options.serials),
          serials_(first_serial_),
          queue_serials_(first_serial_) {}

    // One action; false if a rule is broken after it.
    [[nodiscard]] bool act(Choices& choices) {
        std::vector<std::size_t> live;
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            if (objects_[i].fate == Fate::live) {
                live.push_back(i);
            }
        }
        const std::uint32_t choice = choices.among(static_cast<std::uint32_t>(3 + 2 * live.size()));
        if (choice < 2) {
            return create(choice == 1) && holds();
        }
        if (choice == 2) {
            reset();
            return holds();
        }
        Object& object = objects_[live[(choice - 3) / 2]];
        const bool buries = (choice - 3) % 2 == 1;
        object.fate = buries ? Fate::quarantined : Fate::released;
        end(object, buries && options_.misuse != Misuse::buries_nothing);
        return holds();
    }

    [[nodiscard]] std::size_t created() const { return objects_.size(); }

    [[nodiscard]] std::size_t refused() const { return refused_; }

  private:
    [[nodiscard]] device::SerialCounter& serials(bool is_queue) {
        const bool apart = is_queue && options_.misuse == Misuse::serials_per_kind;
        return apart ? queue_serials_ : serials_;
    }

    [[nodiscard]] std::size_t count(bool is_queue, Fate fate) const {
        return static_cast<std::size_t>(std::ranges::count_if(objects_, [&](const Object& object) {
            return object.is_queue == is_queue && object.fate == fate;
        }));
    }

    // As the device does it: serials first, then room, then the serial is taken.
    template <class Kind>
    [[nodiscard]] Result<std::uint64_t> create_in(device::ObjectTable<Kind>& table,
                                                  std::uint64_t handle) {
        device::SerialCounter& serials = this->serials(std::is_same_v<Kind, QueueKind>);
        if (serials.exhausted()) {
            if (options_.misuse != Misuse::ignores_the_end) {
                return fail(Status::resource_limit);
            }
            serials = device::SerialCounter{first_serial_};
        }
        VIRTACCEL_TRY_ASSIGN(const auto vacant, table.reserve());
        return table.occupy(vacant, serials.take(), {.word = handle}).id().raw;
    }

    [[nodiscard]] bool create(bool is_queue) {
        const std::uint64_t handle = objects_.size() + 1;
        const std::size_t buried = since_reset_[is_queue ? 1 : 0];
        const bool fits = count(is_queue, Fate::live) + buried < options_.capacity &&
                          objects_.size() < options_.serials;
        const auto raw_id = is_queue ? create_in(queues_, handle) : create_in(contexts_, handle);
        if (!raw_id) {
            ++refused_;
            return !fits && raw_id.error() == Status::resource_limit;
        }
        const bool is_new = ids_.insert(*raw_id).second;
        objects_.push_back({.is_queue = is_queue, .raw_id = *raw_id, .handle = handle});
        return fits && is_new && static_cast<std::uint32_t>(*raw_id) != 0;
    }

    template <class Kind>
    void end_in(device::ObjectTable<Kind>& table, const Object& object, bool buries) {
        const auto live = table.find({object.raw_id});
        if (!live) {
            return;
        }
        if (buries) {
            table.bury(*live);
        } else {
            table.vacate(*live);
        }
    }

    void end(const Object& object, bool buries) {
        if (object.fate == Fate::quarantined) {
            ++since_reset_[object.is_queue ? 1 : 0];
        }
        if (object.is_queue) {
            end_in(queues_, object, buries);
        } else {
            end_in(contexts_, object, buries);
        }
    }

    void reset() {
        for (Object& object : objects_) {
            object.fate = object.fate == Fate::live ? Fate::reset : object.fate;
        }
        since_reset_[0] = 0;
        since_reset_[1] = 0;
        if (options_.misuse != Misuse::keeps_at_reset) {
            contexts_.clear();
            queues_.clear();
        }
        if (options_.misuse == Misuse::serials_restart) {
            serials_ = device::SerialCounter{first_serial_};
        }
    }

    // The handle that an ID leads to; 0 for a stale one.
    template <class Kind>
    [[nodiscard]] std::uint64_t look_up(device::ObjectTable<Kind>& table, std::uint64_t raw_id) {
        if (options_.misuse == Misuse::looks_at_slots) {
            std::uint64_t handle = 0;
            table.for_each([&](device::Live<Kind> live) {
                if (device::slot_of(live.id().raw) == device::slot_of(raw_id)) {
                    handle = live->handle.word;
                }
            });
            return handle;
        }
        const auto live = table.find({raw_id});
        return live ? (*live)->handle.word : 0;
    }

    // Every ID that was ever given out leads to its own object while it lives, and nowhere else.
    [[nodiscard]] bool holds() {
        for (const Object& object : objects_) {
            const std::uint64_t handle = object.fate == Fate::live ? object.handle : 0;
            if (look_up(queues_, object.raw_id) != (object.is_queue ? handle : 0) ||
                look_up(contexts_, object.raw_id) != (object.is_queue ? 0 : handle)) {
                return false;
            }
        }
        return contexts_.size() == count(false, Fate::live) &&
               queues_.size() == count(true, Fate::live);
    }

    TableWorldOptions options_;
    device::ObjectTable<ContextKind> contexts_;
    device::ObjectTable<QueueKind> queues_;
    std::uint64_t first_serial_;
    device::SerialCounter serials_;
    device::SerialCounter queue_serials_;
    std::vector<Object> objects_;
    std::set<std::uint64_t> ids_;
    std::size_t since_reset_[2] = {};  // quarantined contexts and queues
    std::size_t refused_ = 0;
};

struct Count {
    std::uint64_t sequences = 0;
    std::uint64_t actions = 0;
    std::uint64_t refused = 0;
    bool is_right = true;
};

// Every sequence of so many actions, up to the first that breaks a rule.
Count play_all(const TableWorldOptions& options) {
    Count count;
    Choices choices;
    do {
        Play play{options};
        for (std::uint32_t i = 0; i < options.actions && count.is_right; ++i) {
            count.is_right = play.act(choices);
            ++count.actions;
        }
        ++count.sequences;
        count.refused += play.refused();
    } while (count.is_right && choices.advance());
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::cout << test->name() << ": " << count.sequences << " sequences, " << count.actions
              << " actions, " << count.refused << " creations refused\n";
    return count;
}

void expect_right(const TableWorldOptions& options) {
    const Count count = play_all(options);
    EXPECT_TRUE(count.is_right);
    EXPECT_GT(count.refused, 0U);
}

void expect_caught(Misuse misuse) {
    EXPECT_FALSE(play_all({.actions = 6, .misuse = misuse}).is_right);
}

TEST(SmallTables, never_let_an_id_name_another_object) {
    expect_right({.serials = 100, .actions = deeper(6U)});
}

TEST(SmallTables, refuse_when_the_serials_end) {
    expect_right({.capacity = 3, .serials = 3, .actions = deeper(6U)});
}

TEST(SmallTables, of_one_object_a_kind_hold_for_longer) {
    expect_right({.capacity = 1, .serials = 6, .actions = deeper(8U)});
}

TEST(MisusedTables, are_caught_when_serials_restart_at_a_reset) {
    expect_caught(Misuse::serials_restart);
}

TEST(MisusedTables, are_caught_when_each_kind_counts_by_itself) {
    expect_caught(Misuse::serials_per_kind);
}

TEST(MisusedTables, are_caught_when_serials_begin_again_at_their_end) {
    expect_caught(Misuse::ignores_the_end);
}

TEST(MisusedTables, are_caught_when_a_quarantined_slot_is_given_away) {
    expect_caught(Misuse::buries_nothing);
}

TEST(MisusedTables, are_caught_when_a_lookup_compares_slots) {
    expect_caught(Misuse::looks_at_slots);
}

TEST(MisusedTables, are_caught_when_a_reset_forgets_nothing) {
    expect_caught(Misuse::keeps_at_reset);
}

}  // namespace
}  // namespace virtaccel::worlds
