#include "adapters/stdio/driver_stream.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/stdio/framing.h"
#include "adapters/stdio/testing/pipes.h"
#include "host/streams.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::adapters::stdio {
namespace {

using testing::Pipe;
using Bytes = std::vector<std::byte>;

// A driver whose device is the test: replies are written before they are asked for.
class DriverStreams : public ::testing::Test {
  protected:
    void reply(std::uint32_t word, const Bytes& bytes = {}) {
        const wire::le32 encoded = word;
        ASSERT_TRUE(
            host::write_fully(replies_.target(), std::as_bytes(std::span{&encoded, std::size_t{1}}))
                .has_value());
        ASSERT_TRUE(host::write_fully(replies_.target(), bytes).has_value());
    }

    [[nodiscard]] Bytes sent(std::size_t bytes) {
        Bytes got(bytes);
        EXPECT_EQ(host::read_fully(requests_.source(), got).value_or(0), bytes);
        return got;
    }

    void end_replies() { replies_.close_target(); }

    [[nodiscard]] DriverStream& driver() { return driver_; }

  private:
    Pipe requests_;
    Pipe replies_;
    DriverStream driver_{replies_.source(), requests_.target()};
};

Bytes bytes(std::initializer_list<int> values) {
    Bytes result;
    for (const int value : values) {
        result.push_back(static_cast<std::byte>(value));
    }
    return result;
}

TEST_F(DriverStreams, send_pieces_as_one_frame_and_spread_the_reply) {
    auto first = bytes({1, 2, 3});
    auto second = bytes({4});
    auto room = bytes({9, 9, 9, 9, 9, 9});
    const std::array readable{Piece{first.data(), 3}, Piece{second.data(), 1}};
    const std::array writable{Piece{room.data(), 2}, Piece{room.data() + 2, 4}};
    reply(5, bytes({10, 11, 12, 13, 14}));
    EXPECT_EQ(driver().post(readable, writable, 42), queue::Posted::ok);
    EXPECT_EQ(sent(12), bytes({4, 0, 0, 0, 6, 0, 0, 0, 1, 2, 3, 4}));
    EXPECT_EQ(room, bytes({10, 11, 12, 13, 14, 9}));
    const auto completion = driver().next();
    ASSERT_TRUE(completion.has_value());
    EXPECT_EQ(completion->cookie, 42U);
    EXPECT_EQ(completion->used_bytes, 5U);
    EXPECT_FALSE(driver().next().has_value());
}

TEST_F(DriverStreams, hand_completions_out_in_order_up_to_the_depth) {
    auto data = bytes({1});
    const std::array piece{Piece{data.data(), 1}};
    for (std::uint32_t round = 0; round < 3; ++round) {
        for (std::uint32_t i = 0; i < driver().depth_max(); ++i) {
            reply(0);
            ASSERT_EQ(driver().post(piece, piece, i), queue::Posted::ok);
        }
        EXPECT_EQ(driver().post(piece, piece, 99), queue::Posted::full);
        for (std::uint32_t i = 0; i < driver().depth_max(); ++i) {
            EXPECT_EQ(driver().next()->cookie, i);
        }
        EXPECT_FALSE(driver().next().has_value());
    }
}

TEST_F(DriverStreams, break_when_the_device_claims_more_than_there_is_room) {
    auto data = bytes({1, 2});
    const std::array piece{Piece{data.data(), 2}};
    reply(3, bytes({7, 7, 7}));
    EXPECT_EQ(driver().post(piece, piece, 1), queue::Posted::broken);
    EXPECT_TRUE(driver().broken());
    EXPECT_EQ(driver().failure(),
              "The device says that it used (3) bytes of a response that has room for (2); it "
              "breaks the protocol.");
    EXPECT_EQ(data, bytes({1, 2}));
    EXPECT_EQ(driver().post(piece, piece, 2), queue::Posted::broken);
}

TEST_F(DriverStreams, break_when_the_device_ends_inside_a_reply) {
    auto data = bytes({1, 2});
    const std::array piece{Piece{data.data(), 2}};
    reply(2, bytes({7}));
    end_replies();
    EXPECT_EQ(driver().post(piece, piece, 1), queue::Posted::broken);
    EXPECT_TRUE(driver().failure().ends_with("has ended inside a reply; look at its messages."));
}

TEST_F(DriverStreams, break_when_the_device_ends_before_a_reply) {
    auto data = bytes({1, 2});
    const std::array piece{Piece{data.data(), 2}};
    end_replies();
    EXPECT_EQ(driver().post(piece, piece, 1), queue::Posted::broken);
    EXPECT_FALSE(driver().next().has_value());
}

TEST_F(DriverStreams, send_resets_and_drop_completions_nobody_took) {
    auto data = bytes({1});
    const std::array piece{Piece{data.data(), 1}};
    reply(0);
    ASSERT_EQ(driver().post(piece, piece, 1), queue::Posted::ok);
    reply(2);
    EXPECT_EQ(driver().reset(0x01020304).value(), ResetReply::rebuilt);
    EXPECT_EQ(sent(9 + 8), bytes({1, 0, 0, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 4, 3, 2, 1}));
    EXPECT_FALSE(driver().next().has_value());
    reply(3);
    EXPECT_EQ(driver().reset(5).error().message,
              "The device answers a reset with (3); only 0, 1 and 2 mean something.");
}

TEST_F(DriverStreams, reset_a_session_with_another_seed_if_one_is_refused) {
    wire::Config config;
    config.chain_descriptors_max = 16;
    auto transport = driver().transport(config);
    reply(0);
    reply(1);
    EXPECT_TRUE(transport.reset(transport.reset_state).has_value());
    const auto two = sent(16);
    EXPECT_NE(Bytes(two.begin() + 4, two.begin() + 8), Bytes(two.begin() + 12, two.end()));
    reply(0);
    reply(0);
    EXPECT_EQ(transport.reset(transport.reset_state).error(), Status::device_lost);
}

}  // namespace
}  // namespace virtaccel::adapters::stdio
