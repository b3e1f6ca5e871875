#include "tests/worlds/ring_world.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/worlds/block.h"
#include "tests/worlds/exploration.h"
#include "tests/worlds/local_steps.h"
#include "tests/worlds/ring_ends.h"
#include "tests/worlds/watch.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::worlds {

namespace {

constexpr std::size_t end_block_bytes = 4096;
constexpr Side sides[] = {Side::driver, Side::device};

// Steps by name: which end, what kind, and of what.
enum class Kind : std::uint8_t { begins, goes_on, lands, sleeps, wakes, wants_reset };

[[nodiscard]] constexpr std::uint32_t label_of(Side side, Kind kind, Operation of = {}) {
    return static_cast<std::uint32_t>(side) | static_cast<std::uint32_t>(kind) << 4U |
           static_cast<std::uint32_t>(of.act) << 8U | std::uint32_t{of.which} << 16U;
}

[[nodiscard]] constexpr std::size_t index_of(Side side) {
    return static_cast<std::size_t>(side);
}

[[nodiscard]] constexpr Side other(Side side) {
    return side == Side::driver ? Side::device : Side::driver;
}

[[nodiscard]] std::string_view name_of(Act act) {
    constexpr std::string_view names[] = {"none",    "post",     "kick",  "take",
                                          "pop",     "complete", "flush", "touch_stale",
                                          "silence", "listen",   "reset"};
    return names[static_cast<std::size_t>(act)];
}

[[nodiscard]] std::string text_of(const Access& access) {
    constexpr std::string_view names[] = {"load", "store", "fence", "notify"};
    std::string text{names[static_cast<std::size_t>(access.kind)]};
    if (access.kind == AccessKind::load || access.kind == AccessKind::store) {
        text += " of " + std::to_string(access.bytes) + " at " + std::to_string(access.offset);
    }
    if (access.kind == AccessKind::store) {
        text += " = " + std::to_string(access.word) + (access.is_release ? " (release)" : "");
    }
    return text;
}

}  // namespace

RingWorld::RingWorld(const RingWorldOptions& options)
    : options_(options),
      layout_(queue::lay_out_ring(options.size)),
      ram_(std::make_unique<Ram>()),
      ring_block_(ring_bytes_max) {
    VIRTACCEL_CHECK(options.chains <= chains_max && layout_.bytes <= ring_bytes_max &&
                    options.late_stores_max <= stores_max);
    auto* const bytes = ring_block_.make<RingBytes>();
    ring_ = reinterpret_cast<std::byte*>(bytes->data());
    const EndSetup setup{
        .ring = queue::ring_at(ring_, layout_), .ram = ram_.get(), .flaw = options.flaw};
    auto driver_block = std::make_unique<Block>(end_block_bytes);
    auto device_block = std::make_unique<Block>(end_block_bytes);
    RingEnd* const driver = make_driver(*driver_block, setup);
    RingEnd* const device = make_device(*device_block, setup);
    for (std::uint32_t i = 0; i < options.first_index; ++i) {
        VIRTACCEL_CHECK(driver->perform({.act = Act::post}).yes);
        VIRTACCEL_CHECK(device->perform({.act = Act::pop}).yes);
        VIRTACCEL_CHECK(device->perform({.act = Act::complete}).yes);
        device->perform({.act = Act::flush});
        VIRTACCEL_CHECK(driver->perform({.act = Act::take}).yes);
    }
    driver->count_from_zero();
    start_.ring = *bytes;
    ends_[0] = std::make_unique<LocalSteps>(std::move(driver_block), driver, ring_);
    ends_[1] = std::make_unique<LocalSteps>(std::move(device_block), device, ring_);
    start_.nodes = {ends_[0]->here(), ends_[1]->here()};
}

RingWorld::State RingWorld::first() {
    return close(start_);
}

std::uint64_t RingWorld::runs() const {
    return ends_[0]->runs() + ends_[1]->runs();
}

RingWorld::Scene RingWorld::open(const State& state) const {
    Scene scene{.nodes = {state[0], state[1]}};
    scene.ring = rings_.at(state[2]);
    scene.queues = queues_.at(state[3]);
    scene.notes = notes_.at(state[4]);
    return scene;
}

RingWorld::State RingWorld::close(const Scene& scene) {
    return {scene.nodes[0], scene.nodes[1], rings_.number_of(scene.ring),
            queues_.number_of(scene.queues), notes_.number_of(scene.notes)};
}

// What did not change keeps its number: to compare is cheaper than to look up.
RingWorld::State RingWorld::close(const Scene& scene, const Scene& from, const State& state) {
    return {scene.nodes[0], scene.nodes[1],
            scene.ring == from.ring ? state[2] : rings_.number_of(scene.ring),
            scene.queues == from.queues ? state[3] : queues_.number_of(scene.queues),
            notes_.number_of(scene.notes)};
}

std::uint8_t RingWorld::held(const Notes& notes) {
    return static_cast<std::uint8_t>(
        std::ranges::count(notes.chains, Fate::held, &ChainNote::fate));
}

std::size_t RingWorld::held_at(const Notes& notes, std::size_t which) {
    for (std::size_t serial = 0; serial < chains_max; ++serial) {
        if (notes.chains[serial].fate == Fate::held && which-- == 0) {
            return serial;
        }
    }
    return chains_max;
}

std::uint8_t RingWorld::taken_descriptors(const Notes& notes) const {
    unsigned sum = 0;
    for (const ChainNote& chain : notes.chains) {
        sum += chain.fate == Fate::none ? 0U : length_of(chain.shape);
    }
    return static_cast<std::uint8_t>(sum);
}

std::uint64_t RingWorld::load(const Scene& scene, Side side, std::uint64_t offset,
                              std::size_t bytes) const {
    const Queue& queue = scene.queues[index_of(side)];
    for (std::size_t i = queue.count; i-- != 0;) {
        if (queue.stores[i].offset == offset) {
            return queue.stores[i].word;
        }
    }
    std::uint64_t word = 0;
    std::memcpy(&word, scene.ring.data() + offset, bytes);
    return word;
}

bool RingWorld::may_land(const Queue& queue, std::size_t which) const {
    if (which == 0) {
        return true;
    }
    const OnItsWay& store = queue.stores[which];
    const auto is_same = [&store](const OnItsWay& earlier) {
        return earlier.offset == store.offset;
    };
    return options_.stores == Stores::in_any_order && !store.is_release &&
           std::none_of(queue.stores.begin(), queue.stores.begin() + which, is_same);
}

void RingWorld::land(Scene& scene, Side side, std::size_t which) const {
    Queue& queue = scene.queues[index_of(side)];
    const OnItsWay store = queue.stores[which];
    std::memcpy(scene.ring.data() + store.offset, &store.word, store.bytes);
    std::copy(queue.stores.begin() + which + 1, queue.stores.end(), queue.stores.begin() + which);
    queue.stores.back() = {};
    --queue.count;
    if (scene.notes.phase == Phase::resumes && scene.queues[0].count == 0) {
        scene.notes.phase = Phase::running;
    }
}

// The calls that an end may begin where it stands, between two.
std::vector<Operation> RingWorld::choices(const Scene& scene, Side side) const {
    const Notes& notes = scene.notes;
    std::vector<Operation> calls;
    const bool others_landed = scene.queues[index_of(other(side))].count == 0;
    const Phase own_reset = side == Side::driver ? Phase::resets : Phase::wants_reset;
    if (notes.phase == own_reset && others_landed) {
        calls.push_back({.act = Act::reset});
    }
    const bool works = notes.phase == Phase::running ||
                       (side == Side::device && notes.phase == Phase::wants_reset);
    if (!works || notes.ends[index_of(side)].sleeps) {
        return calls;
    }
    calls.push_back({.act = Act::silence});
    calls.push_back({.act = Act::listen});
    if (side == Side::driver) {
        calls.push_back({.act = Act::kick});
        calls.push_back({.act = Act::take});
        for (const Shape shape : options_.shapes) {
            if (notes.posted < options_.chains) {
                calls.push_back({.act = Act::post, .which = static_cast<std::uint8_t>(shape)});
            }
        }
        return calls;
    }
    calls.push_back({.act = Act::pop});
    calls.push_back({.act = Act::flush});
    for (std::uint8_t i = 0; i < held(notes); ++i) {
        calls.push_back({.act = Act::complete, .which = i});
    }
    for (std::uint8_t i = 0; i < notes.stale; ++i) {
        calls.push_back({.act = Act::touch_stale, .which = i});
    }
    return calls;
}

void RingWorld::begin(Scene& scene, Side side, Operation operation) {
    Notes& notes = scene.notes;
    const std::uint64_t available = layout_.available_offset + 2;
    const std::uint64_t used = layout_.used_offset + 2;
    const auto since_base = [&](std::uint64_t offset) {
        return static_cast<std::uint16_t>(load(scene, side, offset, 2) - base(notes));
    };
    std::size_t saw = 0;
    if (operation.act == Act::post) {
        const auto length = length_of(static_cast<Shape>(operation.which));
        saw = taken_descriptors(notes) + length <= options_.size ? 1 : 0;
    } else if (operation.act == Act::take) {
        saw = since_base(used) - std::size_t{notes.taken};
    } else if (operation.act == Act::pop) {
        saw = since_base(available) + std::size_t{notes.epoch};
    } else if (operation.act == Act::complete) {
        saw = notes.completed;
    }
    notes.ends[index_of(side)].saw = static_cast<std::uint8_t>(saw);
    Node& node = scene.nodes[index_of(side)];
    node = steps_of(side).begin(node, operation);
    go_on(scene, side);
}

bool RingWorld::is_quiet(const Access& access) const {
    if (access.kind == AccessKind::fence) {
        return options_.stores == Stores::at_once;
    }
    return access.kind != AccessKind::notify && !options_.descriptors_apart &&
           access.offset < layout_.available_offset;
}

bool RingWorld::go_on(Scene& scene, Side side) {
    Node& node = scene.nodes[index_of(side)];
    bool moved = false;
    bool spent = false;
    while (scene.broken.empty()) {
        const LocalSteps::Next next = steps_of(side).next(node);
        if (next.is_over) {
            const Operation operation = steps_of(side).operation_at(node);
            node = next.idle;
            if (side == Side::driver) {
                on_driver_over(scene, operation, next.answer);
            } else {
                on_device_over(scene, operation, next.answer);
            }
            scene.notes.ends[index_of(side)].saw = 0;
            return true;
        }
        const bool quiet = is_quiet(next.access);
        if (spent && !quiet) {
            return true;
        }
        if (!do_access(scene, side, next.access)) {
            return moved;
        }
        moved = true;
        spent = spent || !quiet;
    }
    return true;
}

bool RingWorld::do_access(Scene& scene, Side side, const Access& access) {
    Queue& queue = scene.queues[index_of(side)];
    std::uint64_t loaded = 0;
    switch (access.kind) {
        case AccessKind::load:
            loaded = load(scene, side, access.offset, access.bytes);
            break;
        case AccessKind::store:
            if (queue.count == options_.late_stores_max) {
                return false;
            }
            queue.stores[queue.count++] = {.word = access.word,
                                           .offset = access.offset,
                                           .bytes = access.bytes,
                                           .is_release = access.is_release};
            on_store(scene, side, access);
            if (options_.stores == Stores::at_once) {
                land(scene, side, 0);
            }
            break;
        case AccessKind::notify:
        case AccessKind::fence:
            if (queue.count != 0) {
                return false;
            }
            if (access.kind == AccessKind::notify) {
                scene.notes.ends[index_of(other(side))].is_notified = true;
            }
    }
    Node& node = scene.nodes[index_of(side)];
    node = steps_of(side).after(node, loaded);
    return true;
}

void RingWorld::steps(const State& state, std::vector<Step<State>>& target) {
    const Scene scene = open(state);
    const auto add = [&](Scene& next, std::uint32_t label) {
        if (next.broken.empty()) {
            expect_no_lost_wakeup(next);
        }
        target.push_back(
            {.state = close(next, scene, state), .label = label, .broken = next.broken});
    };
    const auto add_note = [&](Side side, Kind kind, auto&& change) {
        Scene next = scene;
        change(next.notes, next.notes.ends[index_of(side)]);
        add(next, label_of(side, kind));
    };
    for (const Side side : sides) {
        const Queue& queue = scene.queues[index_of(side)];
        for (std::size_t i = 0; i < queue.count; ++i) {
            if (may_land(queue, i)) {
                Scene next = scene;
                land(next, side, i);
                add(next, label_of(side, Kind::lands, {.which = static_cast<std::uint8_t>(i)}));
            }
        }
        if (!is_idle(scene, side)) {
            Scene next = scene;
            if (go_on(next, side)) {
                add(next, label_of(side, Kind::goes_on));
            }
            continue;
        }
        for (const Operation operation : choices(scene, side)) {
            Scene next = scene;
            begin(next, side, operation);
            add(next, label_of(side, Kind::begins, operation));
        }
        const EndNotes& end = scene.notes.ends[index_of(side)];
        const bool own_work =
            side == Side::driver ? scene.notes.posted < options_.chains : held(scene.notes) != 0;
        if (end.sleeps && end.is_notified) {
            add_note(side, Kind::wakes, [](Notes&, EndNotes& own) {
                own.sleeps = false;
                own.is_notified = false;
                own.is_armed = false;
            });
        } else if (end.sleeps && own_work) {
            add_note(side, Kind::wakes, [](Notes&, EndNotes& own) { own.sleeps = false; });
        } else if (!end.sleeps && end.is_armed && !end.owes_notice) {
            add_note(side, Kind::sleeps, [](Notes&, EndNotes& own) { own.sleeps = true; });
        }
        if (side == Side::driver && scene.notes.phase == Phase::running &&
            scene.notes.resets < options_.resets) {
            add_note(side, Kind::wants_reset,
                     [](Notes& notes, EndNotes&) { notes.phase = Phase::wants_reset; });
        }
    }
}

bool RingWorld::is_finished(const State& state) {
    const Notes notes = notes_.at(state[4]);
    return notes.posted == options_.chains && taken_descriptors(notes) == 0;
}

std::string RingWorld::describe(const State& state, std::uint32_t label) {
    const auto side = static_cast<Side>(label & 15U);
    const auto act = static_cast<Act>(label >> 8U & 255U);
    const auto which = label >> 16U;
    std::string text = side == Side::driver ? "driver " : "device ";
    LocalSteps& steps = steps_of(side);
    const Node node = state[index_of(side)];
    switch (static_cast<Kind>(label >> 4U & 15U)) {
        case Kind::begins: {
            text.append(name_of(act)).append("(" + std::to_string(which) + ")");
            const LocalSteps::Next& next = steps.next(
                steps.begin(node, {.act = act, .which = static_cast<std::uint8_t>(which)}));
            return text + (next.is_over ? "" : ": " + text_of(next.access));
        }
        case Kind::goes_on:
            return text + "  " + text_of(steps.next(node).access);
        case Kind::lands:
            return text + "  store " + std::to_string(which) + " lands";
        case Kind::sleeps:
            return text + "sleeps";
        case Kind::wakes:
            return text + "wakes";
        case Kind::wants_reset:
            return text + "asks for a reset";
    }
    return text;
}

}  // namespace virtaccel::worlds
