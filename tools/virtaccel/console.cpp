#include "tools/virtaccel/console.h"

#include <span>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "host/streams.h"
#include "tools/virtaccel/failure.h"
#include "virtaccel/base/result.h"

namespace virtaccel::cli {

// Each is opened the wrong way round.
void hold_standard_ends() {
    for (const int end : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(end, F_GETFD) < 0) {
            static_cast<void>(::open("/dev/null", end == STDIN_FILENO ? O_WRONLY : O_RDONLY));
        }
    }
}

// The control characters of ASCII, and those that UTF-8 spells in two bytes from 0xc2 on.
std::string visible(std::string_view text) {
    constexpr unsigned char lead = 0xc2;
    std::string shown;
    shown.reserve(text.size());
    unsigned char before = 0;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        if (before == lead && byte >= 0x80 && byte < 0xa0) {
            shown.back() = '?';
        } else {
            shown += byte < ' ' || byte == 0x7f ? '?' : character;
        }
        before = byte;
    }
    return shown;
}

OrFailure<void> print_out(std::string_view text) {
    VIRTACCEL_TRY(host::write_fully(STDOUT_FILENO, std::as_bytes(std::span{text})));
    return {};
}

void say(std::string_view line) {
    const std::string shown = visible(line) + '\n';
    // Nobody is left to be told if this fails.
    static_cast<void>(host::write_fully(STDERR_FILENO, std::as_bytes(std::span{shown})));
}

}  // namespace virtaccel::cli
