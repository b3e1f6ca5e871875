#include "backends/cpu/cpu.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "backends/cpu/describe.h"
#include "backends/cpu/executor.h"
#include "backends/cpu/instruction_set.h"
#include "backends/cpu/prepare.h"
#include "backends/cpu/program.h"
#include "host/clock.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/event_pool.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backends::cpu {

using backend::Binding;
using backend::HostBuffers;
using backend::ReleaseOutcome;
using backend::SubmitOutcome;

// A prepared program, and the same when it is loaded.
struct CpuBackend::Loaded {
    std::unique_ptr<Program> program;
    Loaded* next = nullptr;
    Loaded* previous = nullptr;
};

namespace {

// The bytes a binding names.
std::span<std::byte> bytes_of(const Binding& binding) {
    return {HostBuffers::at(binding.buffer).data + binding.range.offset,
            static_cast<std::size_t>(binding.range.bytes)};
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
    const auto a_first = reinterpret_cast<std::uintptr_t>(a.data());
    const auto b_first = reinterpret_cast<std::uintptr_t>(b.data());
    return a_first < b_first + b.size() && b_first < a_first + a.size();
}

// Whether an output shares bytes with another binding, so that a step could read what another one
// has overwritten.
bool has_conflict(std::span<const Binding> bindings) {
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        if (bindings[i].access == Access::read) {
            continue;
        }
        for (std::size_t k = 0; k < bindings.size(); ++k) {
            if (k != i && overlap(bytes_of(bindings[i]), bytes_of(bindings[k]))) {
                return true;
            }
        }
    }
    return false;
}

bool fits(const Program& program, std::span<const Binding> bindings) {
    if (bindings.size() != program.slots.size()) {
        return false;
    }
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        const Binding& binding = bindings[i];
        const ProgramSlot& slot = program.slots[i];
        const auto address = reinterpret_cast<std::uintptr_t>(bytes_of(binding).data());
        if (binding.slot != i || binding.access != slot.access ||
            binding.range.bytes != slot.bytes || address % slot.alignment != 0) {
            return false;
        }
    }
    return !has_conflict(bindings);
}

// A moment `timeout_ns` from now, or the last one there is; never zero.
std::uint64_t deadline_after(std::uint64_t timeout_ns) {
    const std::uint64_t now = host::now_ns();
    return timeout_ns > std::numeric_limits<std::uint64_t>::max() - now
               ? std::numeric_limits<std::uint64_t>::max()
               : now + timeout_ns;
}

}  // namespace

CpuBackend::CpuBackend(const Memory& memory, const Options& options,
                       std::unique_ptr<Executor> executor, std::string description) noexcept
    : memory_(memory),
      options_(options),
      description_(std::move(description)),
      buffers_(memory),
      events_(memory),
      executor_(std::move(executor)) {}

CpuBackend::~CpuBackend() {
    executor_.reset();
    while (loaded_ != nullptr) {
        const std::unique_ptr<Loaded> last{std::exchange(loaded_, loaded_->next)};
    }
    events_.each(
        [this](Event& event) { memory_.release_array(event.ranges, event.ranges_capacity); });
}

backend::Diagnostics CpuBackend::diagnostics() const {
    backend::Diagnostics result = counters_;
    result.explicit_transfer_bytes = buffers_.transferred_bytes();
    result.retained_bytes = buffers_.backing_bytes() + program_bytes_;
    result.host_preparation_ns = preparation_ns_.load(std::memory_order_relaxed);
    result.device_execution_ns = executor_->execution_ns();
    result.live_resources = contexts_ + queues_ + programs_ + buffers_.live() + events_.live();
    return result;
}

Result<backend::ContextHandle> CpuBackend::create_context() {
    ++contexts_;
    return backend::ContextHandle{};
}

ReleaseOutcome CpuBackend::destroy_context(backend::ContextHandle /*context*/) {
    --contexts_;
    return ReleaseOutcome::released();
}

Result<backend::Allocation> CpuBackend::allocate(backend::ContextHandle /*context*/,
                                                 const backend::BufferRequest& request) {
    return buffers_.allocate(request);
}

ReleaseOutcome CpuBackend::free(backend::BufferHandle buffer) {
    return buffers_.free(buffer);
}

Status CpuBackend::write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
    return buffers_.write(buffer, offset, source);
}

Status CpuBackend::read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target) {
    return buffers_.read(buffer, offset, target);
}

Result<backend::PreparedHandle> CpuBackend::prepare(const backend::Artifact& artifact) {
    const std::uint64_t start = host::now_ns();
    std::unique_ptr<Loaded> prepared{new (std::nothrow) Loaded};
    if (prepared == nullptr) {
        return fail(Status::out_of_memory);
    }
    VIRTACCEL_TRY_ASSIGN(prepared->program, prepare_program(memory_, artifact, options_.threads));
    preparation_ns_.fetch_add(host::now_ns() - start, std::memory_order_relaxed);
    return backend::PreparedHandle{.object = prepared.release()};
}

void CpuBackend::abandon(backend::PreparedHandle prepared) {
    delete static_cast<Loaded*>(prepared.object);
}

Result<backend::LoadedProgram> CpuBackend::load(backend::ContextHandle /*context*/,
                                                backend::PreparedHandle prepared) {
    auto* const program = static_cast<Loaded*>(prepared.object);
    program->next = loaded_;
    if (loaded_ != nullptr) {
        loaded_->previous = program;
    }
    loaded_ = program;
    ++programs_;
    program_bytes_ += program->program->resident_bytes;
    return backend::LoadedProgram{.program = {.object = program},
                                  .resident_bytes = program->program->resident_bytes};
}

ReleaseOutcome CpuBackend::unload(backend::ProgramHandle program) {
    const std::unique_ptr<Loaded> loaded{static_cast<Loaded*>(program.object)};
    (loaded->previous == nullptr ? loaded_ : loaded->previous->next) = loaded->next;
    if (loaded->next != nullptr) {
        loaded->next->previous = loaded->previous;
    }
    --programs_;
    program_bytes_ -= loaded->program->resident_bytes;
    return ReleaseOutcome::released();
}

// Submissions of all queues share one line, so a queue is nothing but its existence.
Result<backend::QueueHandle> CpuBackend::create_queue(backend::ContextHandle /*context*/) {
    ++queues_;
    return backend::QueueHandle{};
}

ReleaseOutcome CpuBackend::destroy_queue(backend::QueueHandle /*queue*/) {
    --queues_;
    return ReleaseOutcome::released();
}

SubmitOutcome CpuBackend::submit(const backend::Submission& submission) {
    Program& program = *static_cast<Loaded*>(submission.program.object)->program;
    if (!fits(program, submission.bindings)) {
        return SubmitOutcome::rejected(Status::incompatible);
    }
    Event* const event = events_.take();
    if (event == nullptr) {
        return SubmitOutcome::rejected(Status::out_of_memory);
    }
    if (!fill(*event, submission.bindings)) {
        events_.give(event);
        return SubmitOutcome::rejected(Status::out_of_memory);
    }
    event->program = &program;
    event->deadline_ns = submission.timeout_ns == 0 ? 0 : deadline_after(submission.timeout_ns);
    counters_.direct_bindings += submission.bindings.size();
    const backend::EventHandle handle = events_.publish(*event);
    executor_->submit(*event, handle.word);
    return SubmitOutcome::accepted(handle);
}

// Puts the bound addresses into a free event; false if there is no memory for them.
bool CpuBackend::fill(Event& event, std::span<const Binding> bindings) const {
    if (event.ranges_capacity < bindings.size()) {
        auto* const ranges = memory_.make_array<BoundRange>(bindings.size());
        if (ranges == nullptr) {
            return false;
        }
        memory_.release_array(event.ranges, event.ranges_capacity);
        event.ranges = ranges;
        event.ranges_capacity = bindings.size();
    }
    std::ranges::transform(bindings, event.ranges, [](const Binding& binding) {
        return BoundRange{bytes_of(binding).data()};
    });
    return true;
}

Result<backend::EventStatus> CpuBackend::poll(backend::EventHandle handle) {
    Event& event = backend::EventPool<Event>::at(handle);
    auto status = event.cell.status(handle.word);
    if (!status) {
        return fail(Status::stale_object);
    }
    if (status->phase == EventPhase::pending && event.deadline_ns != 0 &&
        host::now_ns() >= event.deadline_ns) {
        constexpr backend::EventStatus expired{.phase = EventPhase::failed,
                                               .error = Status::deadline_expired};
        // If it runs, the executor sees to the time.
        if (executor_->withdraw(event, handle.word, expired)) {
            return expired;
        }
        status = event.cell.status(handle.word);
    }
    return *status;
}

Status CpuBackend::cancel(backend::EventHandle handle) {
    Event& event = backend::EventPool<Event>::at(handle);
    return executor_->cancel(event, handle.word) ? Status::ok : Status::busy;
}

ReleaseOutcome CpuBackend::destroy_event(backend::EventHandle event) {
    return events_.destroy(event);
}

Result<backend::AnyBackend> make(const Memory& memory, const Options& options) {
    if (options.threads == 0 || options.threads > Options::threads_max) {
        return fail(Status::invalid_argument);
    }
    keep_kernels_to_effective_isa();
    try {
        auto executor = std::make_unique<Executor>(options.threads);
        return backend::make_owned<CpuBackend>(memory, memory, options, std::move(executor),
                                               describe(options.threads));
    } catch (const std::exception&) {
        return fail(Status::out_of_memory);
    }
}

}  // namespace virtaccel::backends::cpu
