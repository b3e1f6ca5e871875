#include "virtaccel/device/options.h"

#include <string_view>

namespace virtaccel::device {

std::string_view explain(Unfit why) {
    switch (why) {
        case Unfit::no_memory:
            return "The host has no memory for the device; free some, or lower its limits.";
        case Unfit::no_backend:
            return "The device has no backend; give it one that could be made.";
        case Unfit::config_out_of_range:
            return "The configuration leaves the protocol's ranges; use 2 to 256 descriptors, 97 "
                   "bytes to 16 MiB a request and 92 bytes to 16 MiB a response.";
        case Unfit::policy_is_zero:
            return "The resource policy has a zero; name how many bytes of buffers and of programs "
                   "a guest may use.";
        case Unfit::serial_out_of_range:
            return "The first serial is out of range; use 1 to 2^44.";
        case Unfit::seed_is_zero:
            return "The namespace seed is zero; use any other number.";
        case Unfit::capability_is_reserved:
            return "The backend advertises a capability that protocol 1.0 reserves (bit 3 or 4); "
                   "take it out of its identity.";
        case Unfit::memory_domain_is_missing:
            return "The backend offers no memory domain; advertise host-visible, device-local or "
                   "shared memory.";
        case Unfit::limit_is_zero:
            return "The backend advertises a limit of zero; every limit of its identity must be at "
                   "least 1.";
        case Unfit::bindings_over_limit:
            return "The backend advertises more than 4096 bindings of a submission; 4096 is the "
                   "protocol's limit.";
    }
    return "The device cannot be made for an unknown reason.";
}

}  // namespace virtaccel::device
