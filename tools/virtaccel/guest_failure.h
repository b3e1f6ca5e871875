#pragma once
// A failure of the guest's library, as a failure of the program.

#include <array>
#include <expected>
#include <string>

#include "tools/virtaccel/failure.h"
#include "virtaccel/guest/failure.h"

namespace virtaccel::cli {

[[nodiscard]] inline std::unexpected<Failure> guest_failure(const guest::Failure& reason) {
    std::array<char, guest::description_bytes_max> room{};
    return failure(std::string{guest::describe(reason, room)});
}

}  // namespace virtaccel::cli
