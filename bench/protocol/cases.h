#pragma once
// The cases, once for each kind of layer.

#include <cstdint>
#include <string_view>

#include "bench/protocol/report.h"
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

// The device alone over contiguous bytes.
void run_device_cases(Report& report, const Layer& layer);

// Guest, ring and device.
void run_full_cases(Report& report, const Layer& layer);

// memcpy of the transfer sizes: what nothing can beat.
void run_limit_cases(Report& report);

}  // namespace virtaccel::bench
