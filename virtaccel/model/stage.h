#pragma once
// The trial's backend: the reference backend with somebody who watches every call of the device,
// fails the one it is told to fail, and can look into buffers. The one thing to know: a handle that
// is given up twice, used after its end, or given up while something stands on it is a misuse, and
// the first one is kept as a sentence.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/model/fault.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {

class Stage;

// Puts something between the stage and the reference backend, which outlives it: how the tests make
// a backend that errs.
using Wrap = Result<backend::AnyBackend> (*)(const Memory& memory, mock::Reference& reference);

// What outlives the backends of one trial, which come and go one after the other.
class Backstage {
  public:
    Backstage(const Memory& memory, const World& world, Wrap wrap)
        : memory_(memory), world_(world), wrap_(wrap) {}

    // Makes the instances for an endpoint; this stays where it is meanwhile.
    [[nodiscard]] backend::BackendFactory factory();

    // The next call of its kind fails like that, until this is taken back.
    void set_fault(std::optional<Fault> fault) { fault_ = fault; }

    // The instance that lives now, or null.
    [[nodiscard]] Stage* stage() { return stage_; }

    // Calls that a device made, over all instances.
    [[nodiscard]] std::uint64_t calls() const { return calls_; }

    // The first misuse, or nothing.
    [[nodiscard]] const std::string& misuse() const { return misuse_; }

  private:
    friend class Stage;

    Memory memory_;
    World world_;
    Wrap wrap_;
    std::optional<Fault> fault_;
    Stage* stage_ = nullptr;
    std::uint64_t calls_ = 0;
    std::string misuse_;
};

class Stage {
  public:
    explicit Stage(Backstage& backstage) noexcept;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    ~Stage();

    // For the trial. What the last creation was called here, and objects by that name.
    [[nodiscard]] std::uint64_t last_made() const { return last_made_; }

    [[nodiscard]] bool complete(std::uint64_t event);
    [[nodiscard]] bool fail(std::uint64_t event, Status error);
    // The bytes of a live buffer.
    [[nodiscard]] std::vector<std::byte> look_into(std::uint64_t buffer);
    // Objects that the device has not given up, prepared artifacts aside.
    [[nodiscard]] std::uint64_t live() const;

    // The backend's contract.
    [[nodiscard]] std::string_view name() const { return "stage"; }

    [[nodiscard]] std::string_view description() const { return "the watched reference backend"; }

    [[nodiscard]] DeviceIdentity identity() const { return reference_.identity(); }

    [[nodiscard]] backend::Diagnostics diagnostics() const { return reference_.diagnostics(); }

    void set_notifier(backend::Notifier notifier) { inner_.set_notifier(notifier); }

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
    // An object by the name it has here, which is the word of its handle.
    struct Record {
        std::string_view kind;
        void* object = nullptr;  // the handle of the backend behind
        std::uint64_t word = 0;
        std::vector<std::uint64_t> stands_on;
    };

    // Null, and a misuse, if the handle names no live object of that kind.
    [[nodiscard]] Record* find(std::uint64_t name, std::string_view kind, std::string_view call);
    [[nodiscard]] const Fault* fault(Call call) const;
    void misuse(std::string_view call, std::string_view what);

    template <class Handle>
    [[nodiscard]] Handle make(std::string_view kind, Handle inner,
                              const std::vector<std::uint64_t>& stands_on);
    template <class Handle>
    [[nodiscard]] backend::ReleaseOutcome release(Call call, Handle handle, std::string_view kind);

    Backstage& backstage_;
    mock::Reference reference_;
    backend::AnyBackend inner_;
    std::map<std::uint64_t, Record> records_;
    std::uint64_t last_made_ = 0;
};

}  // namespace virtaccel::model
