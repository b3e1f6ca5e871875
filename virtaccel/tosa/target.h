#pragma once
// What a TOSA artifact is meant for: version, profiles, level and extensions, as twelve target
// words (spec §10).

#include <cstdint>
#include <optional>
#include <string_view>

#include "virtaccel/base/bits.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::tosa {

// The artifact format of a TOSA flatbuffer: "TOSA".
inline constexpr std::uint32_t artifact_format = 0x544f5341;

enum class ProfileBit : std::uint32_t { integer = 1U << 0U, floating_point = 1U << 1U };
using Profiles = BitSet<ProfileBit>;

inline constexpr Profiles profiles_known =
    Profiles{ProfileBit::integer} | ProfileBit::floating_point;

enum class ExtensionBit : std::uint64_t {
    int16 = 1U << 0U,
    int4 = 1U << 1U,
    bf16 = 1U << 2U,
    fp8e4m3 = 1U << 3U,
    fp8e5m2 = 1U << 4U,
    fft = 1U << 5U,
    variable = 1U << 6U,
    controlflow = 1U << 7U,
    dynamic = 1U << 8U,
    doubleround = 1U << 9U,
    inexactround = 1U << 10U,
};
using Extensions = BitSet<ExtensionBit>;

inline constexpr Extensions extensions_known = Extensions{0x7ffU};

enum class Level : std::uint32_t { unbounded = 0, eight_k = 1 };

// What a level allows at most (TOSA 1.0, "Levels").
struct LevelLimits {
    std::int64_t rank = 0;
    std::int64_t kernel = 0;
    std::int64_t stride = 0;
    std::int64_t scale = 0;
    std::uint32_t log2_bytes = 0;  // of a tensor
    std::uint32_t nesting = 0;
    std::uint32_t tensor_list = 0;
    std::uint32_t shape_length = 0;
};

[[nodiscard]] const LevelLimits& limits_of(Level level);

// The specification's spelling, without the prefix: "BF16". "UNKNOWN" for anything but one bit that
// it assigns.
[[nodiscard]] std::string_view name_of(ExtensionBit extension);

// Decoded target words.
struct Target {
    std::uint32_t major = 1;
    std::uint32_t minor = 0;
    std::uint32_t patch = 0;
    Profiles profiles = profiles_known;
    Level level = Level::eight_k;
    Extensions extensions;

    friend constexpr bool operator==(const Target&, const Target&) = default;
};

// The target that `words` say, or nothing: INCOMPATIBLE. Refuses an unknown format, ABI, profile,
// level or extension, no profile, an extension without its profile, a version word above 65535, and
// any other bit.
[[nodiscard]] std::optional<Target> decode_target(const TargetWords& words);

// The words of a target that decode_target() accepts.
[[nodiscard]] TargetWords encode_target(const Target& target);

}  // namespace virtaccel::tosa
