#pragma once
// One well-formed request of every command, on a device that has no objects: what it says is known
// in advance, and asking changes nothing. Internal to this folder.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::conformance {

struct Probe {
    std::string_view name;
    wire::Opcode opcode{};
    Bytes payload;
    // The part of the payload that is of a fixed size.
    std::size_t fixed_bytes = 0;
    // The room that success would need.
    std::size_t capacity = 0;
    Status answer = Status::ok;
};

// GET_DEVICE_INFO, which succeeds, and the commands on objects, which find none; `stale` is a
// nonzero ID that was never given out.
[[nodiscard]] std::vector<Probe> make_probes(Capabilities capabilities, std::uint64_t stale);

}  // namespace virtaccel::conformance
