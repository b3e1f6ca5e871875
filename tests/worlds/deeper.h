#pragma once
// How deep the worlds go: as deep as a test says, or deeper by what VIRTACCEL_WORLDS_DEEPER says.
// The one thing to know: each step of it costs a multiple of the time.

#include <cstdlib>
#include <string>

namespace virtaccel::worlds {

template <class Number>
[[nodiscard]] Number deeper(Number usual) {
    const char* const more = std::getenv("VIRTACCEL_WORLDS_DEEPER");
    return static_cast<Number>(static_cast<int>(usual) + (more == nullptr ? 0 : std::stoi(more)));
}

}  // namespace virtaccel::worlds
