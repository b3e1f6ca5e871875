// The rules of a ring, checked at each access and at the end of each call.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/worlds/ring_ends.h"
#include "tests/worlds/ring_world.h"
#include "tests/worlds/watch.h"
#include "virtaccel/queue/ring_layout.h"

namespace virtaccel::worlds {

// Of several broken rules the first is told.
void RingWorld::expect(Scene& scene, bool holds, std::string_view rule) {
    if (!holds && scene.broken.empty()) {
        scene.broken = rule;
    }
}

void RingWorld::on_store(Scene& scene, Side side, const Access& access) const {
    const Notes& notes = scene.notes;
    const Operation operation =
        steps_of(side).operation_at(scene.nodes[static_cast<std::size_t>(side)]);
    if (operation.act == Act::reset) {
        return;
    }
    const bool is_driver = side == Side::driver;
    expect(scene, is_driver == (access.offset < layout_.used_offset), ring_rules::foreign_part);
    const auto index = static_cast<std::uint16_t>(access.word - 1);
    if (access.offset == layout_.available_offset + 2) {
        const auto next = static_cast<std::uint16_t>(base(notes) + notes.posted - notes.epoch);
        expect(scene, operation.act == Act::post && index == next, ring_rules::skipped_index);
        on_post(scene, index, operation.which);
    } else if (access.offset == layout_.used_offset + 2) {
        const auto next = static_cast<std::uint16_t>(base(notes) + notes.completed);
        expect(scene, index == next, ring_rules::skipped_index);
        on_complete(scene, index, operation);
    }
}

void RingWorld::on_post(Scene& scene, std::uint16_t index, std::uint8_t shape) const {
    Notes& notes = scene.notes;
    if (notes.posted == chains_max) {
        return expect(scene, false, ring_rules::wrong_post);
    }
    const std::uint64_t entry = layout_.available_offset + queue::ring_header_bytes +
                                (index & (options_.size - 1)) * queue::available_entry_bytes;
    notes.chains[notes.posted++] = {
        .shape = static_cast<Shape>(shape),
        .head = static_cast<std::uint8_t>(load(scene, Side::driver, entry, 2)),
        .fate = Fate::available};
    notes.ends[0].owes_notice = true;
}

void RingWorld::on_complete(Scene& scene, std::uint16_t index, Operation operation) const {
    Notes& notes = scene.notes;
    const std::uint64_t entry = layout_.used_offset + queue::ring_header_bytes +
                                (index & (options_.size - 1)) * queue::used_entry_bytes;
    const std::uint64_t head = load(scene, Side::device, entry, 4);
    const std::uint64_t used = load(scene, Side::device, entry + 4, 4);
    expect(scene, operation.act != Act::touch_stale, ring_rules::stale_touch);
    const bool pops = operation.act == Act::pop;
    const std::size_t serial = pops ? notes.popped : held_at(notes, operation.which);
    if (serial >= notes.posted || (!pops && operation.act != Act::complete)) {
        return expect(scene, false, ring_rules::unknown_completion);
    }
    ChainNote& chain = notes.chains[serial];
    const bool is_bad = chain.shape == Shape::unreachable;
    expect(scene, chain.head == head && chain.fate == (pops ? Fate::available : Fate::held),
           ring_rules::unknown_completion);
    expect(scene, pops == is_bad, ring_rules::wrong_chain);
    expect(scene, used == (is_bad ? 0 : used_of(static_cast<std::uint8_t>(serial))),
           ring_rules::wrong_length);
    chain.fate = Fate::completed;
    notes.completions[notes.completed++] = static_cast<std::uint8_t>(serial);
    notes.popped = static_cast<std::uint8_t>(notes.popped + (pops ? 1 : 0));
    notes.ends[1].owes_notice = true;
}

void RingWorld::on_driver_over(Scene& scene, Operation operation, const Answer& answer) const {
    Notes& notes = scene.notes;
    EndNotes& own = notes.ends[0];
    expect(scene, !answer.is_broken, ring_rules::broken_ring);
    switch (operation.act) {
        case Act::post:
            expect(scene, answer.yes == (own.saw != 0), ring_rules::wrong_post);
            break;
        case Act::kick:
            own.owes_notice = false;
            break;
        case Act::take:
            own.is_armed = false;
            on_taken(scene, answer);
            break;
        case Act::listen:
            own.is_armed = !answer.yes;
            expect(scene, !answer.yes || notes.completed > notes.taken, ring_rules::wrong_alarm);
            break;
        case Act::reset:
            own = {.is_notified = own.is_notified};
            notes.phase = scene.queues[0].count == 0 ? Phase::running : Phase::resumes;
            break;
        default:
            own.is_armed = false;
    }
    expect(scene, answer.free == options_.size - taken_descriptors(notes), ring_rules::wrong_free);
    expect(scene, answer.flying == notes.posted - notes.epoch - notes.taken,
           ring_rules::wrong_flying);
}

void RingWorld::on_taken(Scene& scene, const Answer& answer) const {
    Notes& notes = scene.notes;
    if (!answer.yes) {
        return expect(scene, notes.ends[0].saw == 0, ring_rules::wrong_completion);
    }
    if (notes.taken == notes.completed) {
        return expect(scene, false, ring_rules::wrong_completion);
    }
    const std::uint8_t serial = notes.completions[notes.taken];
    const bool is_bad = notes.chains[serial].shape == Shape::unreachable;
    expect(scene, answer.serial == serial, ring_rules::wrong_completion);
    expect(scene, answer.used == (is_bad ? 0 : used_of(serial)), ring_rules::wrong_length);
    notes.completions[notes.taken++] = 0;
    notes.chains[serial] = {};
}

void RingWorld::on_device_over(Scene& scene, Operation operation, const Answer& answer) const {
    Notes& notes = scene.notes;
    EndNotes& own = notes.ends[1];
    expect(scene, !answer.is_broken, ring_rules::broken_ring);
    switch (operation.act) {
        case Act::pop:
            own.is_armed = false;
            on_popped(scene, answer);
            break;
        case Act::complete:
            expect(scene, answer.yes && answer.is_sound && notes.completed == own.saw + 1,
                   ring_rules::refused_completion);
            break;
        case Act::touch_stale:
            expect(scene, answer.is_sound, ring_rules::stale_touch);
            break;
        case Act::flush:
            own.owes_notice = false;
            break;
        case Act::listen:
            own.is_armed = !answer.yes;
            expect(scene, !answer.yes || notes.posted > notes.popped, ring_rules::wrong_alarm);
            break;
        case Act::reset:
            on_device_reset(scene);
            break;
        default:
            own.is_armed = false;
    }
}

void RingWorld::on_popped(Scene& scene, const Answer& answer) const {
    Notes& notes = scene.notes;
    if (!answer.yes) {
        return expect(scene, notes.popped >= notes.ends[1].saw, ring_rules::wrong_chain);
    }
    if (notes.popped >= notes.posted) {
        return expect(scene, false, ring_rules::wrong_chain);
    }
    ChainNote& chain = notes.chains[notes.popped];
    expect(scene,
           answer.is_sound && answer.serial == notes.popped && answer.head == chain.head &&
               answer.shape == static_cast<std::uint8_t>(chain.shape) &&
               chain.fate == Fate::available,
           ring_rules::wrong_chain);
    chain.fate = Fate::held;
    ++notes.popped;
}

void RingWorld::on_device_reset(Scene& scene) const {
    Notes& notes = scene.notes;
    notes.stale = static_cast<std::uint8_t>(notes.stale + held(notes));
    notes.chains = {};
    notes.completions = {};
    notes.epoch = notes.posted;
    notes.popped = notes.posted;
    notes.completed = 0;
    notes.taken = 0;
    ++notes.resets;
    notes.phase = Phase::resets;
    notes.ends[1] = {.is_notified = notes.ends[1].is_notified};
}

// An end that sleeps is woken by whoever has given it something to do, before that one rests.
void RingWorld::expect_no_lost_wakeup(Scene& scene) const {
    const Notes& notes = scene.notes;
    if (notes.phase != Phase::running) {
        return;
    }
    const auto is_left_alone = [&](Side side) {
        const EndNotes& own = notes.ends[side == Side::driver ? 0 : 1];
        const Side waker = side == Side::driver ? Side::device : Side::driver;
        return own.sleeps && !own.is_notified && is_idle(scene, waker) &&
               !notes.ends[waker == Side::driver ? 0 : 1].owes_notice;
    };
    expect(scene, !is_left_alone(Side::device) || notes.popped == notes.posted,
           ring_rules::lost_kick);
    expect(scene, !is_left_alone(Side::driver) || notes.taken == notes.completed,
           ring_rules::lost_interrupt);
}

}  // namespace virtaccel::worlds
