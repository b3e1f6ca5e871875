#include "virtaccel/conformance/backend_rig.h"

#include <cstdint>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"

namespace virtaccel::conformance {

namespace {

constexpr std::uint64_t policy_bytes_max = std::uint64_t{1} << 30U;

}  // namespace

Checked<backend::AnyBackend> make_backend(const BackendSubject& subject) {
    auto backend = subject.factory.make(subject.factory.state);
    if (!backend) {
        return failed("The factory makes no backend: it answers (", backend.error(), ").");
    }
    return *std::move(backend);
}

Checked<device::Device> device_over(const BackendSubject& subject, backend::AnyBackend backend,
                                    std::uint32_t deferred_loads_max) {
    device::Options options;
    options.config.chain_descriptors_max = protocol::chain_descriptors_max;
    options.config.request_bytes_max = protocol::frame_bytes_max;
    options.config.response_bytes_max = protocol::frame_bytes_max;
    options.policy = {.buffer_bytes_max = policy_bytes_max,
                      .program_resident_bytes_max = policy_bytes_max};
    options.deferred_loads_max = deferred_loads_max;
    auto made = device::Device::make(subject.memory, std::move(backend), options);
    if (!made) {
        return failed("No device can be made over the backend. ", device::explain(made.error()));
    }
    return *std::move(made);
}

Checked<device::Device> make_device(const BackendSubject& subject) {
    VIRTACCEL_TRY_ASSIGN(auto backend, make_backend(subject));
    return device_over(subject, std::move(backend));
}

}  // namespace virtaccel::conformance
