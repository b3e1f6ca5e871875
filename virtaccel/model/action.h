#pragma once
// One step of a schedule: a request to the device, right or wrong, or something that the harness
// does. The one thing to know: a step names objects by the names that earlier steps gave them, so
// that it means something, if only a stale ID, whatever is left out before it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "virtaccel/model/model.h"
#include "virtaccel/model/wire_text.h"

namespace virtaccel::model {

// A number, or an object by its name.
struct Atom {
    std::uint64_t number = 0;
    std::string object;
    friend bool operator==(const Atom&, const Atom&) = default;
};

struct Setting {
    std::string key;
    std::vector<Atom> value;
    friend bool operator==(const Setting&, const Setting&) = default;
};

// `name` is what the action makes is called; empty for most. What is not set is as it should be.
struct Action {
    std::string name;
    std::string verb;
    std::vector<Setting> settings;
    friend bool operator==(const Action&, const Action&) = default;

    // The first number of a setting.
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view key) const;
    // The setting, or null.
    [[nodiscard]] const Setting* find(std::string_view key) const;
};

// What follows the fixed part of a request.
enum class TailKind : std::uint8_t { none, data, artifact, bindings };

struct Field {
    std::string_view name;
    std::size_t width = 8;
    std::uint64_t usual = 0;
    bool counts_tail = false;  // usually the tail's bytes, or bindings
};

// A command, as a schedule names it.
struct Verb {
    std::string_view name;
    std::uint64_t opcode = 0;
    std::vector<Field> fields{};
    TailKind tail = TailKind::none;
    std::optional<Kind> makes = std::nullopt;
};

[[nodiscard]] const std::vector<Verb>& request_verbs();

// Null if it is not a request.
[[nodiscard]] const Verb* find_verb(std::string_view name);

// Whether an action of that verb, request or not, can have such a setting.
[[nodiscard]] bool is_setting(std::string_view verb, std::string_view key);

// Whether there is such an action.
[[nodiscard]] bool is_verb(std::string_view verb);

// The ID behind a name; some ID that is never issued if the name was not given.
using Resolve = std::function<std::uint64_t(const std::string& object)>;

// The frame that a request sends; `request_id` unless it sets its own. Settings of every request:
// opcode, header_flags, request_id and length replace what the header says; extra appends bytes to
// the payload and cut ends the frame early; poke=OFFSET:VALUE replaces one byte, several times.
[[nodiscard]] Bytes frame_of(const Action& action, const Resolve& resolve,
                             std::uint64_t request_id);

}  // namespace virtaccel::model
