#include "virtaccel/model/action.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "virtaccel/model/fixture.h"
#include "virtaccel/model/model.h"
#include "virtaccel/model/wire_text.h"

namespace virtaccel::model {
namespace {

// What any request can set.
constexpr std::array<std::string_view, 9> envelope{
    "opcode", "header_flags", "request_id", "length", "extra", "cut", "poke", "room", "pieces"};

// What the tails are made from.
constexpr std::array<std::string_view, 2> data_settings{"data", "pattern"};
constexpr std::array<std::string_view, 4> artifact_settings{"operation", "first", "second",
                                                            "operand"};
constexpr std::array<std::string_view, 1> binding_settings{"bind"};

// What is no request, and its settings.
struct Step {
    std::string_view verb;
    std::array<std::string_view, 3> settings;
};

constexpr std::array steps{
    Step{.verb = "complete", .settings = {"event"}},
    Step{.verb = "fail", .settings = {"event", "status"}},
    Step{.verb = "fault", .settings = {"call", "status", "indeterminate"}},
    Step{.verb = "prepare", .settings = {"load"}},
    Step{.verb = "finish", .settings = {"load"}},
    Step{.verb = "reset", .settings = {}},
};

bool has(const auto& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

std::vector<Field> object_field(std::string_view name) {
    return {{.name = name}};
}

std::vector<Field> transfer_fields() {
    return {{.name = "buffer"}, {.name = "offset"}, {.name = "bytes", .counts_tail = true}};
}

std::vector<Field> program_fields() {
    return {{.name = "context"},
            {.name = "format", .width = 4, .usual = fixture_format},
            {.name = "flags", .width = 4},
            {.name = "target0", .width = 4, .usual = 0x56414d4b},
            {.name = "target1", .width = 4, .usual = 0x00010000},
            {.name = "target2", .width = 4, .usual = 0x54455354},
            {.name = "target3", .width = 4, .usual = 0x4f4e4c59},
            {.name = "target4"},
            {.name = "target6"},
            {.name = "target8"},
            {.name = "target10"},
            {.name = "payload", .counts_tail = true},
            {.name = "resident", .usual = fixture_resident_bytes}};
}

std::uint64_t resolved(const Atom& atom, const Resolve& resolve) {
    return atom.object.empty() ? atom.number : resolve(atom.object);
}

void put_binding(Bytes& tail, const Setting& bind, const Resolve& resolve) {
    constexpr std::array<std::size_t, 5> widths{8, 8, 8, 4, 4};
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const auto number = i < bind.value.size() ? resolved(bind.value[i], resolve) : 0;
        put_number(tail, number, widths[i]);
    }
}

Bytes tail_of(const Action& action, TailKind kind, const Resolve& resolve) {
    Bytes tail;
    switch (kind) {
        case TailKind::none:
            break;
        case TailKind::data: {
            const auto bytes = action.number("data").value_or(0);
            const auto pattern = action.number("pattern").value_or(1);
            for (std::uint64_t i = 0; i < bytes; ++i) {
                put_number(tail, pattern + (i * 7), 1);
            }
            break;
        }
        case TailKind::artifact:
            put_number(tail, 0x4b4d4156, 4);
            put_number(tail, 1, 2);
            put_number(tail, action.number("operation").value_or(operation::barrier), 1);
            put_number(tail, 1, 1);
            put_number(tail, action.number("first").value_or(0), 4);
            put_number(tail, action.number("second").value_or(fixture_no_slot), 4);
            put_number(tail, action.number("operand").value_or(0), 8);
            break;
        case TailKind::bindings:
            for (const Setting& setting : action.settings) {
                if (setting.key == "bind") {
                    put_binding(tail, setting, resolve);
                }
            }
            break;
    }
    return tail;
}

Bytes payload_of(const Action& action, const Verb& verb, const Resolve& resolve) {
    const Bytes tail = tail_of(action, verb.tail, resolve);
    const auto count = verb.tail == TailKind::bindings ? tail.size() / 32 : tail.size();
    Bytes payload;
    for (const Field& field : verb.fields) {
        const Setting* const set = action.find(field.name);
        const auto usual = field.counts_tail ? count : field.usual;
        put_number(
            payload,
            set == nullptr || set->value.empty() ? usual : resolved(set->value.front(), resolve),
            field.width);
    }
    payload.insert(payload.end(), tail.begin(), tail.end());
    payload.resize(payload.size() + action.number("extra").value_or(0), std::byte{0});
    return payload;
}

}  // namespace

const Setting* Action::find(std::string_view key) const {
    const auto found = std::ranges::find(settings, key, &Setting::key);
    return found == settings.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> Action::number(std::string_view key) const {
    const Setting* const found = find(key);
    return found == nullptr || found->value.empty() ? std::nullopt
                                                    : std::optional{found->value.front().number};
}

const std::vector<Verb>& request_verbs() {
    static const std::vector<Verb> verbs{
        {.name = "get_device_info", .opcode = opcode::get_device_info},
        {.name = "create_context",
         .opcode = opcode::create_context,
         .fields = {{.name = "flags", .width = 4}, {.name = "reserved", .width = 4}},
         .makes = Kind::context},
        {.name = "destroy_context",
         .opcode = opcode::destroy_context,
         .fields = object_field("context")},
        {.name = "allocate_buffer",
         .opcode = opcode::allocate_buffer,
         .fields = {{.name = "context"},
                    {.name = "bytes", .usual = 64},
                    {.name = "alignment", .usual = 64},
                    {.name = "domain", .width = 1, .usual = 1},
                    {.name = "reserved0", .width = 7},
                    {.name = "usage", .width = 4, .usual = usage::known},
                    {.name = "reserved1", .width = 4}},
         .makes = Kind::buffer},
        {.name = "free_buffer", .opcode = opcode::free_buffer, .fields = object_field("buffer")},
        {.name = "write_buffer",
         .opcode = opcode::write_buffer,
         .fields = transfer_fields(),
         .tail = TailKind::data},
        {.name = "read_buffer", .opcode = opcode::read_buffer, .fields = transfer_fields()},
        {.name = "load_program",
         .opcode = opcode::load_program,
         .fields = program_fields(),
         .tail = TailKind::artifact,
         .makes = Kind::program},
        {.name = "unload_program",
         .opcode = opcode::unload_program,
         .fields = object_field("program")},
        {.name = "create_queue",
         .opcode = opcode::create_queue,
         .fields = {{.name = "context"},
                    {.name = "flags", .width = 4},
                    {.name = "reserved", .width = 4}},
         .makes = Kind::queue},
        {.name = "destroy_queue", .opcode = opcode::destroy_queue, .fields = object_field("queue")},
        {.name = "submit",
         .opcode = opcode::submit,
         .fields = {{.name = "queue"},
                    {.name = "program"},
                    {.name = "count", .width = 4, .counts_tail = true},
                    {.name = "flags", .width = 4},
                    {.name = "timeout"}},
         .tail = TailKind::bindings,
         .makes = Kind::event},
        {.name = "poll_event", .opcode = opcode::poll_event, .fields = object_field("event")},
        {.name = "cancel_event", .opcode = opcode::cancel_event, .fields = object_field("event")},
        {.name = "destroy_event", .opcode = opcode::destroy_event, .fields = object_field("event")},
    };
    return verbs;
}

const Verb* find_verb(std::string_view name) {
    const auto found = std::ranges::find(request_verbs(), name, &Verb::name);
    return found == request_verbs().end() ? nullptr : &*found;
}

bool is_verb(std::string_view verb) {
    return find_verb(verb) != nullptr || std::ranges::find(steps, verb, &Step::verb) != steps.end();
}

bool is_setting(std::string_view verb, std::string_view key) {
    const Verb* const request = find_verb(verb);
    if (request == nullptr) {
        const auto* const step = std::ranges::find(steps, verb, &Step::verb);
        return step != steps.end() && !key.empty() && has(step->settings, key);
    }
    return has(envelope, key) ||
           std::ranges::find(request->fields, key, &Field::name) != request->fields.end() ||
           (request->tail == TailKind::data && has(data_settings, key)) ||
           (request->tail == TailKind::artifact && has(artifact_settings, key)) ||
           (request->tail == TailKind::bindings && has(binding_settings, key));
}

Bytes frame_of(const Action& action, const Resolve& resolve, std::uint64_t request_id) {
    const Verb* const verb = find_verb(action.verb);
    if (verb == nullptr) {
        return {};
    }
    const Bytes payload = payload_of(action, *verb, resolve);
    Bytes frame;
    put_number(frame, action.number("opcode").value_or(verb->opcode), 2);
    put_number(frame, action.number("header_flags").value_or(0), 2);
    put_number(frame, action.number("length").value_or(payload.size()), 4);
    put_number(frame, action.number("request_id").value_or(request_id), 8);
    frame.insert(frame.end(), payload.begin(), payload.end());
    for (const Setting& setting : action.settings) {
        if (setting.key == "poke" && setting.value.size() == 2 &&
            setting.value[0].number < frame.size()) {
            frame[setting.value[0].number] = static_cast<std::byte>(setting.value[1].number);
        }
    }
    frame.resize(
        std::min<std::uint64_t>(frame.size(), action.number("cut").value_or(frame.size())));
    return frame;
}

}  // namespace virtaccel::model
