#pragma once
// A device's identity in words.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "virtaccel/base/vocabulary.h"

namespace virtaccel::cli {

// The sixteen bytes as a UUID is written.
[[nodiscard]] std::string uuid_text(const std::array<std::uint8_t, 16>& uuid);

// "NPU"; the number of a class that 1.0 does not name.
[[nodiscard]] std::string class_name(AcceleratorClass accelerator_class);

// One for each bit, in ascending order; "bit 17" for one that 1.0 does not name.
[[nodiscard]] std::vector<std::string> capability_names(Capabilities capabilities);

}  // namespace virtaccel::cli
