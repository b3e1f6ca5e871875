#pragma once
// What an allocation says of itself, judged against what was asked for (spec §6). Internal to this
// folder.

#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

// "host-visible", "device-local", "shared".
[[nodiscard]] std::string_view name_of(MemoryDomain domain);

// Ends the case unless the report is one that a request may be answered with.
[[nodiscard]] Check check_report(const backend::BufferRequest& request,
                                 const backend::Allocation& made);

}  // namespace virtaccel::conformance
