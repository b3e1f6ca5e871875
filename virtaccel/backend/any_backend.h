#pragma once
// One backend of any class, behind one pointer and one constant table of functions. The device, the
// daemon, the C ABI and conformance use this and stay ordinary classes in ordinary .cpp files.

#include <cstdint>
#include <string_view>
#include <utility>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

// The contract's calls as functions of an opaque self. Each entry means what `concept Backend` says
// of its name; `drop` ends the backend (or does nothing, if it is borrowed).
struct BackendTable {
    void (*drop)(void* self);
    std::string_view (*name)(const void* self);
    std::string_view (*description)(const void* self);
    DeviceIdentity (*identity)(const void* self);
    Diagnostics (*diagnostics)(const void* self);
    void (*set_notifier)(void* self, Notifier notifier);
    Result<ContextHandle> (*create_context)(void* self);
    ReleaseOutcome (*destroy_context)(void* self, ContextHandle context);
    Result<Allocation> (*allocate)(void* self, ContextHandle context, const BufferRequest& request);
    ReleaseOutcome (*free)(void* self, BufferHandle buffer);
    Status (*write)(void* self, BufferHandle buffer, std::uint64_t offset, Reader& source);
    Status (*read)(void* self, BufferHandle buffer, std::uint64_t offset, Writer& target);
    Result<PreparedHandle> (*prepare)(void* self, const Artifact& artifact);
    void (*abandon)(void* self, PreparedHandle prepared);
    Result<LoadedProgram> (*load)(void* self, ContextHandle context, PreparedHandle prepared);
    ReleaseOutcome (*unload)(void* self, ProgramHandle program);
    Result<QueueHandle> (*create_queue)(void* self, ContextHandle context);
    ReleaseOutcome (*destroy_queue)(void* self, QueueHandle queue);
    SubmitOutcome (*submit)(void* self, const Submission& submission);
    Result<EventStatus> (*poll)(void* self, EventHandle event);
    Status (*cancel)(void* self, EventHandle event);
    ReleaseOutcome (*destroy_event)(void* self, EventHandle event);
};

namespace detail {

template <class B>
B& at(void* self) {
    return *static_cast<B*>(self);
}

template <class B>
const B& at(const void* self) {
    return *static_cast<const B*>(self);
}

template <Backend B>
consteval BackendTable make_table(void (*drop)(void*)) {
    return {
        .drop = drop,
        .name = [](const void* self) { return at<B>(self).name(); },
        .description = [](const void* self) { return at<B>(self).description(); },
        .identity = [](const void* self) { return at<B>(self).identity(); },
        .diagnostics = [](const void* self) { return at<B>(self).diagnostics(); },
        .set_notifier = [](void* self, Notifier n) { at<B>(self).set_notifier(n); },
        .create_context = [](void* self) { return at<B>(self).create_context(); },
        .destroy_context = [](void* self,
                              ContextHandle c) { return at<B>(self).destroy_context(c); },
        .allocate = [](void* self, ContextHandle c,
                       const BufferRequest& r) { return at<B>(self).allocate(c, r); },
        .free = [](void* self, BufferHandle b) { return at<B>(self).free(b); },
        .write = [](void* self, BufferHandle b, std::uint64_t offset,
                    Reader& source) { return at<B>(self).write(b, offset, source); },
        .read = [](void* self, BufferHandle b, std::uint64_t offset,
                   Writer& target) { return at<B>(self).read(b, offset, target); },
        .prepare = [](void* self, const Artifact& a) { return at<B>(self).prepare(a); },
        .abandon = [](void* self, PreparedHandle p) { at<B>(self).abandon(p); },
        .load = [](void* self, ContextHandle c,
                   PreparedHandle p) { return at<B>(self).load(c, p); },
        .unload = [](void* self, ProgramHandle p) { return at<B>(self).unload(p); },
        .create_queue = [](void* self, ContextHandle c) { return at<B>(self).create_queue(c); },
        .destroy_queue = [](void* self, QueueHandle q) { return at<B>(self).destroy_queue(q); },
        .submit = [](void* self, const Submission& s) { return at<B>(self).submit(s); },
        .poll = [](void* self, EventHandle e) { return at<B>(self).poll(e); },
        .cancel = [](void* self, EventHandle e) { return at<B>(self).cancel(e); },
        .destroy_event = [](void* self, EventHandle e) { return at<B>(self).destroy_event(e); },
    };
}

template <Backend B>
inline constexpr BackendTable borrowed_table = make_table<B>([](void*) {});

}  // namespace detail

// Move-only; empty after a move. Calls on an empty one are a bug of the caller.
class AnyBackend {
  public:
    AnyBackend() = default;

    // `self` behind `table`; `table.drop(self)` is called once, when this ends.
    AnyBackend(void* self, const BackendTable& table) : self_(self), table_(&table) {}

    // A view of `backend`, which outlives it.
    template <Backend B>
    [[nodiscard]] static AnyBackend borrow(B& backend) {
        return {&backend, detail::borrowed_table<B>};
    }

    AnyBackend(AnyBackend&& other) noexcept
        : self_(std::exchange(other.self_, nullptr)), table_(other.table_) {}

    AnyBackend& operator=(AnyBackend&& other) noexcept {
        if (this != &other) {
            drop();
            self_ = std::exchange(other.self_, nullptr);
            table_ = other.table_;
        }
        return *this;
    }

    AnyBackend(const AnyBackend&) = delete;
    AnyBackend& operator=(const AnyBackend&) = delete;

    ~AnyBackend() { drop(); }

    [[nodiscard]] explicit operator bool() const { return self_ != nullptr; }

    [[nodiscard]] std::string_view name() const { return table_->name(self_); }

    [[nodiscard]] std::string_view description() const { return table_->description(self_); }

    [[nodiscard]] DeviceIdentity identity() const { return table_->identity(self_); }

    [[nodiscard]] Diagnostics diagnostics() const { return table_->diagnostics(self_); }

    void set_notifier(Notifier notifier) { table_->set_notifier(self_, notifier); }

    [[nodiscard]] Result<ContextHandle> create_context() { return table_->create_context(self_); }

    [[nodiscard]] ReleaseOutcome destroy_context(ContextHandle context) {
        return table_->destroy_context(self_, context);
    }

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        return table_->allocate(self_, context, request);
    }

    [[nodiscard]] ReleaseOutcome free(BufferHandle buffer) { return table_->free(self_, buffer); }

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        return table_->write(self_, buffer, offset, source);
    }

    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
        return table_->read(self_, buffer, offset, target);
    }

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        return table_->prepare(self_, artifact);
    }

    void abandon(PreparedHandle prepared) { table_->abandon(self_, prepared); }

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        return table_->load(self_, context, prepared);
    }

    [[nodiscard]] ReleaseOutcome unload(ProgramHandle program) {
        return table_->unload(self_, program);
    }

    [[nodiscard]] Result<QueueHandle> create_queue(ContextHandle context) {
        return table_->create_queue(self_, context);
    }

    [[nodiscard]] ReleaseOutcome destroy_queue(QueueHandle queue) {
        return table_->destroy_queue(self_, queue);
    }

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        return table_->submit(self_, submission);
    }

    [[nodiscard]] Result<EventStatus> poll(EventHandle event) { return table_->poll(self_, event); }

    [[nodiscard]] Status cancel(EventHandle event) { return table_->cancel(self_, event); }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        return table_->destroy_event(self_, event);
    }

    // For kinds written as templates: the one release call of each.
    [[nodiscard]] ReleaseOutcome release(ContextHandle h) { return destroy_context(h); }

    [[nodiscard]] ReleaseOutcome release(BufferHandle h) { return free(h); }

    [[nodiscard]] ReleaseOutcome release(ProgramHandle h) { return unload(h); }

    [[nodiscard]] ReleaseOutcome release(QueueHandle h) { return destroy_queue(h); }

    [[nodiscard]] ReleaseOutcome release(EventHandle h) { return destroy_event(h); }

  private:
    void drop() {
        if (self_ != nullptr) {
            table_->drop(self_);
        }
    }

    void* self_ = nullptr;
    const BackendTable* table_ = nullptr;
};

// Makes fresh, independent backend instances: one per device, and a new one after a discard.
struct BackendFactory {
    void* state = nullptr;
    Result<AnyBackend> (*make)(void* state) = nullptr;
};

}  // namespace virtaccel::backend
