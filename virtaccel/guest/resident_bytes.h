#pragma once
// How much memory a guest lets a program keep on the device (LOAD_PROGRAM, `resident_bytes`). A
// backend for TOSA stays under it for every artifact, whatever it expands. An artifact that goes in
// parts declares the same for its join, and for each part what it costs at most
// (`parts::resident_bytes_of` in base/parts.h).

#include <cstdint>
#include <limits>

namespace virtaccel::guest {

inline constexpr std::uint64_t resident_bytes_base = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t resident_bytes_per_artifact_byte = 8;

// 64 MiB and eight bytes for each byte of the artifact: constants widened to fp32 (four for one at
// the narrowest common type), once more as packed weights, and an arena for what lives while the
// program runs: a small artifact may work on large tensors. The largest number if that does not
// fit.
[[nodiscard]] constexpr std::uint64_t resident_bytes_for(std::uint64_t artifact_bytes) {
    constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
    if (artifact_bytes > (largest - resident_bytes_base) / resident_bytes_per_artifact_byte) {
        return largest;
    }
    return resident_bytes_base + (artifact_bytes * resident_bytes_per_artifact_byte);
}

}  // namespace virtaccel::guest
