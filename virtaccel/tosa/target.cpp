#include "virtaccel/tosa/target.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "virtaccel/base/vocabulary.h"

namespace virtaccel::tosa {
namespace {

// The words, by position (spec §10). All others are zero.
enum Word : std::uint8_t {
    word_format,
    word_abi,
    word_major,
    word_minor,
    word_patch,
    word_profiles,
    word_level,
    word_extensions_low,
    word_extensions_high,
    word_reserved,
};

constexpr std::uint32_t abi = 1;
constexpr std::uint32_t version_word_max = 65535;

struct ExtensionRow {
    ExtensionBit bit;
    std::string_view name;
    Profiles profile;  // the one it needs, if any
};

constexpr ExtensionRow extension_rows[] = {
    {ExtensionBit::int16, "INT16", ProfileBit::integer},
    {ExtensionBit::int4, "INT4", ProfileBit::integer},
    {ExtensionBit::bf16, "BF16", ProfileBit::floating_point},
    {ExtensionBit::fp8e4m3, "FP8E4M3", ProfileBit::floating_point},
    {ExtensionBit::fp8e5m2, "FP8E5M2", ProfileBit::floating_point},
    {ExtensionBit::fft, "FFT", ProfileBit::floating_point},
    {ExtensionBit::variable, "VARIABLE", {}},
    {ExtensionBit::controlflow, "CONTROLFLOW", {}},
    {ExtensionBit::dynamic, "DYNAMIC", {}},
    {ExtensionBit::doubleround, "DOUBLEROUND", ProfileBit::integer},
    {ExtensionBit::inexactround, "INEXACTROUND", ProfileBit::integer},
};

// TOSA 1.0, "Levels": level none, which bounds all the same, and level 8K.
constexpr LevelLimits unbounded = {
    .rank = 32,
    .kernel = 2147483647,
    .stride = 2147483647,
    .scale = 2048,
    .log2_bytes = 63,
    .nesting = 256,
    .tensor_list = 256,
    .shape_length = 32,
};

constexpr LevelLimits eight_k = {
    .rank = 6,
    .kernel = 8192,
    .stride = 8192,
    .scale = 256,
    .log2_bytes = 31,
    .nesting = 6,
    .tensor_list = 64,
    .shape_length = 16,
};

// An extension adds to a profile, so it is nothing without it.
bool profiles_suffice(const Target& target) {
    return std::ranges::all_of(extension_rows, [&target](const ExtensionRow& row) {
        return !target.extensions.has(row.bit) || target.profiles.has_all(row.profile);
    });
}

bool is_sound(const Target& target) {
    return !target.profiles.empty() && profiles_known.has_all(target.profiles) &&
           target.level <= Level::eight_k && extensions_known.has_all(target.extensions) &&
           profiles_suffice(target) &&
           std::max({target.major, target.minor, target.patch}) <= version_word_max;
}

}  // namespace

const LevelLimits& limits_of(Level level) {
    return level == Level::eight_k ? eight_k : unbounded;
}

std::string_view name_of(ExtensionBit extension) {
    for (const ExtensionRow& row : extension_rows) {
        if (row.bit == extension) {
            return row.name;
        }
    }
    return "UNKNOWN";
}

std::optional<Target> decode_target(const TargetWords& words) {
    const Target target = {
        .major = words[word_major],
        .minor = words[word_minor],
        .patch = words[word_patch],
        .profiles = Profiles{words[word_profiles]},
        .level = static_cast<Level>(words[word_level]),
        .extensions = Extensions{(std::uint64_t{words[word_extensions_high]} << 32U) |
                                 words[word_extensions_low]},
    };
    const bool rest_is_zero = std::ranges::all_of(words.begin() + word_reserved, words.end(),
                                                  [](std::uint32_t word) { return word == 0; });
    if (words[word_format] != artifact_format || words[word_abi] != abi || !rest_is_zero ||
        !is_sound(target)) {
        return std::nullopt;
    }
    return target;
}

TargetWords encode_target(const Target& target) {
    TargetWords words{};
    words[word_format] = artifact_format;
    words[word_abi] = abi;
    words[word_major] = target.major;
    words[word_minor] = target.minor;
    words[word_patch] = target.patch;
    words[word_profiles] = target.profiles.bits;
    words[word_level] = static_cast<std::uint32_t>(target.level);
    words[word_extensions_low] = static_cast<std::uint32_t>(target.extensions.bits);
    words[word_extensions_high] = static_cast<std::uint32_t>(target.extensions.bits >> 32U);
    return words;
}

}  // namespace virtaccel::tosa
