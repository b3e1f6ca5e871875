// A device and its model on a session that the input makes up: limits, one call of the backend that
// fails, then requests right and wrong, frames byte by byte, ends of events and of loads, resets.
// Where the two part, the schedule is printed as a file for `virtaccel replay`.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/mock/script.h"
#include "virtaccel/model/action.h"
#include "virtaccel/model/fault.h"
#include "virtaccel/model/fixture.h"
#include "virtaccel/model/model.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/model/trial.h"
#include "virtaccel/model/wire_text.h"
#include "virtaccel/model/world.h"

namespace {

namespace model = virtaccel::model;

using model::Action;
using model::Atom;
using model::Kind;
using virtaccel::testing::Choices;
// Known ones and others.
using Statuses = std::array<std::uint64_t, 6>;

constexpr std::size_t actions_max = 100;
constexpr std::uint64_t largest = ~std::uint64_t{0};

Atom number(std::uint64_t value) {
    return {.number = value, .object = {}};
}

Atom name(std::string_view object) {
    return {.number = 0, .object = std::string{object}};
}

void set(Action& action, std::string_view key, std::vector<Atom> value) {
    action.settings.push_back({.key = std::string{key}, .value = std::move(value)});
}

void set(Action& action, std::string_view key, std::uint64_t value) {
    set(action, key, std::vector{number(value)});
}

// The kind of object that a field of a request names.
std::optional<Kind> kind_of(std::string_view field) {
    constexpr std::array<std::pair<std::string_view, Kind>, 5> kinds{{{"context", Kind::context},
                                                                      {"buffer", Kind::buffer},
                                                                      {"program", Kind::program},
                                                                      {"queue", Kind::queue},
                                                                      {"event", Kind::event}}};
    const auto* const found =
        std::ranges::find(kinds, field, [](const auto& entry) { return entry.first; });
    return found == kinds.end() ? std::nullopt : std::optional{found->second};
}

model::World world_from(Choices& choices) {
    using Few = std::array<std::uint64_t, 3>;
    model::World world;
    world.capabilities = choices.one_of(std::array<std::uint64_t, 5>{0x27, 0x23, 0x05, 0x22, 0x20});
    world.contexts = choices.one_of(Few{3, 1, 2});
    world.buffers = choices.one_of(Few{4, 1, 2});
    world.programs = choices.one_of(Few{4, 1, 2});
    world.queues = choices.one_of(Few{2, 1, 3});
    world.events = choices.one_of(Few{5, 1, 2});
    world.bindings = choices.one_of(Few{4, 1, 2});
    world.buffer_bytes = choices.one_of(Few{256, 64, 200});
    world.artifact_bytes = choices.one_of(Few{64, 24, 30});
    world.request_bytes = choices.one_of(Few{512, 120, 150});
    world.response_bytes = choices.one_of(Few{300, 92, 160});
    world.buffer_budget_bytes = choices.one_of(Few{4096, 300, 1024});
    world.program_budget_bytes = choices.one_of(Few{1024, 64, 320});
    world.deferred_loads = choices.below(3);
    return world;
}

class Session {
  public:
    explicit Session(Choices choices) : choices_(choices) {
        schedule_.world = world_from(choices_);
        auto trial = model::Trial::make({.memory = virtaccel::host::heap()}, schedule_.world);
        VIRTACCEL_CHECK(trial.has_value());
        trial_ = *std::move(trial);
    }

    void run() {
        const std::uint8_t fault_at = choices_.byte();
        const Action fault = make_fault();
        while (!choices_.done() && schedule_.actions.size() < actions_max) {
            if (schedule_.actions.size() == fault_at) {
                step(fault);
            }
            step(next());
        }
    }

  private:
    void step(Action action) {
        schedule_.actions.push_back(std::move(action));
        const auto parting = trial_->step(schedule_.actions.back());
        if (parting) {
            std::fputs(to_text(schedule_, "The last action shows it: " + *parting).c_str(), stderr);
            VIRTACCEL_CHECK(!parting);
        }
    }

    Action next() {
        const auto& verbs = model::request_verbs();
        const std::uint32_t choice = choices_.below(24);
        if (choice < verbs.size()) {
            return request(verbs[choice]);
        }
        switch (choice) {
            case 15:
                return on_event("complete");
            case 16: {
                Action action = on_event("fail");
                set(action, "status", choices_.one_of(Statuses{65535, 9, 8, 6, 77, 12}));
                return action;
            }
            case 17:
                return make_fault();
            case 18:
                return on_load("prepare");
            case 19:
                return on_load("finish");
            case 20:
                return {.name = {}, .verb = "reset", .settings = {}};
            case 21:
                return raw_frame();
            default:
                // What most sessions are made of.
                return request(*model::find_verb(choices_.one_of(
                    std::array{"create_context", "allocate_buffer", "load_program", "create_queue",
                               "submit", "write_buffer", "read_buffer", "destroy_event"})));
        }
    }

    Action make_fault() {
        Action action{.name = {}, .verb = "fault", .settings = {}};
        set(action, "call",
            {name(virtaccel::mock::row_of(choices_.one_of(model::failing_calls)).name)});
        set(action, "status", choices_.one_of(Statuses{5, 6, 9, 12, 77, 65535}));
        if (choices_.one_in(3)) {
            set(action, "indeterminate", 1);
        }
        return action;
    }

    Action on_event(std::string_view verb) {
        Action action{.name = {}, .verb = std::string{verb}, .settings = {}};
        set(action, "event", {object(Kind::event)});
        return action;
    }

    Action on_load(std::string_view verb) {
        Action action{.name = {}, .verb = std::string{verb}, .settings = {}};
        const auto names = trial_->waiting();
        set(action, "load", {name(names.empty() ? "none" : choices_.one_of(names))});
        return action;
    }

    // An object of that kind: a live one, if the input does not say otherwise.
    Atom object(Kind kind) {
        std::vector<std::string_view> live;
        std::vector<std::string_view> all;
        for (const auto& [known, named] : trial_->names()) {
            all.push_back(known);
            if (named.kind == kind && trial_->model().context_of(kind, named.id)) {
                live.push_back(known);
            }
        }
        if (choices_.one_in(16)) {
            return all.empty() || choices_.one_in(2)
                       ? number(choices_.one_of(std::array{std::uint64_t{0}, std::uint64_t{1},
                                                           std::uint64_t{1} << 32U, largest}))
                       : name(choices_.one_of(all));
        }
        return name(live.empty() ? "none" : choices_.one_of(live));
    }

    std::uint64_t odd_number(std::size_t width) {
        switch (choices_.below(4)) {
            case 0:
                return choices_.byte();
            case 1:
                return std::uint64_t{1} << choices_.below(64);
            case 2:
                return largest - choices_.byte();
            default:
                return choices_.number(width);
        }
    }

    // A request, right but for what the input makes wrong.
    Action request(const model::Verb& verb) {
        Action action{.name = "n" + std::to_string(schedule_.actions.size()),
                      .verb = std::string{verb.name},
                      .settings = {}};
        for (const model::Field& field : verb.fields) {
            if (const auto kind = kind_of(field.name)) {
                set(action, field.name, {object(*kind)});
            } else if (choices_.one_in(8)) {
                set(action, field.name, odd_number(field.width));
            } else if (field.name == "bytes" && verb.tail == model::TailKind::none) {
                set(action, field.name, 1 + choices_.below(64));
            } else if (field.name == "offset") {
                set(action, field.name, choices_.below(8));
            }
        }
        set_tail(action, verb.tail);
        if (choices_.one_in(6)) {
            set_envelope(action);
        }
        return action;
    }

    void set_tail(Action& action, model::TailKind kind) {
        if (kind == model::TailKind::data) {
            set(action, "data", choices_.below(64));
            set(action, "pattern", choices_.byte());
        } else if (kind == model::TailKind::artifact) {
            const std::uint64_t operation = choices_.below(5);
            set(action, "operation", operation);
            set(action, "first", choices_.below(3));
            if (operation == model::operation::copy) {
                set(action, "second", choices_.below(3));
            } else if (operation >= model::operation::fill) {
                set(action, "operand", choices_.byte());
            }
        } else if (kind == model::TailKind::bindings) {
            const std::uint32_t count = choices_.below(6);
            for (std::uint32_t i = 0; i < count; ++i) {
                const auto bytes = choices_.one_in(8) ? odd_number(8) : 1 + choices_.below(64);
                set(action, "bind",
                    {object(Kind::buffer), number(choices_.below(8)), number(bytes),
                     number(choices_.below(3)), number(choices_.below(5))});
            }
        }
    }

    // What is wrong around the payload, or only unusual.
    void set_envelope(Action& action) {
        constexpr std::array<std::string_view, 9> keys{"pieces",       "room",       "cut",
                                                       "extra",        "poke",       "opcode",
                                                       "header_flags", "request_id", "length"};
        const std::string_view key = choices_.one_of(keys);
        if (key == "poke") {
            set(action, key, {number(choices_.byte()), number(choices_.byte())});
        } else if (key == "opcode") {
            set(action, key, choices_.number(2));
        } else {
            set(action, key, choices_.byte());
        }
    }

    // A frame as it comes: as much of it as there is, byte for byte.
    Action raw_frame() {
        const std::size_t room = choices_.byte();
        const auto bytes = choices_.take(choices_.byte());
        const auto opcode = bytes.size() < 2 ? 0U : bytes[0] + (256U * bytes[1]);
        const auto& verbs = model::request_verbs();
        const auto verb = std::ranges::find(verbs, opcode, &model::Verb::opcode);
        Action action{.name = "n" + std::to_string(schedule_.actions.size()),
                      .verb = std::string{verb == verbs.end() ? "get_device_info" : verb->name},
                      .settings = {}};
        const auto usual =
            frame_of(action, [](const std::string&) { return std::uint64_t{0}; }, 0).size();
        if (bytes.size() > usual) {
            set(action, "extra", bytes.size() - usual);
        } else {
            set(action, "cut", bytes.size());
        }
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            set(action, "poke", {number(i), number(bytes[i])});
        }
        set(action, "room", room);
        return action;
    }

    Choices choices_;
    model::Schedule schedule_;
    std::unique_ptr<model::Trial> trial_;
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Session{Choices{{data, bytes}}}.run();
    return 0;
}
