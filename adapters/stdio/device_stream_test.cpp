#include "adapters/stdio/device_stream.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/stdio/framing.h"
#include "adapters/stdio/testing/pipes.h"
#include "host/memory.h"
#include "host/streams.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::adapters::stdio {
namespace {

using testing::Pipe;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t request_bytes_max = 4096;
constexpr std::uint32_t response_bytes_max = 128;

struct MockMaker {
    Result<backend::AnyBackend> operator()() const {
        return backend::make_owned<mock::Reference>(host::heap(), host::heap(),
                                                    mock::ReferenceOptions{});
    }
};

device::Endpoint make_endpoint(MockMaker& maker) {
    device::Options options;
    options.config.chain_descriptors_max = 16;
    options.config.request_bytes_max = request_bytes_max;
    options.config.response_bytes_max = response_bytes_max;
    options.policy = {.buffer_bytes_max = 1U << 20U, .program_resident_bytes_max = 1U << 20U};
    auto endpoint = device::Endpoint::make(host::heap(), backend::factory_from(maker), options);
    EXPECT_TRUE(endpoint.has_value());
    return *std::move(endpoint);
}

void append(Bytes& bytes, const auto& encoded) {
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
}

// A whole frame on the stream: the prefix, then a request header and `payload_bytes` zeros.
Bytes frame(std::uint16_t opcode, std::uint32_t payload_bytes, std::uint32_t capacity) {
    Bytes bytes(sizeof(FramePrefix));
    append(bytes,
           wire::encode(wire::RequestHeader{
               .opcode = opcode, .flags = 0, .payload_bytes = payload_bytes, .request_id = 7}));
    bytes.resize(bytes.size() + payload_bytes);
    const FramePrefix prefix{
        .length = static_cast<std::uint32_t>(bytes.size() - sizeof(FramePrefix)),
        .capacity = capacity};
    std::memcpy(bytes.data(), &prefix, sizeof prefix);
    return bytes;
}

Bytes words(std::uint32_t first, std::uint32_t second) {
    const FramePrefix prefix{.length = first, .capacity = second};
    Bytes bytes(sizeof prefix);
    std::memcpy(bytes.data(), &prefix, sizeof prefix);
    return bytes;
}

constexpr auto info = static_cast<std::uint16_t>(wire::Opcode::get_device_info);
constexpr std::uint32_t info_bytes = sizeof(wire::ResponseHeader) + sizeof(wire::DeviceInfo);

// A device that serves on a thread, and the other ends of its streams.
class DeviceStreams : public ::testing::Test {
  protected:
    ~DeviceStreams() override { end(); }

    void send(const Bytes& bytes) {
        ASSERT_TRUE(host::write_fully(requests_.target(), bytes).has_value());
    }

    [[nodiscard]] std::uint32_t receive_word() {
        wire::le32 word = 0xbad;
        const auto got = host::read_fully(replies_.source(),
                                          std::as_writable_bytes(std::span{&word, std::size_t{1}}));
        EXPECT_EQ(got.value_or(0), sizeof word);
        return word;
    }

    [[nodiscard]] Bytes receive() {
        Bytes bytes(receive_word());
        EXPECT_EQ(host::read_fully(replies_.source(), bytes).value_or(0), bytes.size());
        return bytes;
    }

    [[nodiscard]] Status receive_status() {
        const auto bytes = receive();
        if (bytes.size() < sizeof(wire::ResponseHeader)) {
            return Status::internal_error;
        }
        const auto header = wire::load<wire::ResponseHeader>(bytes.data());
        return static_cast<Status>(std::uint16_t{header.status});
    }

    // Ends the requests, and waits for what the device says of it.
    std::string end() {
        requests_.close_target();
        if (thread_.joinable()) {
            thread_.join();
        }
        return result_;
    }

  private:
    MockMaker maker_;
    device::Endpoint endpoint_ = make_endpoint(maker_);
    Pipe requests_;
    Pipe replies_;
    std::string result_;
    std::thread thread_{[this] {
        const auto served = DeviceStream{endpoint_, requests_.source(), replies_.target()}.serve();
        result_ = served ? "" : served.error().message;
        replies_.close_target();
    }};
};

TEST_F(DeviceStreams, answer_requests_one_after_the_other) {
    for (int i = 0; i < 3; ++i) {
        send(frame(info, 0, 200));
        EXPECT_EQ(receive().size(), info_bytes);
    }
    EXPECT_EQ(end(), "");
}

TEST_F(DeviceStreams, take_requests_in_pieces_and_several_at_once) {
    const auto one = frame(info, 0, 200);
    for (const std::byte byte : one) {
        send({byte});
    }
    EXPECT_EQ(receive().size(), info_bytes);
    Bytes three = one;
    append(three, frame(0xffff, 9, 200));
    append(three, one);
    send(three);
    EXPECT_EQ(receive().size(), info_bytes);
    EXPECT_EQ(receive_status(), Status::unsupported);
    EXPECT_EQ(receive().size(), info_bytes);
}

TEST_F(DeviceStreams, answer_frames_of_nothing_with_nothing) {
    send(words(0, 0));
    EXPECT_EQ(receive_word(), 0U);
    send(words(0, 4096));
    EXPECT_EQ(receive_word(), 0U);
    send(frame(info, 0, 15));
    EXPECT_EQ(receive_word(), 0U);
    send(frame(info, 0, info_bytes - 1));
    EXPECT_EQ(receive_word(), 0U);
    send(frame(info, 0, info_bytes));
    EXPECT_EQ(receive().size(), info_bytes);
}

TEST_F(DeviceStreams, drain_requests_that_are_too_large_and_go_on) {
    for (const std::uint32_t excess : {1U, 4096U, 50'000'000U}) {
        send(frame(info, request_bytes_max - 16 + excess, 200));
        EXPECT_EQ(receive_status(), Status::resource_limit) << excess;
    }
    send(frame(info, request_bytes_max - 16, 200));
    EXPECT_EQ(receive_status(), Status::invalid_argument);
    send(frame(info, 0, 200));
    EXPECT_EQ(receive().size(), info_bytes);
}

TEST_F(DeviceStreams, keep_the_capacity_within_the_largest_response) {
    send(frame(info, 0, 0xffffffff));
    EXPECT_EQ(receive().size(), info_bytes);
}

TEST_F(DeviceStreams, answer_resets_with_a_bare_word_and_go_on) {
    const auto reply_to = [this](std::uint32_t seed) {
        send(words(reset_length, seed));
        return static_cast<ResetReply>(receive_word());
    };
    EXPECT_EQ(reply_to(0), ResetReply::refused);
    EXPECT_EQ(reply_to(77), ResetReply::reused);
    EXPECT_EQ(reply_to(77), ResetReply::refused);
    EXPECT_EQ(reply_to(78), ResetReply::reused);
    send(frame(info, 0, 200));
    EXPECT_EQ(receive().size(), info_bytes);
    EXPECT_EQ(end(), "");
}

TEST_F(DeviceStreams, say_that_the_input_ends_inside_a_frame) {
    auto cut = frame(info, 0, 200);
    cut.pop_back();
    send(cut);
    const auto message = end();
    EXPECT_TRUE(message.starts_with("The descriptor (")) << message;
    EXPECT_TRUE(message.ends_with(") ends inside a frame; the other end must send whole frames."))
        << message;
}

TEST_F(DeviceStreams, say_that_the_input_ends_inside_a_prefix_or_a_drained_rest) {
    send({std::byte{1}});
    EXPECT_TRUE(end().ends_with("must send whole frames."));
}

TEST_F(DeviceStreams, say_that_the_input_ends_while_it_is_drained) {
    auto cut = frame(info, request_bytes_max + 100, 200);
    cut.pop_back();
    send(cut);
    EXPECT_TRUE(end().ends_with("must send whole frames."));
}

}  // namespace
}  // namespace virtaccel::adapters::stdio
