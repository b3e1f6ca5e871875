// The checks that every request goes through, and what is no request.
#include "virtaccel/model/model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "virtaccel/model/fault.h"
#include "virtaccel/model/fixture.h"
#include "virtaccel/model/payload.h"
#include "virtaccel/model/wire_text.h"

namespace virtaccel::model {

Expected Expected::silence() {
    Expected expected;
    expected.silent = true;
    return expected;
}

Expected Expected::refusal(std::uint16_t status) {
    Expected expected;
    expected.statuses = {status};
    return expected;
}

Expected Expected::success(Effect effect) {
    Expected expected = refusal(status::ok);
    expected.may_ask_backend = true;
    expected.effect = std::move(effect);
    return expected;
}

Expected Expected::creation(Effect effect) {
    Expected expected = success(std::move(effect));
    expected.carries_id = true;
    return expected;
}

// Spec §5, steps 2 to 6.
Expected Model::expect(std::span<const std::byte> frame, std::uint64_t capacity,
                       const MaybeFault& fault) const {
    if (frame.size() < header_bytes || capacity < header_bytes) {
        return Expected::silence();
    }
    if (frame.size() > world_.request_bytes) {
        return Expected::refusal(status::resource_limit);
    }
    if (number_at(frame, 4, 4) != frame.size() - header_bytes || number_at(frame, 8, 8) == 0) {
        return Expected::refusal(status::invalid_argument);
    }
    const auto opcode = number_at(frame, 0, 2);
    if (number_at(frame, 2, 2) != 0 || !is_command(opcode)) {
        return Expected::refusal(status::unsupported);
    }
    const auto payload = frame.subspan(header_bytes);
    if (const auto judged = judge_payload(world_, opcode, payload); judged != status::ok) {
        return Expected::refusal(judged);
    }
    if (capacity < header_bytes + success_bytes(opcode, payload)) {
        return Expected::silence();
    }
    if (lost_) {
        return Expected::refusal(status::device_lost);
    }
    return act(opcode, payload, fault);
}

bool Model::take(const Expected& expected, std::uint64_t id) {
    if (expected.carries_id && (id == 0 || !issued_.insert(id).second)) {
        return false;
    }
    if (expected.effect) {
        expected.effect(*this, id);
    }
    return true;
}

bool Model::complete(std::uint64_t event) {
    const auto found = events_.find(event);
    if (found == events_.end() || found->second.state != event_state::pending) {
        return false;
    }
    execute(found->second);
    found->second.state = event_state::complete;
    return true;
}

bool Model::fail(std::uint64_t event, std::uint16_t error) {
    const auto found = events_.find(event);
    if (found == events_.end() || found->second.state != event_state::pending) {
        return false;
    }
    found->second.state = event_state::failed;
    found->second.error = error;
    return true;
}

// What a program does to the bytes of its ranges; as memmove where they overlap.
void Model::execute(const Event& event) {
    const auto range_of = [&](std::uint64_t slot) {
        const Binding& binding = *std::ranges::find(event.bindings, slot, &Binding::slot);
        Content& content = buffers_.at(binding.buffer).content;
        return std::span{content}.subspan(binding.offset, binding.bytes);
    };
    const FixtureProgram& code = event.code;
    if (code.operation == operation::copy) {
        const auto source = range_of(code.first_slot);
        const Content bytes{source.begin(), source.end()};
        std::ranges::copy(bytes, range_of(code.second_slot).begin());
    } else if (code.operation == operation::fill) {
        std::ranges::fill(range_of(code.first_slot), std::byte{code.operand});
    } else if (code.operation == operation::exclusive_or) {
        for (auto& byte : range_of(code.first_slot)) {
            byte = byte ? std::optional{*byte ^ std::byte{code.operand}} : std::nullopt;
        }
    }
}

// Something stays unresolved if an event cannot be ended, or if a release that will be tried fails.
ExpectedReset Model::expect_reset(const MaybeFault& fault) const {
    ExpectedReset expected;
    expected.may_ask_backend = !lost_;
    expected.held = {.objects = contexts_.size() + buffers_.size() + programs_.size() +
                                queues_.size() + events_.size(),
                     .bytes = buffer_bytes() + program_bytes()};
    const bool cancels = (world_.capabilities & capability::event_cancellation) != 0;
    const bool stuck = std::ranges::any_of(events_, [&](const auto& entry) {
        const Event& event = entry.second;
        return (event.state == event_state::pending && !cancels) ||
               event.error == status::device_lost;
    });
    const std::array<std::pair<Call, bool>, 5> releases{{
        {Call::destroy_context, !contexts_.empty()},
        {Call::free, !buffers_.empty()},
        {Call::unload, !programs_.empty()},
        {Call::destroy_queue, !queues_.empty()},
        {Call::destroy_event, !events_.empty()},
    }};
    const bool fails = fault && std::ranges::any_of(releases, [&](const auto& release) {
                           return release.second && release.first == fault->call;
                       });
    expected.discards = lost_ || stuck || fails;
    return expected;
}

// A dropped load keeps its place among those that may wait until the harness gives it back, unless
// the device went with its backend.
void Model::reset(bool discards) {
    for (const auto& [name, load] : waiting_) {
        dropped_.insert(name);
    }
    if (discards) {
        dropped_.clear();
    }
    const auto retire_all = [this](Kind kind, const auto& ids) {
        for (const auto id : ids) {
            retired_.emplace_back(kind, id);
        }
    };
    retire_all(Kind::context, contexts_);
    retire_all(Kind::buffer, buffers_ | std::views::keys);
    retire_all(Kind::program, programs_ | std::views::keys);
    retire_all(Kind::queue, queues_ | std::views::keys);
    retire_all(Kind::event, events_ | std::views::keys);
    contexts_.clear();
    buffers_.clear();
    programs_.clear();
    queues_.clear();
    events_.clear();
    waiting_.clear();
    quarantined_ = {};  // either nothing was, or it went with its backend
    lost_ = false;
}

Books Model::books() const {
    return {.contexts = contexts_.size(),
            .buffers = buffers_.size(),
            .programs = programs_.size(),
            .queues = queues_.size(),
            .events = events_.size(),
            .buffer_bytes = buffer_bytes(),
            .program_bytes = program_bytes(),
            .quarantined = quarantined_};
}

std::optional<std::uint64_t> Model::context_of(Kind kind, std::uint64_t id) const {
    if (!is_live(kind, id)) {
        return std::nullopt;
    }
    switch (kind) {
        case Kind::context:
            return id;
        case Kind::buffer:
            return buffers_.at(id).context;
        case Kind::program:
            return programs_.at(id).context;
        case Kind::queue:
            return queues_.at(id);
        case Kind::event:
            break;
    }
    return events_.at(id).context;
}

bool Model::is_live(Kind kind, std::uint64_t id) const {
    switch (kind) {
        case Kind::context:
            return contexts_.contains(id);
        case Kind::buffer:
            return buffers_.contains(id);
        case Kind::program:
            return programs_.contains(id);
        case Kind::queue:
            return queues_.contains(id);
        case Kind::event:
            break;
    }
    return events_.contains(id);
}

// Whether a live object retains `id`, or is its child.
bool Model::is_used(Kind kind, std::uint64_t id) const {
    if (kind == Kind::context) {
        return count_in(Kind::buffer, id) + count_in(Kind::program, id) +
                   count_in(Kind::queue, id) + count_in(Kind::event, id) !=
               0;
    }
    return std::ranges::any_of(events_ | std::views::values, [&](const Event& event) {
        return (kind == Kind::queue && event.queue == id) ||
               (kind == Kind::program && event.program == id) ||
               (kind == Kind::buffer &&
                std::ranges::find(event.bindings, id, &Binding::buffer) != event.bindings.end());
    });
}

std::uint64_t Model::count_in(Kind kind, std::uint64_t context) const {
    const auto count = [&](const auto& objects, auto context_of) {
        return static_cast<std::uint64_t>(std::ranges::count_if(
            objects | std::views::values,
            [&](const auto& object) { return context_of(object) == context; }));
    };
    const auto member = [](const auto& object) { return object.context; };
    switch (kind) {
        case Kind::buffer:
            return count(buffers_, member);
        case Kind::program:
            return count(programs_, member);
        case Kind::queue:
            return count(queues_, [](std::uint64_t parent) { return parent; });
        case Kind::event:
            return count(events_, member);
        case Kind::context:
            break;
    }
    return 0;
}

std::uint64_t Model::buffer_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [id, buffer] : buffers_) {
        bytes += buffer.backing_bytes;
    }
    return bytes;
}

std::uint64_t Model::program_bytes() const {
    return programs_.size() * fixture_resident_bytes;
}

std::uint64_t Model::waiting_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, load] : waiting_) {
        bytes += number_at(load.payload, 72, 8);
    }
    return bytes;
}

std::uint64_t Model::charge_of(Kind kind, std::uint64_t id) const {
    return kind == Kind::buffer    ? buffers_.at(id).backing_bytes
           : kind == Kind::program ? fixture_resident_bytes
                                   : 0;
}

void Model::erase(Kind kind, std::uint64_t id) {
    retired_.emplace_back(kind, id);
    contexts_.erase(id);
    buffers_.erase(id);
    programs_.erase(id);
    queues_.erase(id);
    events_.erase(id);
}

void Model::quarantine(Kind kind, std::uint64_t id) {
    ++quarantined_.objects;
    quarantined_.bytes += charge_of(kind, id);
    erase(kind, id);
    lost_ = true;
}

}  // namespace virtaccel::model
