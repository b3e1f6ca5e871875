#pragma once
// A backend that computes with the oracles themselves: it runs every case of every type, so that
// cases can be shown to pass, and, with an interference, to fail. Everything but programs and
// events is the null backend's.

#include <cstdint>
#include <string_view>

#include "backends/null/null.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/numerics/oracle.h"

namespace virtaccel::numerics::testing {

class OracleBackend : public backends::null::NullBackend {
  public:
    // `interference` outlives it.
    OracleBackend(const Memory& memory, const Interference& interference) noexcept
        : NullBackend(memory), interference_(&interference) {}

    [[nodiscard]] std::string_view name() const { return "oracle"; }

    [[nodiscard]] std::string_view description() const { return "the oracles themselves"; }

    [[nodiscard]] backend::Diagnostics diagnostics() const;

    [[nodiscard]] Result<backend::PreparedHandle> prepare(const backend::Artifact& artifact);
    void abandon(backend::PreparedHandle prepared);
    [[nodiscard]] Result<backend::LoadedProgram> load(backend::ContextHandle context,
                                                      backend::PreparedHandle prepared);
    [[nodiscard]] backend::ReleaseOutcome unload(backend::ProgramHandle program);
    // Computes before it answers.
    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission);
    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle event);
    [[nodiscard]] Status cancel(backend::EventHandle event);
    [[nodiscard]] backend::ReleaseOutcome destroy_event(backend::EventHandle event);

  private:
    const Interference* interference_;
    std::uint64_t programs_ = 0;
    std::uint64_t events_ = 0;
};

static_assert(backend::Backend<OracleBackend>);

}  // namespace virtaccel::numerics::testing
