#pragma once
// A backend in front of another one that keeps an audit of its caller. The one thing to know: it
// gives out handles of its own, so it tells objects apart that the backend behind it does not, and
// what the caller does wrong stops here, with STALE_OBJECT, BUSY or DEVICE_LOST.
//
//     device  ->  AuditBackend  ->  FaultBackend  ->  any backend

#include <cstdint>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/audit.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::mock {

// `audit` outlives it. One thread, also for `prepare`. It stays where it is.
class AuditBackend : public Forwarding {
  public:
    AuditBackend(Audit& audit, backend::AnyBackend inner) noexcept;

    AuditBackend(const AuditBackend&) = delete;
    AuditBackend& operator=(const AuditBackend&) = delete;
    ~AuditBackend();

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
    using Record = Audit::Record;
    struct Bound;

    // The steps of every call. `enter` is false if the instance is lost; `leave` gives the status
    // back.
    [[nodiscard]] bool enter(Call call);
    Status leave(Call call, backend::Certainty certainty, Status status,
                 const Record* object = nullptr);
    Status refuse(Call call, Status status);

    template <class Kind>
    [[nodiscard]] Record* find(backend::Handle<Kind> handle,
                               Violation if_gone = Violation::used_after_release);
    template <class Made, class Make>
    Result<Made> create(Call call, Record* context, Make make);
    template <class Kind, class End>
    backend::ReleaseOutcome release(Call call, backend::Handle<Kind> handle, End end);
    template <class Act>
    Status act_on(Call call, Record* record, Act act);
    [[nodiscard]] Status resolve(const backend::Submission& submission, Bound& bound);
    backend::SubmitOutcome submit_bound(const backend::Submission& submission, Bound& bound);

    Audit* audit_;
    std::uint32_t instance_;
    bool lost_ = false;
};

static_assert(backend::Backend<AuditBackend>);

}  // namespace virtaccel::mock
