#pragma once
// What the program says: results on standard output, everything else on standard error. The one
// thing to know: an end that cannot be written never ends the program by itself. A result that is
// lost is a failure like any other; a message that is lost is lost.

#include <string>
#include <string_view>

#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

// Takes up the places of standard ends that are closed, so that no file gets their numbers and
// finds in it what was said. They stay useless: using one is an error. To be called before any file
// is opened.
void hold_standard_ends();

// `text` as it may stand on a terminal, whoever wrote it: a '?' for each control character.
[[nodiscard]] std::string visible(std::string_view text);

// All of `text` to standard output, at once.
[[nodiscard]] OrFailure<void> print_out(std::string_view text);

// `line`, made visible, and a line's end to standard error.
void say(std::string_view line);

}  // namespace virtaccel::cli
