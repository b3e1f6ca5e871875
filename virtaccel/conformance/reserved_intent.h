#pragma once
// Every flag and reserved field of every request that has one, set. Internal to this folder; a
// backend case and a device case ask the same.

#include "virtaccel/base/id.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::cases {

// Ends the case unless all are refused: flags and unknown bits with UNSUPPORTED, reserved fields
// with INVALID_ARGUMENT. `context` is live.
[[nodiscard]] Check check_reserved_intent(Stage& stage, ContextId context);

}  // namespace virtaccel::conformance::cases
