#pragma once
// Everything that a request can be refused for, as tables: one row for each fault of each command,
// in the order in which a device has to find them (spec §5, and the checks printed for each
// record). The one thing to know: a row alone is one case, and every two rows of a command together
// show which of them comes first. Internal to this module.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/base/status.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/stage.h"

namespace virtaccel::conformance::rules {

// Where a device finds a fault.
enum class Step : std::uint8_t {
    bytes,    // steps 3 to 5: it shows in the frame, whatever the device holds
    objects,  // step 7: it shows in what the device holds
};

// One way to be refused. `wanted` is the answer; without one the chain comes back with length 0.
struct Fault {
    std::string_view name;
    std::string_view title;
    std::optional<Status> wanted;
    void (*bend)(Draft& draft, const Cast& cast) = nullptr;
    Step step = Step::bytes;
    // Empty if the device can have this fault at all; otherwise why not.
    std::string_view (*lacks)(const Cast& cast) = nullptr;
};

enum class Kind : std::uint8_t { context, buffer, program, queue, event };

// An ID in a payload.
struct IdField {
    Kind kind = Kind::context;
    std::size_t offset = 0;
};

struct CommandRules {
    std::string_view prefix;
    Draft (*good)(Stage& stage, const Cast& cast) = nullptr;
    std::span<const Fault> (*faults)() = nullptr;
    std::span<const IdField> ids{};
};

// One row for each command, and one more, the first, for what a frame can be refused for before its
// command is looked at.
[[nodiscard]] std::span<const CommandRules> command_rules();

// The part of the first row's faults that every command's frame can have as well.
[[nodiscard]] std::span<const Fault> frame_faults();

}  // namespace virtaccel::conformance::rules
