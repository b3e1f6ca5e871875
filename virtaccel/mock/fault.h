#pragma once
// A backend that fails on demand: one scripted failure at a time, on the next call of its kind, and
// otherwise what the backend behind it does. The one thing to know: a rejected failure does not
// reach the backend behind, an indeterminate one does, so that what is quarantined is really there.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/forwarding.h"

namespace virtaccel::mock {

// The calls that can be made to fail.
enum class Call : std::uint8_t {
    create_context,
    destroy_context,
    allocate,
    free,
    write,
    read,
    prepare,
    load,
    unload,
    create_queue,
    destroy_queue,
    submit,
    poll,
    cancel,
    destroy_event,
};

// How a call fails. For calls that know no certainty (creations, transfers, poll, cancel) only
// `status` counts. `before`, if there is one, is called first and can do anything, such as taking
// the guest's memory away; with status OK the call then goes on as if nothing was scripted.
struct Failure {
    Status status = Status::internal_error;
    backend::Certainty certainty = backend::Certainty::rejected;
    void* state = nullptr;
    void (*before)(void* state) = nullptr;
};

// The script, which outlives the backends that read it; several may, one after the other. One
// thread.
class Script {
  public:
    // The next call of `call` fails like that, once.
    void fail_next(Call call, const Failure& failure) { at(call).next = failure; }

    // While held, every event is pending to whoever polls it.
    void hold_events(bool held) { events_held_ = held; }

    [[nodiscard]] bool events_held() const { return events_held_; }

    // How often a call was made since the script began.
    [[nodiscard]] std::uint64_t calls(Call call) const {
        return entries_[static_cast<std::size_t>(call)].calls;
    }

    // For the backend: counts the call and takes its failure, having called `before`.
    [[nodiscard]] std::optional<Failure> take(Call call) {
        Entry& entry = at(call);
        ++entry.calls;
        auto failure = std::exchange(entry.next, std::nullopt);
        if (failure && failure->before != nullptr) {
            failure->before(failure->state);
        }
        return failure && failure->status != Status::ok ? failure : std::nullopt;
    }

  private:
    struct Entry {
        std::optional<Failure> next;
        std::uint64_t calls = 0;
    };

    Entry& at(Call call) { return entries_[static_cast<std::size_t>(call)]; }

    std::array<Entry, static_cast<std::size_t>(Call::destroy_event) + 1> entries_{};
    bool events_held_ = false;
};

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
    template <class Release>
    backend::ReleaseOutcome release(Call call, Release release);

    Script* script_;
};

static_assert(backend::Backend<FaultBackend>);

}  // namespace virtaccel::mock
