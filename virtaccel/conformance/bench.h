#pragma once
// One fresh backend in the hands of a further case: by itself, and with a device over it when the
// case wants one. The one thing to know: the runner counts what the backend holds before and after
// each case, so a case gives back what it took, and says nothing about it.

#include <cstdint>
#include <optional>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

// The backend, so that it is there before the steps on it.
struct BenchBackend {
    explicit BenchBackend(backend::AnyBackend made) : instance(std::move(made)) {}

    backend::AnyBackend instance;
};

class Bench : private BenchBackend, public Direct {
  public:
    Bench(const BackendSubject& subject, backend::AnyBackend made)
        : BenchBackend(std::move(made)), Direct(instance, subject) {}

    // The device over the backend, made when it is asked for first; never null. It may put so many
    // loads off.
    [[nodiscard]] Checked<BackendRig*> rig(std::uint32_t deferred_loads_max = 0);

    // Ends the device, and what it holds stays with the backend.
    void drop_rig() { rig_.reset(); }

    // Ends the backend, with all that it holds, and has a fresh one take its place, as an endpoint
    // does with one that a reset discards.
    [[nodiscard]] Check replace();

  private:
    std::optional<BackendRig> rig_;
};

using Judge = Check (*)(Bench& bench);

// Has a fresh backend judged. The case fails as well if something is live or in doubt before, or is
// after; or if a byte is retained that was not.
[[nodiscard]] Check judge_on_bench(const BackendSubject& subject, Judge judge);

}  // namespace virtaccel::conformance
