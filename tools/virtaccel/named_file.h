#pragma once
// A tensor's name and a file for it, as a command line says them.

#include <string>

#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

// A tensor of the model and the file for it.
struct NamedFile {
    std::string name;
    std::string path;
};

// The file that "NAME=FILE" says; wrong usage for anything else. `option` is for messages.
[[nodiscard]] OrFailure<NamedFile> parse_named_file(const std::string& text,
                                                    const std::string& option);

}  // namespace virtaccel::cli
