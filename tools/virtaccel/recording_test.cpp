#include "tools/virtaccel/recording.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace virtaccel::cli {
namespace {

using Bytes = std::vector<std::byte>;

Recording sample() {
    Recording recording;
    recording.config.chain_descriptors_max = 16;
    recording.config.request_bytes_max = 4096;
    recording.config.response_bytes_max = 4096;
    recording.backend = "mock";
    recording.entries.emplace_back(Exchange{
        .request = Bytes(24, std::byte{1}), .capacity = 32, .response = Bytes(16, std::byte{2})});
    recording.entries.emplace_back(ResetMark{});
    recording.entries.emplace_back(Exchange{.request = {}, .capacity = 0, .response = {}});
    return recording;
}

void expect_refused(std::span<const std::byte> file, std::string_view what) {
    const auto decoded = decode_recording(file, "s.rec");
    ASSERT_FALSE(decoded.has_value());
    EXPECT_NE(decoded.error().message.find("(s.rec)"), std::string_view::npos);
    EXPECT_NE(decoded.error().message.find(what), std::string_view::npos)
        << decoded.error().message;
}

TEST(Recording, is_read_as_it_is_written) {
    const Recording recording = sample();
    const auto decoded = decode_recording(encode(recording), "s.rec");
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_EQ(decoded->config.request_bytes_max, 4096U);
    EXPECT_EQ(decoded->backend, "mock");
    ASSERT_EQ(decoded->entries.size(), 3U);
    const auto& first = std::get<Exchange>(decoded->entries[0]);
    EXPECT_EQ(first.request, Bytes(24, std::byte{1}));
    EXPECT_EQ(first.capacity, 32U);
    EXPECT_EQ(first.response, Bytes(16, std::byte{2}));
    EXPECT_TRUE(std::holds_alternative<ResetMark>(decoded->entries[1]));
}

// The layout that docs/replay.md promises, byte for byte.
TEST(Recording, has_the_documented_layout) {
    const Bytes file = encode(sample());
    constexpr std::size_t entries_at = 8 + 4 + 16 + 1 + 4;
    ASSERT_EQ(file.size(), entries_at + (13 + 24 + 16) + 1 + 13 + 9);
    EXPECT_EQ(file[8], std::byte{1});
    EXPECT_EQ(file[28], std::byte{4});
    EXPECT_EQ(file[entries_at], std::byte{1});
    EXPECT_EQ(file[entries_at + 1], std::byte{24});
    EXPECT_EQ(file[entries_at + 5], std::byte{32});
    EXPECT_EQ(file[entries_at + 9], std::byte{16});
    EXPECT_EQ(file[entries_at + 53], std::byte{2});
    EXPECT_EQ(file[file.size() - 9], std::byte{0});
    EXPECT_EQ(file[file.size() - 8], std::byte{3});
}

TEST(Recording, is_refused_wherever_it_is_cut) {
    const Bytes file = encode(sample());
    for (std::size_t size = recording_magic.size(); size < file.size(); ++size) {
        SCOPED_TRACE(size);
        expect_refused(std::span{file}.first(size), "ends too early");
    }
    expect_refused(std::span{file}.first(3), "is no recording");
}

TEST(Recording, is_refused_with_another_version_or_what_none_says) {
    Bytes file = encode(sample());
    file[8] = std::byte{2};
    expect_refused(file, "is no recording of version 1, but of (2.0)");
    file = encode(sample());
    file.push_back(std::byte{0});
    expect_refused(file, "damaged");
    file = encode(sample());
    file[file.size() - 8] = std::byte{4};
    expect_refused(file, "damaged");
    file = encode(sample());
    file[33] = std::byte{7};
    expect_refused(file, "damaged");
    file = encode(sample());
    file[33 + 9] = std::byte{33};
    expect_refused(file, "damaged");
    file = encode(sample());
    file[12] = std::byte{9};
    expect_refused(file, "damaged");
}

}  // namespace
}  // namespace virtaccel::cli
