#pragma once
// A backend that goes wrong where a script says so, and otherwise does what the backend behind it
// does. The one thing to know: whatever it answers keeps the contract's promises about ownership,
// so what is wrong after a fault is the caller's doing.

#include <array>
#include <cstdint>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/script.h"  // IWYU pragma: export

namespace virtaccel::mock {

// `script` outlives it. At most `script_entries_max` events that a script lets fail are live at
// once. One thread, also for `prepare`.
class FaultBackend : public Forwarding {
  public:
    FaultBackend(Script& script, backend::AnyBackend inner) noexcept
        : Forwarding(std::move(inner)), script_(&script) {}

    [[nodiscard]] Result<backend::ContextHandle> create_context();
    [[nodiscard]] backend::ReleaseOutcome destroy_context(backend::ContextHandle context);
    [[nodiscard]] Result<backend::Allocation> allocate(backend::ContextHandle context,
                                                       const backend::BufferRequest& request);
    [[nodiscard]] backend::ReleaseOutcome free(backend::BufferHandle buffer);
    [[nodiscard]] Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source);
    [[nodiscard]] Status read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target);
    [[nodiscard]] Result<backend::PreparedHandle> prepare(const backend::Artifact& artifact);
    void abandon(backend::PreparedHandle prepared);
    [[nodiscard]] Result<backend::LoadedProgram> load(backend::ContextHandle context,
                                                      backend::PreparedHandle prepared);
    [[nodiscard]] backend::ReleaseOutcome unload(backend::ProgramHandle program);
    [[nodiscard]] Result<backend::QueueHandle> create_queue(backend::ContextHandle context);
    [[nodiscard]] backend::ReleaseOutcome destroy_queue(backend::QueueHandle queue);
    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission);
    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle event);
    [[nodiscard]] Status cancel(backend::EventHandle event);
    [[nodiscard]] backend::ReleaseOutcome destroy_event(backend::EventHandle event);

  private:
    // An event that fails where the one behind it completes; free while `error` is OK.
    struct Failing {
        backend::EventHandle event;
        Status error = Status::ok;
    };

    template <class Made, class Make, class Undo>
    Result<Made> create(Call call, Make make, Undo undo);
    template <class Release>
    backend::ReleaseOutcome release(Call call, Release release);
    template <class Move>
    Status transfer(Call call, Move move);
    backend::SubmitOutcome take_back(backend::EventHandle event, Status status);
    void let_fail(backend::EventHandle event, Status error);
    [[nodiscard]] Failing* find(backend::EventHandle event);
    [[nodiscard]] Result<backend::EventStatus> look_at(backend::EventHandle event);
    [[nodiscard]] backend::ReleaseOutcome end(backend::EventHandle event);

    Script* script_;
    std::array<Failing, script_entries_max> failing_{};
};

static_assert(backend::Backend<FaultBackend>);

}  // namespace virtaccel::mock
