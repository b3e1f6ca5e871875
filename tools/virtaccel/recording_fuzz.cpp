// Any bytes as a recording: it is refused with a sentence, or it is a recording that, written, is
// read as itself again; and its frames go to a device, which keeps to the room it is given.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "host/memory.h"
#include "tools/virtaccel/recording.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace {

namespace cli = virtaccel::cli;
namespace device = virtaccel::device;
namespace wire = virtaccel::wire;

constexpr std::uint32_t capacity_max = 1U << 16U;
constexpr std::size_t entries_max = 200;
constexpr std::uint64_t budget_bytes = 1U << 20U;

bool is_same(const cli::Entry& a, const cli::Entry& b) {
    const auto* const one = std::get_if<cli::Exchange>(&a);
    const auto* const other = std::get_if<cli::Exchange>(&b);
    if (one == nullptr || other == nullptr) {
        return one == other;
    }
    return one->request == other->request && one->capacity == other->capacity &&
           one->response == other->response;
}

void check_again(const cli::Recording& recording) {
    const auto written = cli::encode(recording);
    const auto again = cli::decode_recording(written, "again");
    VIRTACCEL_CHECK(again.has_value());
    VIRTACCEL_CHECK(
        std::ranges::equal(wire::encode(again->config), wire::encode(recording.config)));
    VIRTACCEL_CHECK(again->backend == recording.backend);
    VIRTACCEL_CHECK(std::ranges::equal(again->entries, recording.entries, is_same));
}

virtaccel::Result<virtaccel::backend::AnyBackend> make_mock(void* /*state*/) {
    const auto memory = virtaccel::host::heap();
    return virtaccel::backend::make_owned<virtaccel::mock::Reference>(
        memory, memory, virtaccel::mock::ReferenceOptions{});
}

void serve(device::Device& device, const cli::Exchange& exchange) {
    const std::uint32_t capacity = std::min(exchange.capacity, capacity_max);
    // Of just that size, so that a byte too many is seen.
    std::vector<std::byte> response(capacity);
    const auto served = device.serve(exchange.request, response);
    VIRTACCEL_CHECK(!served.deferred);
    VIRTACCEL_CHECK(served.used_bytes <= capacity);
    if (served.used_bytes == 0) {
        return;
    }
    VIRTACCEL_CHECK(served.used_bytes >= sizeof(wire::ResponseHeader));
    const auto header = wire::load<wire::ResponseHeader>(response.data());
    const auto request = wire::load<wire::RequestHeader>(exchange.request.data());
    VIRTACCEL_CHECK(header.flags == 0 && header.request_id == request.request_id);
    VIRTACCEL_CHECK(served.used_bytes == sizeof header + header.payload_bytes);
}

void play(const cli::Recording& recording) {
    device::Options options;
    options.config = recording.config;
    options.policy = {.buffer_bytes_max = budget_bytes, .program_resident_bytes_max = budget_bytes};
    auto endpoint = device::Endpoint::make(virtaccel::host::heap(),
                                           {.state = nullptr, .make = make_mock}, options);
    VIRTACCEL_CHECK(endpoint.has_value());
    for (const cli::Entry& entry :
         std::span{recording.entries}.first(std::min(recording.entries.size(), entries_max))) {
        const auto* const exchange = std::get_if<cli::Exchange>(&entry);
        if (exchange == nullptr) {
            VIRTACCEL_CHECK(endpoint->reset() != device::ResetAnswer::refused);
        } else {
            serve(endpoint->device(), *exchange);
        }
        VIRTACCEL_CHECK(endpoint->device().holdings().buffer_bytes <= budget_bytes);
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const auto recording = cli::decode_recording(std::as_bytes(std::span{data, bytes}), "input");
    if (!recording) {
        VIRTACCEL_CHECK(recording.error().message.ends_with('.'));
        return 0;
    }
    check_again(*recording);
    play(*recording);
    return 0;
}
