#include "bench/cases/cases.h"
#include "bench/cases/plain_backend.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"

namespace virtaccel::bench {
namespace {

Result<backend::AnyBackend> make_plain(void* /*state*/) {
    return backend::make_owned<PlainBackend>(host::heap(), host::heap());
}

}  // namespace

Layer plain_layer() {
    return {.full_name = "full+plain",
            .device_name = "device+plain",
            .factory = {.make = make_plain},
            .buffer_bytes_max = PlainBackend::limits.limits.buffer_bytes,
            .bindings_max = PlainBackend::limits.limits.bindings_per_submission};
}

}  // namespace virtaccel::bench
