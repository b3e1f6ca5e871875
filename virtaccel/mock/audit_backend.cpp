#include "virtaccel/mock/audit_backend.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/audit.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::mock {

using backend::Allocation;
using backend::Binding;
using backend::BufferHandle;
using backend::Certainty;
using backend::ContextHandle;
using backend::EventHandle;
using backend::EventStatus;
using backend::LoadedProgram;
using backend::PreparedHandle;
using backend::ProgramHandle;
using backend::QueueHandle;
using backend::ReleaseOutcome;
using backend::Submission;
using backend::SubmitOutcome;

namespace {

template <class Kind>
constexpr Holding holding_of() {
    if constexpr (std::is_same_v<Kind, ContextKind>) {
        return Holding::context;
    } else if constexpr (std::is_same_v<Kind, BufferKind>) {
        return Holding::buffer;
    } else if constexpr (std::is_same_v<Kind, ProgramKind>) {
        return Holding::program;
    } else if constexpr (std::is_same_v<Kind, QueueKind>) {
        return Holding::queue;
    } else if constexpr (std::is_same_v<Kind, EventKind>) {
        return Holding::event;
    } else {
        return Holding::prepared;
    }
}

// Where a creation's answer has the handle.
template <class Kind>
backend::Handle<Kind>& handle_in(backend::Handle<Kind>& made) {
    return made;
}

BufferHandle& handle_in(Allocation& made) {
    return made.buffer;
}

ProgramHandle& handle_in(LoadedProgram& made) {
    return made.program;
}

// The handle of the backend behind.
template <class Handle, class Record>
Handle inner(const Record& record) {
    return {.object = record.inner_object, .word = record.inner_word};
}

// As a device reads an outcome: one that contradicts itself says nothing.
template <class Outcome>
Certainty settle(const Outcome& outcome) {
    const bool is_plain = outcome.certainty == Certainty::rejected ||
                          (outcome.certainty == Certainty::done && outcome.status == Status::ok);
    return is_plain ? outcome.certainty : Certainty::indeterminate;
}

}  // namespace

// A submission's objects, and its bindings as the backend behind wants them.
struct AuditBackend::Bound {
    Bound(const Memory& from, std::size_t size)
        : memory(from),
          bindings(from, size),
          buffers(from.make_array<Record*>(size)),
          count(size) {}

    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;

    ~Bound() { memory.release_array(buffers, count); }

    [[nodiscard]] bool is_complete() const {
        return count == 0 || (!bindings.empty() && buffers != nullptr);
    }

    Memory memory;
    Record* queue = nullptr;
    Record* program = nullptr;
    Array<Binding> bindings;
    Record** buffers;  // goes to the event's record, if there is an event
    std::size_t count;
};

AuditBackend::AuditBackend(Audit& audit, backend::AnyBackend behind) noexcept
    : Forwarding(std::move(behind)), audit_(&audit), instance_(audit.begin_instance()) {}

AuditBackend::~AuditBackend() {
    audit_->end_instance(instance_);
}

bool AuditBackend::enter(Call call) {
    audit_->enter(call);
    // What was prepared is the caller's to give up, also when the instance is lost.
    if (!lost_ || call == Call::prepare || call == Call::abandon) {
        return true;
    }
    audit_->violate(Violation::called_after_loss, Holding::context);
    return false;
}

Status AuditBackend::leave(Call call, Certainty certainty, Status status, const Record* object) {
    audit_->leave({.call = call,
                   .occurrence = audit_->calls(call),
                   .certainty = certainty,
                   .status = status,
                   .object = object == nullptr ? 0 : object->word});
    const bool is_release_in_doubt = certainty == Certainty::indeterminate && call != Call::submit;
    if (status == Status::device_lost || is_release_in_doubt) {
        // A caller may prepare on another thread, and hear of that later.
        lost_ = lost_ || call != Call::prepare;
        audit_->lose(instance_);
    }
    return status;
}

Status AuditBackend::refuse(Call call, Status status) {
    return leave(call, Certainty::rejected, status);
}

template <class Kind>
AuditBackend::Record* AuditBackend::find(backend::Handle<Kind> handle, Violation if_gone) {
    return audit_->find({.object = handle.object, .word = handle.word}, holding_of<Kind>(),
                        instance_, if_gone);
}

// Makes an object with `make()` as a child of `context`, which is null for what has no parent.
template <class Made, class Make>
Result<Made> AuditBackend::create(Call call, Record* context, Make make) {
    if (!audit_->has_room()) {
        return fail(refuse(call, Status::out_of_memory));
    }
    Result<Made> made = make();
    if (!made) {
        return fail(leave(call, Certainty::rejected, made.error()));
    }
    auto& handle = handle_in(*made);
    const auto kind = []<class Kind>(const backend::Handle<Kind>&) { return holding_of<Kind>(); };
    Record& record =
        audit_->publish(kind(handle), instance_, {.object = handle.object, .word = handle.word});
    record.context = context;
    if (context != nullptr) {
        ++context->users;
    }
    handle = {.object = audit_, .word = record.word};
    (void)leave(call, Certainty::done, Status::ok, &record);
    return made;
}

template <class Kind, class End>
ReleaseOutcome AuditBackend::release(Call call, backend::Handle<Kind> handle, End end) {
    if (!enter(call)) {
        return ReleaseOutcome::rejected(refuse(call, Status::device_lost));
    }
    Record* const record = find(handle, Violation::released_twice);
    if (record == nullptr) {
        return ReleaseOutcome::rejected(refuse(call, Status::stale_object));
    }
    if (record->users != 0) {
        constexpr bool is_context = std::is_same_v<Kind, ContextKind>;
        audit_->violate(is_context ? Violation::parent_before_child : Violation::retained_by_event,
                        record->kind);
        return ReleaseOutcome::rejected(refuse(call, Status::busy));
    }
    const ReleaseOutcome outcome = end(inner<backend::Handle<Kind>>(*record));
    const Certainty certainty = settle(outcome);
    (void)leave(call, certainty, outcome.status, record);
    if (certainty == Certainty::done) {
        audit_->retire(*record);
    } else if (certainty == Certainty::indeterminate) {
        audit_->doubt(*record);
    }
    return outcome;
}

// A call on a live object that makes nothing and ends nothing.
template <class Act>
Status AuditBackend::act_on(Call call, Record* record, Act act) {
    if (record == nullptr) {
        return refuse(call, Status::stale_object);
    }
    const Status status = act(*record);
    return leave(call, status == Status::ok ? Certainty::done : Certainty::rejected, status,
                 record);
}

Result<ContextHandle> AuditBackend::create_context() {
    if (!enter(Call::create_context)) {
        return fail(refuse(Call::create_context, Status::device_lost));
    }
    return create<ContextHandle>(Call::create_context, nullptr,
                                 [this] { return Forwarding::create_context(); });
}

ReleaseOutcome AuditBackend::destroy_context(ContextHandle context) {
    return release(Call::destroy_context, context,
                   [this](ContextHandle it) { return Forwarding::destroy_context(it); });
}

Result<Allocation> AuditBackend::allocate(ContextHandle context,
                                          const backend::BufferRequest& request) {
    if (!enter(Call::allocate)) {
        return fail(refuse(Call::allocate, Status::device_lost));
    }
    Record* const parent = find(context);
    if (parent == nullptr) {
        return fail(refuse(Call::allocate, Status::stale_object));
    }
    return create<Allocation>(Call::allocate, parent, [&] {
        return Forwarding::allocate(inner<ContextHandle>(*parent), request);
    });
}

ReleaseOutcome AuditBackend::free(BufferHandle buffer) {
    return release(Call::free, buffer, [this](BufferHandle it) { return Forwarding::free(it); });
}

Status AuditBackend::write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
    if (!enter(Call::write)) {
        return refuse(Call::write, Status::device_lost);
    }
    return act_on(Call::write, find(buffer), [&](const Record& record) {
        return Forwarding::write(inner<BufferHandle>(record), offset, source);
    });
}

Status AuditBackend::read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
    if (!enter(Call::read)) {
        return refuse(Call::read, Status::device_lost);
    }
    return act_on(Call::read, find(buffer), [&](const Record& record) {
        return Forwarding::read(inner<BufferHandle>(record), offset, target);
    });
}

Result<PreparedHandle> AuditBackend::prepare(const backend::Artifact& artifact) {
    (void)enter(Call::prepare);
    return create<PreparedHandle>(Call::prepare, nullptr,
                                  [&] { return Forwarding::prepare(artifact); });
}

void AuditBackend::abandon(PreparedHandle prepared) {
    (void)enter(Call::abandon);
    Record* const record = find(prepared, Violation::released_twice);
    if (record == nullptr) {
        (void)refuse(Call::abandon, Status::stale_object);
        return;
    }
    Forwarding::abandon(inner<PreparedHandle>(*record));
    (void)leave(Call::abandon, Certainty::done, Status::ok, record);
    audit_->retire(*record);
}

Result<LoadedProgram> AuditBackend::load(ContextHandle context, PreparedHandle prepared) {
    if (!enter(Call::load)) {
        return fail(refuse(Call::load, Status::device_lost));
    }
    Record* const parent = find(context);
    Record* const record = parent == nullptr ? nullptr : find(prepared);
    if (record == nullptr) {
        return fail(refuse(Call::load, Status::stale_object));
    }
    // It is consumed whatever comes of the load, and makes room for the program's record.
    const auto consumed = inner<PreparedHandle>(*record);
    audit_->retire(*record);
    return create<LoadedProgram>(Call::load, parent, [&] {
        return Forwarding::load(inner<ContextHandle>(*parent), consumed);
    });
}

ReleaseOutcome AuditBackend::unload(ProgramHandle program) {
    return release(Call::unload, program,
                   [this](ProgramHandle it) { return Forwarding::unload(it); });
}

Result<QueueHandle> AuditBackend::create_queue(ContextHandle context) {
    if (!enter(Call::create_queue)) {
        return fail(refuse(Call::create_queue, Status::device_lost));
    }
    Record* const parent = find(context);
    if (parent == nullptr) {
        return fail(refuse(Call::create_queue, Status::stale_object));
    }
    return create<QueueHandle>(Call::create_queue, parent, [&] {
        return Forwarding::create_queue(inner<ContextHandle>(*parent));
    });
}

ReleaseOutcome AuditBackend::destroy_queue(QueueHandle queue) {
    return release(Call::destroy_queue, queue,
                   [this](QueueHandle it) { return Forwarding::destroy_queue(it); });
}

SubmitOutcome AuditBackend::submit(const Submission& submission) {
    if (!enter(Call::submit)) {
        return SubmitOutcome::rejected(refuse(Call::submit, Status::device_lost));
    }
    Bound bound{audit_->memory_, submission.bindings.size()};
    if (!bound.is_complete() || !audit_->has_room()) {
        return SubmitOutcome::rejected(refuse(Call::submit, Status::out_of_memory));
    }
    if (const Status status = resolve(submission, bound); status != Status::ok) {
        return SubmitOutcome::rejected(refuse(Call::submit, status));
    }
    return submit_bound(submission, bound);
}

// OK, and `bound` is filled in, if the caller may submit all that, together.
Status AuditBackend::resolve(const Submission& submission, Bound& bound) {
    bound.queue = find(submission.queue);
    bound.program = bound.queue == nullptr ? nullptr : find(submission.program);
    if (bound.program == nullptr) {
        return Status::stale_object;
    }
    if (bound.program->context != bound.queue->context) {
        audit_->violate(Violation::other_context, Holding::program);
        return Status::stale_object;
    }
    for (std::size_t i = 0; i < bound.count; ++i) {
        Record* const buffer = find(submission.bindings[i].buffer);
        if (buffer == nullptr) {
            return Status::stale_object;
        }
        if (buffer->context != bound.queue->context) {
            audit_->violate(Violation::other_context, Holding::buffer);
            return Status::stale_object;
        }
        bound.buffers[i] = buffer;
        bound.bindings[i] = submission.bindings[i];
        bound.bindings[i].buffer = inner<BufferHandle>(*buffer);
    }
    return Status::ok;
}

SubmitOutcome AuditBackend::submit_bound(const Submission& submission, Bound& bound) {
    SubmitOutcome outcome = Forwarding::submit({.queue = inner<QueueHandle>(*bound.queue),
                                                .program = inner<ProgramHandle>(*bound.program),
                                                .bindings = {bound.bindings.data(), bound.count},
                                                .timeout_ns = submission.timeout_ns});
    const Certainty certainty = settle(outcome);
    if (certainty == Certainty::rejected) {
        (void)leave(Call::submit, certainty, outcome.status);
        return outcome;
    }
    Record& event = audit_->publish(Holding::event, instance_,
                                    {.object = outcome.event.object, .word = outcome.event.word});
    event.context = bound.queue->context;
    event.queue = bound.queue;
    event.program = bound.program;
    event.buffer_count = bound.count;
    event.buffers = std::exchange(bound.buffers, nullptr);
    for (Record* const retained : {event.context, event.queue, event.program}) {
        ++retained->users;
    }
    for (Record* const buffer : std::span{event.buffers, event.buffer_count}) {
        ++buffer->users;
    }
    outcome.event = {.object = audit_, .word = event.word};
    (void)leave(Call::submit, certainty, outcome.status, &event);
    return outcome;
}

Result<EventStatus> AuditBackend::poll(EventHandle event) {
    if (!enter(Call::poll)) {
        return fail(refuse(Call::poll, Status::device_lost));
    }
    Record* const record = find(event);
    if (record == nullptr) {
        return fail(refuse(Call::poll, Status::stale_object));
    }
    const auto polled = Forwarding::poll(inner<EventHandle>(*record));
    (void)leave(Call::poll, polled ? Certainty::done : Certainty::rejected,
                polled ? polled->error : polled.error(), record);
    return polled;
}

Status AuditBackend::cancel(EventHandle event) {
    if (!enter(Call::cancel)) {
        return refuse(Call::cancel, Status::device_lost);
    }
    return act_on(Call::cancel, find(event), [&](const Record& record) {
        return Forwarding::cancel(inner<EventHandle>(record));
    });
}

ReleaseOutcome AuditBackend::destroy_event(EventHandle event) {
    return release(Call::destroy_event, event,
                   [this](EventHandle it) { return Forwarding::destroy_event(it); });
}

}  // namespace virtaccel::mock
