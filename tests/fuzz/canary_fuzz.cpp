// Broken on purpose, behind a word that only an engine with feedback finds: what `./run fuzz` has
// to find within seconds, or nothing that the other fuzzers do not find means anything. One program
// for each watchman: VIRTACCEL_CANARY is 0 for AddressSanitizer, 1 for
// UndefinedBehaviorSanitizer, 2 for a broken promise.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "virtaccel/base/panic.h"

namespace {

constexpr std::string_view word = "tweet";

// Compared byte by byte, so that the engine sees how far it has come.
bool sings(const std::uint8_t* data, std::size_t bytes) {
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (i >= bytes || data[i] != static_cast<std::uint8_t>(word[i])) {
            return false;
        }
    }
    return true;
}

// Reads, adds, or promises what it must not.
int go_wrong(const std::uint8_t* data, std::size_t bytes) {
    if constexpr (VIRTACCEL_CANARY == 0) {
        const auto copy = std::make_unique<std::uint8_t[]>(bytes);
        std::copy_n(data, bytes, copy.get());
        return copy[bytes];
    } else if constexpr (VIRTACCEL_CANARY == 1) {
        return std::numeric_limits<int>::max() + static_cast<int>(bytes);
    } else {
        VIRTACCEL_CHECK(bytes < word.size());
        return 0;
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    return sings(data, bytes) && go_wrong(data, bytes) == 7 ? -1 : 0;
}
