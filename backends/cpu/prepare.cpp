#include "backends/cpu/prepare.h"

#include <memory>

#include "backends/cpu/program.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"

namespace virtaccel::backends::cpu {

Result<std::unique_ptr<Program>> prepare_program(const Memory& /*memory*/,
                                                 const backend::Artifact& artifact) {
    artifact.refusals("The CPU backend runs no program yet.");
    return fail(Status::unsupported);
}

}  // namespace virtaccel::backends::cpu
