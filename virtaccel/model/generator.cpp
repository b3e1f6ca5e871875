#include "virtaccel/model/generator.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "virtaccel/mock/script.h"
#include "virtaccel/model/action.h"
#include "virtaccel/model/fault.h"
#include "virtaccel/model/fixture.h"
#include "virtaccel/model/model.h"
#include "virtaccel/model/trial.h"
#include "virtaccel/model/wire_text.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

Atom number(std::uint64_t value) {
    return {.number = value, .object = {}};
}

void set(Action& action, std::string key, std::vector<Atom> value) {
    action.settings.push_back({.key = std::move(key), .value = std::move(value)});
}

void set(Action& action, std::string key, std::uint64_t value) {
    set(action, std::move(key), std::vector{number(value)});
}

Action act(std::string verb, std::string name = {}) {
    return {.name = std::move(name), .verb = std::move(verb), .settings = {}};
}

}  // namespace

std::uint64_t Generator::any(std::initializer_list<std::uint64_t> choices) {
    return choices.begin()[below(choices.size())];
}

World Generator::world() {
    World world;
    world.capabilities = any({0x27, 0x27, 0x27, 0x23, 0x05, 0x22});
    world.contexts = any({1, 2, 3});
    world.buffers = any({1, 2, 4});
    world.programs = any({1, 2, 4});
    world.queues = any({1, 2});
    world.events = any({1, 2, 5});
    world.bindings = any({1, 2, 4});
    world.buffer_bytes = any({64, 200, 256});
    world.artifact_bytes = any({24, 30, 64});
    world.request_bytes = any({120, 150, 512});
    world.response_bytes = any({92, 160, 300});
    world.buffer_budget_bytes = any({300, 512, 1024, 4096});
    world.program_budget_bytes = any({64, 150, 320, 1024});
    world.deferred_loads = any({0, 0, 1, 2});
    return world;
}

std::string Generator::fresh(char letter) {
    return letter + std::to_string(++names_);
}

std::optional<std::uint64_t> Generator::context_of(const Trial& trial, const Atom& atom) {
    const auto found = trial.names().find(atom.object);
    return found == trial.names().end()
               ? std::nullopt
               : trial.model().context_of(found->second.kind, found->second.id);
}

Atom Generator::object(const Trial& trial, Kind kind, std::optional<std::uint64_t> context) {
    const bool wrong = one_in(16);
    if (wrong && one_in(4)) {
        return number(any({0, 1, largest, std::uint64_t{1} << 32U}));
    }
    std::vector<std::string> names;
    for (const auto& [name, named] : trial.names()) {
        const auto at = trial.model().context_of(named.kind, named.id);
        const bool fits = named.kind == kind && at && (!context || at == context);
        if (fits || wrong) {
            names.push_back(name);
        }
    }
    return names.empty() ? Atom{.number = 0, .object = "none"}
                         : Atom{.number = 0, .object = names[below(names.size())]};
}

Action Generator::create_context(const Trial& /*trial*/) {
    Action action = act("create_context", fresh('c'));
    if (one_in(12)) {
        set(action, one_in(2) ? "flags" : "reserved", 1 + below(3));
    }
    return action;
}

Action Generator::allocate(const Trial& trial) {
    Action action = act("allocate_buffer", fresh('b'));
    set(action, "context", {object(trial, Kind::context)});
    const auto largest_bytes = trial.world().buffer_bytes;
    set(action, "bytes",
        one_in(8) ? any({0, 1, largest_bytes, largest_bytes + 1, largest})
                  : 1 + below(largest_bytes));
    if (one_in(4)) {
        set(action, "usage", any({1, 2, 4, 8, 16, 3, 12, 0, 0x20, 0x8000001f}));
    }
    if (one_in(4)) {
        set(action, "domain", any({1, 2, 3, 2, 3, 0, 4}));
    }
    if (one_in(6)) {
        set(action, "alignment", any({1, 256, 4096, 8192, 0, 3, std::uint64_t{1} << 63U}));
    }
    if (one_in(16)) {
        set(action, one_in(2) ? "reserved0" : "reserved1", 1);
    }
    return action;
}

Action Generator::transfer(const Trial& trial) {
    const bool writes = one_in(2);
    Action action = act(writes ? "write_buffer" : "read_buffer");
    set(action, "buffer", {object(trial, Kind::buffer)});
    set(action, "offset", one_in(16) ? largest : any({0, 0, 1, below(64)}));
    const auto bytes = one_in(8) ? below(320) : 1 + below(32);
    if (writes) {
        set(action, "data", bytes);
        set(action, "pattern", below(256));
        if (one_in(12)) {
            set(action, "bytes", any({bytes + 1, 0, largest}));
        }
    } else {
        set(action, "bytes", one_in(12) ? any({0, largest, largest - 1, 4096}) : bytes);
    }
    return action;
}

Action Generator::load(const Trial& trial) {
    Action action = act("load_program", fresh('p'));
    set(action, "context", {object(trial, Kind::context)});
    const auto operation = one_in(12) ? 4 + below(200) : below(4);
    set(action, "operation", operation);
    if (operation == operation::copy) {
        set(action, "first", below(3));
        set(action, "second", one_in(8) ? fixture_no_slot : below(3));
    } else {
        set(action, "first", one_in(16) ? fixture_no_slot : below(2));
    }
    if (operation >= operation::fill || one_in(12)) {
        set(action, "operand", below(256));
    }
    if (one_in(8)) {
        constexpr std::array keys{"format",   "flags",   "target0", "target3",
                                  "target10", "payload", "resident"};
        set(action, keys[below(keys.size())], any({0, 1, 64, largest}));
    }
    return action;
}

Action Generator::create_queue(const Trial& trial) {
    Action action = act("create_queue", fresh('q'));
    set(action, "context", {object(trial, Kind::context)});
    if (one_in(12)) {
        set(action, one_in(2) ? "flags" : "reserved", 1);
    }
    return action;
}

// Bindings that fit a copy, or a program of one slot, or nothing.
Action Generator::submit(const Trial& trial) {
    Action action = act("submit", fresh('e'));
    const Atom queue = object(trial, Kind::queue);
    const auto context = context_of(trial, queue);
    set(action, "queue", {queue});
    set(action, "program", {object(trial, Kind::program, context)});
    const auto count = one_in(12) ? below(6) : 1 + below(2);
    const auto bytes = 1 + below(one_in(6) ? 300 : 24);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto access = count == 2 && !one_in(8) ? 1 + i : any({1, 2, 3, 3, below(5)});
        set(action, "bind",
            {object(trial, Kind::buffer, context), number(any({0, 0, 1, below(40)})),
             number(one_in(16) ? any({0, largest}) : bytes), number(one_in(8) ? below(3) : i),
             number(access)});
    }
    if (one_in(8)) {
        set(action, "timeout", any({0, 1, largest}));
    }
    if (one_in(16)) {
        set(action, one_in(2) ? "flags" : "count", any({0, 1, 4096, 4097, 0xffffffff}));
    }
    return action;
}

Action Generator::on_event(const Trial& trial) {
    Action action = act(one_in(3) ? "cancel_event" : one_in(2) ? "poll_event" : "destroy_event");
    set(action, "event", {object(trial, Kind::event)});
    return action;
}

Action Generator::end_event(const Trial& trial) {
    Action action = act(one_in(4) ? "fail" : "complete");
    set(action, "event", {object(trial, Kind::event)});
    if (action.verb == "fail") {
        set(action, "status",
            one_in(3)
                ? any({status::device_lost, 77})
                : any({status::internal_error, status::deadline_expired, status::out_of_memory}));
    }
    return action;
}

Action Generator::end_load(const Trial& trial) {
    const auto names = trial.waiting();
    Action action = act(one_in(3) ? "prepare" : "finish");
    set(action, "load",
        {{.number = 0, .object = names.empty() ? "none" : names[below(names.size())]}});
    return action;
}

Action Generator::release(const Trial& trial) {
    switch (below(5)) {
        case 0: {
            Action action = act("destroy_context");
            set(action, "context", {object(trial, Kind::context)});
            return action;
        }
        case 1: {
            Action action = act("unload_program");
            set(action, "program", {object(trial, Kind::program)});
            return action;
        }
        case 2: {
            Action action = act("destroy_queue");
            set(action, "queue", {object(trial, Kind::queue)});
            return action;
        }
        default: {
            Action action = act("free_buffer");
            set(action, "buffer", {object(trial, Kind::buffer)});
            return action;
        }
    }
}

Action Generator::fault(const Trial& /*trial*/) {
    Action action = act("fault");
    faulty_call_ = failing_calls[below(failing_calls.size())];
    after_fault_ = true;
    set(action, "call", {{.number = 0, .object = std::string{mock::row_of(faulty_call_).name}}});
    set(action, "status",
        one_in(3) ? any({status::device_lost, 12, 77})
                  : any({status::busy, status::out_of_memory, status::internal_error,
                         status::deadline_expired}));
    if (one_in(3)) {
        set(action, "indeterminate", 1);
    }
    return action;
}

Action Generator::meet_fault(const Trial& trial) {
    const auto on = [&](std::string verb, std::string key, Kind kind) {
        Action action = act(std::move(verb));
        set(action, std::move(key), {object(trial, kind)});
        return action;
    };
    switch (faulty_call_) {
        case Call::create_context:
            return create_context(trial);
        case Call::destroy_context:
            return on("destroy_context", "context", Kind::context);
        case Call::allocate:
            return allocate(trial);
        case Call::free:
            return one_in(3) ? allocate(trial) : on("free_buffer", "buffer", Kind::buffer);
        case Call::write:
        case Call::read:
            return transfer(trial);
        case Call::prepare:
        case Call::load:
            return load(trial);
        case Call::unload:
            return on("unload_program", "program", Kind::program);
        case Call::create_queue:
            return create_queue(trial);
        case Call::destroy_queue:
            return on("destroy_queue", "queue", Kind::queue);
        case Call::submit:
            return submit(trial);
        default:
            break;
    }
    return on("destroy_event", "event", Kind::event);
}

void Generator::spoil(Action& action) {
    switch (below(9)) {
        case 0:
            set(action, "header_flags", any({1, 2, 0x8000}));
            break;
        case 1:
            set(action, "opcode", any({0, 2, 0x0103, 0x0204, 0x0504, 0xffff, 0x0501, 0x0200}));
            break;
        case 2:
            set(action, "request_id", 0);
            break;
        case 3:
            set(action, "length", any({0, 1, 8, 24, 0xffffffff}));
            break;
        case 4:
            set(action, "extra", any({1, 8, 32, 400}));
            break;
        case 5:
            set(action, "cut", below(60));
            break;
        case 6:
            set(action, "room", one_in(2) ? below(30) : any({15, 16, 23, 24, 91, 92, 40}));
            break;
        default:
            set(action, "poke", {number(below(120)), number(any({0, 1, 0xff, below(256)}))});
            break;
    }
}

Action Generator::next(const Trial& trial) {
    using Make = Action (Generator::*)(const Trial&);

    struct Choice {
        std::uint64_t weight;
        Make make;
    };

    constexpr std::array choices{
        Choice{6, &Generator::create_context}, Choice{14, &Generator::allocate},
        Choice{20, &Generator::transfer},      Choice{10, &Generator::load},
        Choice{6, &Generator::create_queue},   Choice{24, &Generator::submit},
        Choice{24, &Generator::on_event},      Choice{12, &Generator::end_event},
        Choice{9, &Generator::release},        Choice{3, &Generator::fault}};
    // A lost device has little left to show.
    if (one_in(trial.model().is_lost() ? 10 : 90)) {
        return act("reset");
    }
    if (std::exchange(after_fault_, false) && !one_in(4)) {
        return meet_fault(trial);
    }
    if (one_in(trial.model().is_lost() ? 10 : 60)) {
        return act("get_device_info");
    }
    if (!trial.waiting().empty() && one_in(8)) {
        return end_load(trial);
    }
    std::uint64_t all = 0;
    for (const Choice& choice : choices) {
        all += choice.weight;
    }
    auto at = below(all);
    std::size_t index = 0;
    while (at >= choices[index].weight) {
        at -= choices[index].weight;
        ++index;
    }
    Action action = (this->*choices[index].make)(trial);
    if (find_verb(action.verb) != nullptr) {
        if (one_in(10)) {
            spoil(action);
        }
        if (one_in(3)) {
            set(action, "pieces", 1 + below(1000));
        }
    }
    return action;
}

}  // namespace virtaccel::model
