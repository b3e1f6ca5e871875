#include "tools/virtaccel/graphviz.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/streams.h"
#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t time_max_ns = 120'000 * ns_per_ms;
constexpr std::uint64_t svg_bytes_max = std::uint64_t{256} << 20U;

std::unexpected<Failure> no_memory() {
    return failure("The host has no memory for a picture; leave --svg out.");
}

// A file without a name, in memory.
class MemoryFile {
  public:
    explicit MemoryFile(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {}

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    ~MemoryFile() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    [[nodiscard]] int descriptor() const { return descriptor_; }

    // Puts `text` in, to be read from its beginning.
    [[nodiscard]] bool fill(std::string_view text) const {
        return host::write_fully(descriptor_, std::as_bytes(std::span{text})).has_value() &&
               ::lseek(descriptor_, 0, SEEK_SET) == 0;
    }

    // All that was written into it.
    [[nodiscard]] std::vector<std::byte> contents() const {
        const off_t size = ::lseek(descriptor_, 0, SEEK_END);
        std::vector<std::byte> bytes;
        if (size <= 0 || static_cast<std::uint64_t>(size) > svg_bytes_max) {
            return bytes;
        }
        bytes.resize(static_cast<std::size_t>(size));
        const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), 0);
        bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return bytes;
    }

  private:
    int descriptor_;
};

// Starts `dot`; zero, or an errno.
int start_dot(const MemoryFile& input, const MemoryFile& output, pid_t& id) {
    std::string program = "dot";
    std::string format = "-Tsvg";
    const std::array<char*, 3> words{program.data(), format.data(), nullptr};
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
    const int code = ::posix_spawnp(&id, program.c_str(), &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    return code;
}

// Waits for its end, and kills it if that does not come. How it ended; empty for well.
std::string end_of(pid_t id) {
    const std::uint64_t until_ns = host::now_ns() + time_max_ns;
    int status = 0;
    while (true) {
        const pid_t ended = ::waitpid(id, &status, WNOHANG);
        if (ended == id) {
            break;
        }
        if (ended < 0 && errno != EINTR) {
            return "is lost";
        }
        if (host::now_ns() >= until_ns) {
            ::kill(id, SIGKILL);
            while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
            }
            return fmt::format("takes longer than ({} s)", time_max_ns / (1000 * ns_per_ms));
        }
        host::pause_ns(ns_per_ms);
    }
    if (WIFSIGNALED(status)) {
        return fmt::format("ends with signal ({})", WTERMSIG(status));
    }
    const int code = WEXITSTATUS(status);
    return code == 0 ? std::string{} : fmt::format("ends with exit code ({})", code);
}

}  // namespace

OrFailure<std::vector<std::byte>> render_svg(std::string_view dot) {
    const MemoryFile input{"picture.dot"};
    const MemoryFile output{"picture.svg"};
    if (input.descriptor() < 0 || output.descriptor() < 0 || !input.fill(dot)) {
        return no_memory();
    }
    pid_t id = -1;
    if (start_dot(input, output, id) != 0) {
        return failure(
            "The program (dot), which draws the picture, cannot be started; install "
            "Graphviz (Debian's package graphviz), or leave --svg out.");
    }
    if (const std::string end = end_of(id); !end.empty()) {
        return failure(
            fmt::format("The program (dot), which draws the picture, {}; leave --svg "
                        "out for this model.",
                        end));
    }
    auto svg = output.contents();
    if (svg.empty()) {
        return failure(
            "The program (dot) draws no picture; look at its messages, or leave --svg "
            "out.");
    }
    return svg;
}

}  // namespace virtaccel::cli
