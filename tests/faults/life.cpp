#include "tests/faults/life.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/faults/hands.h"
#include "tests/faults/world.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/mock/audit.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::faults {

using mock::Holding;

namespace {

// With two faults, the third try meets none.
constexpr int tries_max = 3;
// A fault each can cost a device, and one more is lost without the guest hearing of it at once.
constexpr int rounds_max = 6;
constexpr int polls_max = 8;

// What is written into the source, and arrives in the target.
constexpr std::array<std::byte, buffer_bytes> data = [] {
    std::array<std::byte, buffer_bytes> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>((i * 7) + 1);
    }
    return bytes;
}();

// The things of one kind that a guest may hold.
struct KindRow {
    Holding holding;
    std::string_view name;
    std::uint32_t device::Holdings::* on_device;
    std::array<std::optional<Thing>, 2> of_guest;
};

constexpr std::array kind_rows{
    KindRow{Holding::context, "contexts", &device::Holdings::contexts, {Thing::context}},
    KindRow{Holding::buffer, "buffers", &device::Holdings::buffers, {Thing::source, Thing::target}},
    KindRow{Holding::program, "programs", &device::Holdings::programs, {Thing::program}},
    KindRow{Holding::queue, "queues", &device::Holdings::queues, {Thing::queue}},
    KindRow{Holding::event, "events", &device::Holdings::events, {Thing::run, Thing::victim}},
};

std::uint64_t total(const device::Holdings& held) {
    std::uint64_t sum = 0;
    for (const KindRow& row : kind_rows) {
        sum += held.*row.on_device;
    }
    return sum;
}

std::string numbers(std::string_view what, std::uint64_t left, std::uint64_t right) {
    return std::string{what} + " (" + std::to_string(left) + " and " + std::to_string(right) + ")";
}

}  // namespace

std::string Life::lead(Ending ending) {
    live(ending);
    bool is_whole = ending == Ending::release;
    for (int round = 0; finding_.empty() && round < rounds_max; ++round) {
        if (hands_->was_told_of_loss()) {
            reset();
            is_whole = false;
        } else if (is_whole) {
            check_end();
            return finding_;
        } else {
            live(Ending::release);
            is_whole = true;
        }
    }
    blame("many resets", "no life comes to its end");
    return finding_;
}

void Life::live(Ending ending) {
    if (!populate() || !compute()) {
        return;
    }
    if (ending == Ending::release) {
        (void)(cancel_one() && release(Thing::run) && release(Thing::victim) && read_back() &&
               release_all());
        return;
    }
    if (!release(Thing::run) || !read_back() || !make(Thing::victim)) {
        return;
    }
    if (ending == Ending::reset) {
        hands_->leave_a_load();
        reset();
    } else {
        drop_all();
    }
}

bool Life::populate() {
    const auto overdraw = [this] {
        const Status status = hands_->overdraw();
        if (status == Status::ok) {
            blame("the overdraft", "the device gives more than its budget");
        }
        unproven_ = status == Status::device_lost;
        return status == Status::resource_limit ? Status::ok : status;
    };
    return make(Thing::context) && make(Thing::source) && make(Thing::target) &&
           attempt("the overdraft", overdraw) &&
           attempt("the write", [this] { return hands_->write(data); }) && make(Thing::program) &&
           make(Thing::queue);
}

bool Life::compute() {
    for (int i = 0; i < tries_max; ++i) {
        if (!make(Thing::run)) {
            return false;
        }
        const auto status = poll_to_end(Thing::run);
        if (!status) {
            return false;
        }
        if (status->phase == EventPhase::complete) {
            return true;
        }
        if (!release(Thing::run)) {
            return false;
        }
    }
    blame("the run", "no event completes, though nothing is wrong any more");
    return false;
}

bool Life::cancel_one() {
    if (!make(Thing::victim)) {
        return false;
    }
    bool won = false;
    const auto cancel = [this, &won] {
        const Status status = hands_->cancel(Thing::victim);
        won = status == Status::ok;
        return status == Status::busy ? Status::ok : status;
    };
    if (!attempt("the cancellation", cancel)) {
        return false;
    }
    const auto status = poll_to_end(Thing::victim);
    if (!status) {
        return false;
    }
    if (won != (status->phase == EventPhase::cancelled)) {
        blame("the cancellation", "its answer and the event's end contradict each other");
    }
    return goes_on();
}

bool Life::read_back() {
    std::array<std::byte, buffer_bytes> bytes{};
    if (!attempt("the read", [&] { return hands_->read(bytes); })) {
        return false;
    }
    if (bytes != data) {
        blame("the read", "the bytes are not what the program computed");
    }
    return goes_on();
}

bool Life::release_all() {
    return release(Thing::queue) && release(Thing::program) && release(Thing::source) &&
           release(Thing::target) && release(Thing::context);
}

// Parents first, so that what cannot be released yet has to be kept in mind.
void Life::drop_all() {
    for (const Thing thing : things) {
        hands_->drop(thing);
        check("the end of an object");
    }
    hands_->close();
    if (finding_.empty() && (hands_->device().needs_reset() || !world_->audit().is_clean())) {
        reset();  // as a transport does between two guests
    }
}

// One step, until it succeeds.
template <class Act>
bool Life::attempt(std::string_view what, Act act) {
    for (int i = 0; i < tries_max; ++i) {
        const Status status = act();
        check(what);
        if (!goes_on()) {
            return false;
        }
        if (status == Status::ok) {
            return true;
        }
    }
    blame(what, "it never succeeds, though nothing is wrong any more");
    return false;
}

bool Life::make(Thing thing) {
    return attempt(thing_names[static_cast<std::size_t>(thing)], [this, thing] {
        const Status status = hands_->make(thing);
        return hands_->holds(thing) ? Status::ok : status;
    });
}

bool Life::release(Thing thing) {
    return attempt(thing_names[static_cast<std::size_t>(thing)],
                   [this, thing] { return hands_->release(thing); });
}

// The end of an event, which stays what it is; nothing if the life does not go on.
std::optional<guest::EventStatus> Life::poll_to_end(Thing event) {
    std::optional<guest::EventStatus> ended;
    for (int i = 0; i < polls_max; ++i) {
        guest::EventStatus status;
        const auto poll = [&] {
            const auto polled = hands_->poll(event);
            status = polled.value_or(guest::EventStatus{});
            return polled ? Status::ok : polled.error();
        };
        if (!attempt("the poll", poll)) {
            return std::nullopt;
        }
        if (ended) {
            if (*ended != status) {
                blame("the poll", "an event that has ended is not what it was");
            }
            return goes_on() ? ended : std::nullopt;
        }
        if (status.phase == EventPhase::failed && !is_scripted_error(status.error)) {
            blame("the poll", "an event fails with an error that nobody gave it");
        }
        if (status.phase != EventPhase::pending) {
            ended = status;
        }
    }
    blame("the poll", "the event never ends");
    return std::nullopt;
}

void Life::reset() {
    const std::uint64_t before = audited();
    const bool was_lost = hands_->device().discard_required();
    const auto report = hands_->reset();
    mock::Audit& audit = world_->audit();
    unproven_ = false;
    if (was_lost && !report.discard) {
        blame("the reset", "a lost backend is kept");
    }
    if (before != report.released.objects + report.quarantined.objects) {
        blame("the reset", numbers("the report leaves something out", before,
                                   report.released.objects + report.quarantined.objects));
    }
    if (report.discard) {
        const auto given_up = audit.acknowledge_discard();
        if (given_up != report.quarantined.objects) {
            blame("the reset", numbers("not all that is in quarantine was", given_up,
                                       report.quarantined.objects));
        }
    }
    if (audit.violation() != mock::Violation::none) {
        blame("the reset", audit.sentence());
    }
    if (!audit.is_clean()) {
        blame("the reset", "something is left over");
    }
    if (total(hands_->device().holdings()) != 0) {
        blame("the reset", "the device holds something");
    }
}

void Life::check(std::string_view after) {
    if (!finding_.empty()) {
        return;
    }
    if (world_->audit().violation() != mock::Violation::none) {
        blame(after, world_->audit().sentence());
        return;
    }
    check_loss(after);
    check_counts(after);
    check_bytes(after);
}

void Life::check_loss(std::string_view after) {
    const device::Device& device = hands_->device();
    const bool is_lost = world_->audit().is_lost();
    if (is_lost ? !device.discard_required() : device.discard_required() && !unproven_) {
        blame(after, "the device and its backend disagree about whether they are lost");
    }
    if (device.needs_reset() != hands_->was_told_of_loss()) {
        blame(after, "the device needs a reset and the guest does not know, or the reverse");
    }
}

void Life::check_counts(std::string_view after) {
    const device::Device& device = hands_->device();
    const device::Holdings held = device.holdings();
    const mock::Audit& audit = world_->audit();
    if (audit.live(Holding::prepared) != 0) {
        blame(after, "a prepared artifact is left over");
    }
    if (total(held) + held.quarantined.objects != audited()) {
        blame(after, numbers("the device's books and the audit's differ",
                             total(held) + held.quarantined.objects, audited()));
    }
    const auto living = audit.live();
    // What is in doubt may be there or not.
    if (!device.discard_required() && device.backend().diagnostics().live_resources != living) {
        blame(after, numbers("the backend holds something else than it says",
                             device.backend().diagnostics().live_resources, living));
    }
    if (device.needs_reset()) {
        return;  // the guest gives it all up
    }
    std::uint64_t of_guest = hands_->ownerless();
    for (const KindRow& row : kind_rows) {
        std::uint64_t count = 0;
        for (const auto thing : row.of_guest) {
            count += thing && hands_->holds(*thing) ? 1 : 0;
        }
        of_guest += count;
        if (audit.live(row.holding) != held.*row.on_device ||
            (hands_->ownerless() == 0 && audit.live(row.holding) != count)) {
            blame(after,
                  numbers("the guest's view and the audit's differ: " + std::string{row.name},
                          count, audit.live(row.holding)));
        }
    }
    if (of_guest != living) {
        blame(after,
              numbers("the guest's view and the audit's differ: all objects", of_guest, living));
    }
}

void Life::check_bytes(std::string_view after) {
    const device::Device& device = hands_->device();
    if (device.needs_reset()) {
        return;
    }
    const device::Holdings held = device.holdings();
    const auto retained = device.backend().diagnostics().retained_bytes;
    if (held.buffer_bytes + held.program_bytes != retained) {
        blame(after, numbers("the device charges other bytes than the backend spends",
                             held.buffer_bytes + held.program_bytes, retained));
    }
}

void Life::check_end() {
    const device::Holdings held = hands_->device().holdings();
    if (!world_->audit().is_clean() || total(held) != 0 || held.buffer_bytes != 0 ||
        held.program_bytes != 0 || held.quarantined != device::Tally{}) {
        blame("the end", "something is left over");
    }
    if (world_->script().left() == world_->faults().size() && !world_->faults().empty()) {
        blame("the end", "no fault of the script has happened");
    }
}

void Life::blame(std::string_view after, std::string_view what) {
    if (finding_.empty()) {
        finding_ = "After (" + std::string{after} + "): " + std::string{what};
    }
}

bool Life::goes_on() const {
    return finding_.empty() && !hands_->was_told_of_loss();
}

bool Life::is_scripted_error(Status status) const {
    return std::ranges::any_of(world_->faults(), [status](const mock::Fault& fault) {
        // A device does not pass on what only it can say of an ID.
        const Status told =
            fault.status == Status::stale_object ? Status::internal_error : fault.status;
        return fault.action == mock::Action::event_fails && told == status;
    });
}

std::uint64_t Life::audited() const {
    const mock::Audit& audit = world_->audit();
    return audit.live() - audit.live(Holding::prepared) + audit.indeterminate();
}

}  // namespace virtaccel::faults
