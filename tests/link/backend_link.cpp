// Calls a backend of unknown class through every row of its table.

#include <cstdint>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"

namespace virtaccel::backend::link {

Status use(AnyBackend backend, const BufferRequest& request, Reader& source, Writer& target,
           const Artifact& artifact);

Status use(AnyBackend backend, const BufferRequest& request, Reader& source, Writer& target,
           const Artifact& artifact) {
    backend.set_notifier({});
    const auto context = backend.create_context();
    const auto queue = context ? backend.create_queue(*context) : QueueHandle{};
    const auto buffer = backend.allocate(context.value_or(ContextHandle{}), request);
    if (!context || !queue || !buffer) {
        return Status::out_of_memory;
    }
    const auto prepared = backend.prepare(artifact);
    const auto program = backend.load(*context, prepared.value_or(PreparedHandle{}));
    Status status = backend.write(buffer->buffer, 0, source);
    if (program) {
        const auto outcome = backend.submit(
            {.queue = *queue, .program = program->program, .bindings = {}, .timeout_ns = 0});
        status = backend.cancel(outcome.event);
        status = backend.poll(outcome.event) ? status : Status::device_lost;
        status = backend.release(outcome.event).status;
        status = backend.release(program->program).status;
    }
    status = backend.read(buffer->buffer, 0, target);
    status = backend.release(buffer->buffer).status;
    status = backend.release(*queue).status;
    return backend.release(*context).status;
}

}  // namespace virtaccel::backend::link
