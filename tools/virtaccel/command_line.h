#pragma once
// The program's command line: commands, options, help, and how a command's end becomes an exit
// code.

#include <span>

namespace virtaccel::cli {

// Runs the command that `arguments` (as of `main`, the program's name first) ask for; the exit
// code. Messages go to standard error; catches whatever a library throws.
[[nodiscard]] int run_command_line(std::span<const char* const> arguments);

}  // namespace virtaccel::cli
