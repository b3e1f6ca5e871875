#pragma once
// The cases, once for each kind of layer: what one pass of an operation is. Programs bring a Meter.

#include <cstdint>
#include <string_view>

#include "bench/cases/meter.h"
#include "virtaccel/backend/any_backend.h"

namespace virtaccel::bench {

// A backend that both kinds of layer stand on, and what it cannot express.
struct Layer {
    std::string_view full_name;
    std::string_view device_name;
    backend::BackendFactory factory;
    std::uint64_t buffer_bytes_max = 0;
    std::uint32_t bindings_max = 0;
};

// The backend that costs nothing (plain_backend.h).
[[nodiscard]] Layer plain_layer();

// The device alone over contiguous bytes.
void run_device_cases(Meter& meter, const Layer& layer);

// Guest, ring and device.
void run_full_cases(Meter& meter, const Layer& layer);

}  // namespace virtaccel::bench
