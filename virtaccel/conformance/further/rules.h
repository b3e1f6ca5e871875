#pragma once
// The further cases for backends, one table for each file of them. The one thing to know: a case is
// one row, and a rule that holds for many values is one function with a row for each value.
// Internal to this folder's parent.

#include <span>
#include <string_view>

#include "virtaccel/conformance/bench.h"

namespace virtaccel::conformance::further {

struct Rule {
    std::string_view name;
    std::string_view title;
    Judge judge = nullptr;
    // The case may be skipped for want of a capability.
    bool needs_capability = false;
};

using Rules = std::span<const Rule>;

// What the backend says of itself.
[[nodiscard]] Rules metadata_rules();
// Every advertised limit, filled to its edge, passed, and filled again.
[[nodiscard]] Rules limit_rules();
// What an allocation says it is: properties, costs, alignment.
[[nodiscard]] Rules report_rules();
// Nothing of an earlier owner.
[[nodiscard]] Rules zero_rules();
// Bytes in pieces, in and out.
[[nodiscard]] Rules transfer_rules();
// The copies there are, and that there are no others.
[[nodiscard]] Rules copy_rules();
// Which artifacts are taken, and why others are not.
[[nodiscard]] Rules artifact_rules();
// The two steps of a load.
[[nodiscard]] Rules load_rules();
// Which submissions are taken, and what a refused one leaves.
[[nodiscard]] Rules submission_rules();
// What an event is from its submission to its end, with a timeout or without.
[[nodiscard]] Rules event_rules();
[[nodiscard]] Rules timeout_rules();
[[nodiscard]] Rules cancel_rules();
// Contexts, queues and instances side by side.
[[nodiscard]] Rules context_rules();
// The end of a device and of an instance, in the middle of work.
[[nodiscard]] Rules reset_rules();
// The same thing a thousand times.
[[nodiscard]] Rules wear_rules();

}  // namespace virtaccel::conformance::further
