#pragma once
// Whether a checked graph makes sense for a target: version, profiles, level, extensions, and every
// operator's types, attributes, constants and shapes (TOSA 1.0, ERROR_IF). A backend that has
// called this may trust all that an operator's row says.

#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"

namespace virtaccel::tosa {

// Refuses the first thing that does not fit: INVALID_ARGUMENT if it fits no target, INCOMPATIBLE if
// it fits another. Throws nothing, and allocates nothing.
[[nodiscard]] Checked<void> validate_for(const Graph& graph, const Target& target) noexcept;

// The narrowest target of level 8K that `graph` fits: what a loader declares for a model. Profiles
// are both where either would do. A graph that fits no target gets one that validate_for() refuses
// with the reason.
[[nodiscard]] Target target_of(const Graph& graph) noexcept;

}  // namespace virtaccel::tosa
