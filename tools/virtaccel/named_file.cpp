#include "tools/virtaccel/named_file.h"

#include <string>

#include <fmt/core.h>

#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

OrFailure<NamedFile> parse_named_file(const std::string& text, const std::string& option) {
    const auto split = text.find('=');
    if (split == std::string::npos || split == 0 || split + 1 == text.size()) {
        return failure(fmt::format("The value ({}) of {} is not NAME=FILE.npy; name a tensor of "
                                   "the model and a file.",
                                   text, option),
                       Exit::usage);
    }
    return NamedFile{.name = text.substr(0, split), .path = text.substr(split + 1)};
}

}  // namespace virtaccel::cli
