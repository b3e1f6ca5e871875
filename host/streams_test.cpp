#include "host/streams.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace virtaccel::host {
namespace {

// A pipe whose ends close with it.
struct Pipe {
    std::array<int, 2> ends{-1, -1};

    Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }

    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    ~Pipe() {
        close_end(0);
        close_end(1);
    }

    void close_end(std::size_t end) {
        if (ends.at(end) >= 0) {
            ::close(ends.at(end));
        }
        ends.at(end) = -1;
    }
};

void expect_a_megabyte_to_arrive(int flags) {
    Pipe pipe;
    ::fcntl(pipe.ends[0], F_SETFL, flags);
    ::fcntl(pipe.ends[1], F_SETFL, flags);
    std::vector<std::byte> sent(1'000'000);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i] = static_cast<std::byte>(i * 7);
    }
    std::thread writer{[&] {
        EXPECT_TRUE(write_fully(pipe.ends[1], sent).has_value());
        pipe.close_end(1);
    }};
    std::vector<std::byte> got(sent.size() + 1);
    const auto bytes = read_fully(pipe.ends[0], got);
    writer.join();
    ASSERT_TRUE(bytes.has_value());
    got.resize(*bytes);
    EXPECT_EQ(got, sent);
}

TEST(Streams, move_more_than_a_pipe_holds) {
    expect_a_megabyte_to_arrive(0);
}

TEST(Streams, wait_for_descriptors_that_would_block) {
    expect_a_megabyte_to_arrive(O_NONBLOCK);
}

TEST(Streams, say_so_when_nothing_arrives_in_time) {
    const Pipe pipe;
    std::array<std::byte, 4> target{};
    const auto bytes = read_fully(pipe.ends[0], target, 1);
    ASSERT_FALSE(bytes.has_value());
    EXPECT_EQ(bytes.error().message, "The descriptor (" + std::to_string(pipe.ends[0]) +
                                         ") cannot be read: Connection timed out; look at what is "
                                         "at its other end.");
}

TEST(Streams, name_the_descriptor_that_is_not_open) {
    std::array<std::byte, 4> target{};
    EXPECT_EQ(read_fully(-1, target).error().message,
              "The descriptor (-1) cannot be read: Bad file descriptor; look at what is at its "
              "other end.");
    EXPECT_EQ(write_fully(-1, target).error().message,
              "The descriptor (-1) cannot be written: Bad file descriptor; look at what is at its "
              "other end.");
}

}  // namespace
}  // namespace virtaccel::host
