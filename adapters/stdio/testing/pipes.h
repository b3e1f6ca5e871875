#pragma once
// Pairs of pipes for tests: what one end writes, the other reads.

#include <array>
#include <cstddef>

#include <gtest/gtest.h>
#include <unistd.h>

namespace virtaccel::adapters::stdio::testing {

// Two descriptors that close with it.
class Pipe {
  public:
    Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }

    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    ~Pipe() {
        close_source();
        close_target();
    }

    // Where bytes come out, and where they go in.
    [[nodiscard]] int source() const { return ends_[0]; }

    [[nodiscard]] int target() const { return ends_[1]; }

    void close_source() { close(ends_[0]); }

    void close_target() { close(ends_[1]); }

  private:
    static void close(int& end) {
        if (end >= 0) {
            ::close(end);
        }
        end = -1;
    }

    std::array<int, 2> ends_{-1, -1};
};

}  // namespace virtaccel::adapters::stdio::testing
