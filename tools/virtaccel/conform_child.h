#pragma once
// Another program, started to be talked to over its standard input and output. The one thing to
// know: nothing waits for it longer than the time it is given, whatever it does or fails to do.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>

#include "host/error.h"

namespace virtaccel::cli {

class Child {
  public:
    // Starts `words`, a program (looked for as a shell does) and its arguments, with this program's
    // standard error. `timeout_ns` is what one exchange may take. The caller ignores SIGPIPE.
    [[nodiscard]] static host::OrError<std::unique_ptr<Child>> start(
        const std::vector<std::string>& words, std::uint64_t timeout_ns);

    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Ends its input, which asks it to go, and kills it if it does not.
    ~Child();

    // Ends it and what it started, at once.
    void kill() const;

    // The clock of an exchange starts: the calls below share its time.
    void begin();

    // All of `source` to its input.
    [[nodiscard]] host::OrError<void> write(std::span<const std::byte> source);

    // All of `target` from its output.
    [[nodiscard]] host::OrError<void> read(std::span<std::byte> target);

  private:
    Child(std::string name, pid_t id, std::uint64_t timeout_ns)
        : name_(std::move(name)), id_(id), timeout_ns_(timeout_ns) {}

    [[nodiscard]] host::OrError<void> wait_for(int descriptor, short events) const;
    // Why there is no answer, once one of its pipes is closed.
    [[nodiscard]] std::unexpected<host::Error> ended() const;
    // How it ended, if it does within `grace_ns`: "exit code (1)".
    [[nodiscard]] std::string end_within(std::uint64_t grace_ns) const;

    std::string name_;
    pid_t id_;
    std::uint64_t timeout_ns_;
    std::uint64_t deadline_ns_ = 0;
    int input_ = -1;   // what it reads, our end
    int output_ = -1;  // what it writes, our end
};

}  // namespace virtaccel::cli
