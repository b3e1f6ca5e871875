#include "virtaccel/model/stage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/script.h"
#include "virtaccel/model/fault.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {

using backend::Allocation;
using backend::Binding;
using backend::Certainty;
using backend::ReleaseOutcome;

namespace {

mock::ReferenceOptions reference_options(const World& world) {
    mock::ReferenceOptions options;
    options.complete_at = mock::CompleteAt::never;
    options.identity.capabilities = Capabilities{world.capabilities};
    DeviceLimits& limits = options.identity.limits;
    limits.contexts = static_cast<std::uint32_t>(world.contexts);
    limits.buffers_per_context = static_cast<std::uint32_t>(world.buffers);
    limits.programs_per_context = static_cast<std::uint32_t>(world.programs);
    limits.queues_per_context = static_cast<std::uint32_t>(world.queues);
    limits.events_per_context = static_cast<std::uint32_t>(world.events);
    limits.bindings_per_submission = static_cast<std::uint32_t>(world.bindings);
    limits.buffer_bytes = world.buffer_bytes;
    limits.artifact_bytes = world.artifact_bytes;
    return options;
}

Status status_of(const Fault& fault) {
    return static_cast<Status>(fault.status);
}

}  // namespace

backend::BackendFactory Backstage::factory() {
    return {.state = this, .make = [](void* state) -> Result<backend::AnyBackend> {
                auto& self = *static_cast<Backstage*>(state);
                return backend::make_owned<Stage>(self.memory_, self);
            }};
}

Stage::Stage(Backstage& backstage) noexcept
    : backstage_(backstage), reference_(backstage.memory_, reference_options(backstage.world_)) {
    backstage.stage_ = this;
    auto inner = backstage.wrap_ == nullptr
                     ? Result<backend::AnyBackend>{backend::AnyBackend::borrow(reference_)}
                     : backstage.wrap_(backstage.memory_, reference_);
    if (inner) {
        inner_ = *std::move(inner);
    }
}

Stage::~Stage() {
    // A device with deferred loads keeps its backend until they end.
    if (backstage_.stage_ == this) {
        backstage_.stage_ = nullptr;
    }
}

void Stage::misuse(std::string_view call, std::string_view what) {
    if (backstage_.misuse_.empty()) {
        backstage_.misuse_ = "the device called " + std::string{call} + ": " + std::string{what};
    }
}

Stage::Record* Stage::find(std::uint64_t name, std::string_view kind, std::string_view call) {
    const auto found = records_.find(name);
    if (found == records_.end() || found->second.kind != kind) {
        misuse(call, "the handle names no live " + std::string{kind});
        return nullptr;
    }
    return &found->second;
}

const Fault* Stage::fault(Call call) const {
    return backstage_.fault_ && backstage_.fault_->call == call ? &*backstage_.fault_ : nullptr;
}

template <class Handle>
Handle Stage::make(std::string_view kind, Handle inner,
                   const std::vector<std::uint64_t>& stands_on) {
    records_[++last_made_] = {
        .kind = kind, .object = inner.object, .word = inner.word, .stands_on = stands_on};
    return {.object = nullptr, .word = last_made_};
}

template <class Handle>
ReleaseOutcome Stage::release(Call call, Handle handle, std::string_view kind) {
    const auto call_name = mock::row_of(call).name;
    ++backstage_.calls_;
    const Record* record = find(handle.word, kind, call_name);
    if (record == nullptr) {
        return ReleaseOutcome::rejected(Status::stale_object);
    }
    for (const auto& [name, other] : records_) {
        if (std::ranges::count(other.stands_on, handle.word) != 0) {
            misuse(call_name, "the " + std::string{kind} + " is in use");
        }
    }
    const Handle inner{.object = record->object, .word = record->word};
    if constexpr (std::is_same_v<Handle, backend::EventHandle>) {
        const auto polled = reference_.poll(inner);
        if (polled &&
            (polled->phase == EventPhase::pending || polled->error == Status::device_lost)) {
            return inner_.release(inner);
        }
    }
    const Fault* const failure = fault(call);
    if (failure != nullptr && !failure->indeterminate) {
        return ReleaseOutcome::rejected(status_of(*failure));
    }
    if (failure != nullptr) {
        records_.erase(handle.word);  // whoever names it again errs
        return ReleaseOutcome::lost(status_of(*failure));
    }
    const auto outcome = inner_.release(inner);
    if (outcome.certainty == Certainty::done) {
        records_.erase(handle.word);
    }
    return outcome;
}

bool Stage::complete(std::uint64_t event) {
    const Record* const record = find(event, "event", "complete");
    return record != nullptr &&
           reference_.complete({.object = record->object, .word = record->word});
}

bool Stage::fail(std::uint64_t event, Status error) {
    const Record* const record = find(event, "event", "fail");
    return record != nullptr &&
           reference_.fail_event({.object = record->object, .word = record->word}, error);
}

std::vector<std::byte> Stage::look_into(std::uint64_t buffer) {
    const Record* const record = find(buffer, "buffer", "look");
    if (record == nullptr) {
        return {};
    }
    const auto& inner = backend::HostBuffers::at({.object = record->object, .word = record->word});
    return {inner.data, inner.data + inner.bytes};
}

std::uint64_t Stage::live() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        records_, [](const auto& entry) { return entry.second.kind != "prepared artifact"; }));
}

Result<backend::ContextHandle> Stage::create_context() {
    ++backstage_.calls_;
    if (const Fault* const failure = fault(Call::create_context)) {
        return virtaccel::fail(status_of(*failure));
    }
    const auto made = inner_.create_context();
    return made ? make("context", *made, {}) : made;
}

ReleaseOutcome Stage::destroy_context(backend::ContextHandle context) {
    return release(Call::destroy_context, context, "context");
}

Result<Allocation> Stage::allocate(backend::ContextHandle context,
                                   const backend::BufferRequest& request) {
    ++backstage_.calls_;
    const Record* const parent = find(context.word, "context", "allocate");
    if (parent == nullptr) {
        return virtaccel::fail(Status::internal_error);
    }
    if (request.alignment > alignment_max) {
        return virtaccel::fail(Status::resource_limit);
    }
    if (const Fault* const failure = fault(Call::allocate)) {
        return virtaccel::fail(status_of(*failure));
    }
    auto made = inner_.allocate({.object = parent->object, .word = parent->word}, request);
    if (made) {
        made->buffer = make("buffer", made->buffer, {context.word});
        made->backing_bytes = backing_bytes_of(request.bytes);
    }
    return made;
}

ReleaseOutcome Stage::free(backend::BufferHandle buffer) {
    return release(Call::free, buffer, "buffer");
}

// A write that fails leaves half of the range written.
Status Stage::write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
    ++backstage_.calls_;
    const Record* const record = find(buffer.word, "buffer", "write");
    if (record == nullptr) {
        return Status::internal_error;
    }
    const backend::BufferHandle inner{.object = record->object, .word = record->word};
    if (const Fault* const failure = fault(Call::write)) {
        Reader half = source.first(source.remaining() / 2);
        static_cast<void>(inner_.write(inner, offset, half));
        return status_of(*failure);
    }
    return inner_.write(inner, offset, source);
}

Status Stage::read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target) {
    ++backstage_.calls_;
    const Record* const record = find(buffer.word, "buffer", "read");
    if (record == nullptr) {
        return Status::internal_error;
    }
    if (const Fault* const failure = fault(Call::read)) {
        return status_of(*failure);
    }
    return inner_.read({.object = record->object, .word = record->word}, offset, target);
}

Result<backend::PreparedHandle> Stage::prepare(const backend::Artifact& artifact) {
    ++backstage_.calls_;
    const auto made = inner_.prepare(artifact);
    const Fault* const failure = fault(Call::prepare);
    if (!made || failure == nullptr) {
        return made ? make("prepared artifact", *made, {}) : made;
    }
    inner_.abandon(*made);
    return virtaccel::fail(status_of(*failure));
}

void Stage::abandon(backend::PreparedHandle prepared) {
    ++backstage_.calls_;
    if (const Record* const record = find(prepared.word, "prepared artifact", "abandon")) {
        inner_.abandon({.object = record->object, .word = record->word});
        records_.erase(prepared.word);
    }
}

Result<backend::LoadedProgram> Stage::load(backend::ContextHandle context,
                                           backend::PreparedHandle prepared) {
    ++backstage_.calls_;
    const Record* const parent = find(context.word, "context", "load");
    const Record* const record = find(prepared.word, "prepared artifact", "load");
    if (parent == nullptr || record == nullptr) {
        return virtaccel::fail(Status::internal_error);
    }
    const backend::PreparedHandle inner{.object = record->object, .word = record->word};
    records_.erase(prepared.word);
    if (const Fault* const failure = fault(Call::load)) {
        inner_.abandon(inner);
        return virtaccel::fail(status_of(*failure));
    }
    auto made = inner_.load({.object = parent->object, .word = parent->word}, inner);
    if (made) {
        made->program = make("program", made->program, {context.word});
    }
    return made;
}

ReleaseOutcome Stage::unload(backend::ProgramHandle program) {
    return release(Call::unload, program, "program");
}

Result<backend::QueueHandle> Stage::create_queue(backend::ContextHandle context) {
    ++backstage_.calls_;
    const Record* const parent = find(context.word, "context", "create_queue");
    if (parent == nullptr) {
        return virtaccel::fail(Status::internal_error);
    }
    if (const Fault* const failure = fault(Call::create_queue)) {
        return virtaccel::fail(status_of(*failure));
    }
    const auto made = inner_.create_queue({.object = parent->object, .word = parent->word});
    return made ? make("queue", *made, {context.word}) : made;
}

ReleaseOutcome Stage::destroy_queue(backend::QueueHandle queue) {
    return release(Call::destroy_queue, queue, "queue");
}

backend::SubmitOutcome Stage::submit(const backend::Submission& submission) {
    ++backstage_.calls_;
    const Record* const queue = find(submission.queue.word, "queue", "submit");
    const Record* const program = find(submission.program.word, "program", "submit");
    if (queue == nullptr || program == nullptr) {
        return backend::SubmitOutcome::rejected(Status::internal_error);
    }
    std::vector<Binding> bindings{submission.bindings.begin(), submission.bindings.end()};
    std::vector<std::uint64_t> stands_on{submission.queue.word, submission.program.word};
    for (Binding& binding : bindings) {
        const Record* const buffer = find(binding.buffer.word, "buffer", "submit");
        if (buffer == nullptr) {
            return backend::SubmitOutcome::rejected(Status::internal_error);
        }
        stands_on.push_back(binding.buffer.word);
        binding.buffer = {.object = buffer->object, .word = buffer->word};
    }
    const Fault* const failure = fault(Call::submit);
    auto outcome = inner_.submit({.queue = {.object = queue->object, .word = queue->word},
                                  .program = {.object = program->object, .word = program->word},
                                  .bindings = bindings,
                                  .timeout_ns = submission.timeout_ns});
    if (outcome.certainty != Certainty::done) {
        return outcome;
    }
    if (failure != nullptr && !failure->indeterminate) {
        static_cast<void>(reference_.fail_event(outcome.event, Status::internal_error));
        static_cast<void>(inner_.destroy_event(outcome.event));
        return backend::SubmitOutcome::rejected(status_of(*failure));
    }
    outcome.event = make("event", outcome.event, stands_on);
    return failure == nullptr
               ? outcome
               : backend::SubmitOutcome::indeterminate(status_of(*failure), outcome.event);
}

Result<backend::EventStatus> Stage::poll(backend::EventHandle event) {
    ++backstage_.calls_;
    const Record* const record = find(event.word, "event", "poll");
    if (record == nullptr) {
        return virtaccel::fail(Status::internal_error);
    }
    return inner_.poll({.object = record->object, .word = record->word});
}

Status Stage::cancel(backend::EventHandle event) {
    ++backstage_.calls_;
    const Record* const record = find(event.word, "event", "cancel");
    if (record == nullptr) {
        return Status::internal_error;
    }
    return inner_.cancel({.object = record->object, .word = record->word});
}

ReleaseOutcome Stage::destroy_event(backend::EventHandle event) {
    return release(Call::destroy_event, event, "event");
}

}  // namespace virtaccel::model
