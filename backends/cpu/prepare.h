#pragma once
// An artifact becomes a program, or one sentence for each reason why not.

#include <cstdint>
#include <memory>

#include "backends/cpu/program.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"

namespace virtaccel::backends::cpu {

// Pure; any thread. What may be thrown on the way (no memory, oneDNN) ends here. `threads` is how
// many will share each step.
[[nodiscard]] Result<std::unique_ptr<Program>> prepare_program(const Memory& memory,
                                                               const backend::Artifact& artifact,
                                                               std::uint32_t threads);

}  // namespace virtaccel::backends::cpu
