#include "tools/virtaccel/loopback_device.h"

#include <cstdint>

#include "adapters/loopback/loopback.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::cli {
namespace {

constexpr std::uint64_t budget_bytes = std::uint64_t{1} << 40U;
constexpr std::uint16_t chain_descriptors_max = 16;
constexpr std::uint32_t queue_size = 64;

}  // namespace

OrFailure<adapters::loopback::Loopback> make_loopback_device(BackendSource& source,
                                                             backend::RefusalSink refusals) {
    adapters::loopback::Options options;
    options.queue_size = queue_size;
    options.device.config.chain_descriptors_max = chain_descriptors_max;
    options.device.config.request_bytes_max = protocol::frame_bytes_max;
    options.device.config.response_bytes_max = protocol::frame_bytes_max;
    options.device.policy = {.buffer_bytes_max = budget_bytes,
                             .program_resident_bytes_max = budget_bytes};
    options.device.refusals = refusals;
    VIRTACCEL_TRY_ASSIGN(
        auto loopback, adapters::loopback::Loopback::make(host::heap(), source.factory(), options));
    return loopback;
}

}  // namespace virtaccel::cli
