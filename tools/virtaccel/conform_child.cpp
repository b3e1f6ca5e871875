#include "tools/virtaccel/conform_child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <spawn.h>
#include <sys/poll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/error.h"
#include "virtaccel/base/result.h"

namespace virtaccel::cli {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
// How long a program may take to end once its input has, or once it has closed its output.
constexpr std::uint64_t grace_ns = 2'000 * ns_per_ms;

// A pipe whose ends close with it, unless they were taken.
class Pipe {
  public:
    Pipe() = default;
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    ~Pipe() {
        for (const int end : ends_) {
            if (end >= 0) {
                ::close(end);
            }
        }
    }

    [[nodiscard]] bool open() { return ::pipe2(ends_.data(), O_CLOEXEC) == 0; }

    [[nodiscard]] int source() const { return ends_[0]; }

    [[nodiscard]] int target() const { return ends_[1]; }

    // Our own end, which never blocks.
    [[nodiscard]] int take_source() { return take(ends_[0]); }

    [[nodiscard]] int take_target() { return take(ends_[1]); }

  private:
    static int take(int& end) {
        const int taken = std::exchange(end, -1);
        ::fcntl(taken, F_SETFL, O_NONBLOCK);
        return taken;
    }

    std::array<int, 2> ends_{-1, -1};
};

// What a new program is given: its two pipes, a process group of its own, so that all of it can be
// ended, and the usual answer to a closed pipe.
class SpawnPlan {
  public:
    SpawnPlan(int input, int output) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        ::posix_spawnattr_init(&attributes_);
        sigset_t usual{};
        ::sigemptyset(&usual);
        ::sigaddset(&usual, SIGPIPE);
        ::posix_spawnattr_setsigdefault(&attributes_, &usual);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    }

    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    ~SpawnPlan() {
        ::posix_spawnattr_destroy(&attributes_);
        ::posix_spawn_file_actions_destroy(&actions_);
    }

    // Zero, or an errno.
    [[nodiscard]] int carry_out(std::vector<std::string> words, pid_t& id) const {
        std::vector<char*> arguments;
        arguments.reserve(words.size() + 1);
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        return ::posix_spawnp(&id, arguments.front(), &actions_, &attributes_, arguments.data(),
                              environ);
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

std::unexpected<host::Error> cannot_start(const std::string& name, int code) {
    return host::system_error({.thing = "program",
                               .name = name,
                               .done = "started",
                               .advice = "give one that is there and may be run"},
                              code);
}

}  // namespace

host::OrError<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& words,
                                                   std::uint64_t timeout_ns) {
    Pipe there;
    Pipe back;
    if (!there.open() || !back.open()) {
        return cannot_start(words.front(), errno);
    }
    pid_t id = -1;
    if (const int code = SpawnPlan{there.source(), back.target()}.carry_out(words, id); code != 0) {
        return cannot_start(words.front(), code);
    }
    std::unique_ptr<Child> child{new Child{words.front(), id, timeout_ns}};
    child->input_ = there.take_target();
    child->output_ = back.take_source();
    return child;
}

Child::~Child() {
    ::close(input_);
    static_cast<void>(end_within(std::min(grace_ns, timeout_ns_)));
    ::close(output_);
    kill();
    while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Child::kill() const {
    ::kill(-id_, SIGKILL);
}

void Child::begin() {
    deadline_ns_ = host::now_ns() + timeout_ns_;
}

host::OrError<void> Child::write(std::span<const std::byte> source) {
    while (!source.empty()) {
        const auto put = ::write(input_, source.data(), source.size());
        if (put >= 0) {
            source = source.subspan(static_cast<std::size_t>(put));
        } else if (errno == EAGAIN) {
            VIRTACCEL_TRY(wait_for(input_, POLLOUT));
        } else if (errno != EINTR) {
            return ended();
        }
    }
    return {};
}

host::OrError<void> Child::read(std::span<std::byte> target) {
    while (!target.empty()) {
        const auto got = ::read(output_, target.data(), target.size());
        if (got > 0) {
            target = target.subspan(static_cast<std::size_t>(got));
        } else if (got < 0 && errno == EAGAIN) {
            VIRTACCEL_TRY(wait_for(output_, POLLIN));
        } else if (got == 0 || errno != EINTR) {
            return ended();
        }
    }
    return {};
}

host::OrError<void> Child::wait_for(int descriptor, short events) const {
    pollfd watched{.fd = descriptor, .events = events, .revents = 0};
    while (true) {
        const std::uint64_t now_ns = host::now_ns();
        if (now_ns >= deadline_ns_) {
            return host::error(fmt::format(
                "The program ({}) has not {} within the time limit ({} s); make it answer each "
                "frame, or give it more time with --timeout.",
                name_, events == POLLIN ? "answered" : "read its input",
                static_cast<double>(timeout_ns_) / 1e9));
        }
        constexpr std::uint64_t longest_ms = 60'000;
        const auto wait_ms = std::min(longest_ms, ((deadline_ns_ - now_ns) / ns_per_ms) + 1);
        if (::poll(&watched, 1, static_cast<int>(wait_ms)) > 0) {
            return {};
        }
    }
}

std::unexpected<host::Error> Child::ended() const {
    const std::string end = end_within(std::min(grace_ns, timeout_ns_));
    return host::error(
        fmt::format("The program ({}) has {} where it has to answer a frame; look at its messages.",
                    name_, end.empty() ? "closed a stream" : "ended with " + end));
}

std::string Child::end_within(std::uint64_t duration_ns) const {
    const std::uint64_t until_ns = host::now_ns() + duration_ns;
    while (true) {
        siginfo_t info{};
        // It stays known as ended until it is waited for in the destructor.
        if (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == id_) {
            return fmt::format("{} ({})", info.si_code == CLD_EXITED ? "exit code" : "signal",
                               info.si_status);
        }
        if (host::now_ns() >= until_ns) {
            return {};
        }
        host::pause_ns(ns_per_ms);
    }
}

}  // namespace virtaccel::cli
