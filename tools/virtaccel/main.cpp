#include <cstddef>
#include <span>

#include "tools/virtaccel/command_line.h"

int main(int argc, char** argv) {
    return virtaccel::cli::run_command_line(
        std::span<const char* const>{argv, static_cast<std::size_t>(argc)});
}
