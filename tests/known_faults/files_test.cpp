// Files that the program reads, past the limits that they have. Elsewhere a length in a file was an
// allocation, and a list in it was as long as it said.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tools/virtaccel/npy_header.h"
#include "tools/virtaccel/recording.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::known_faults {
namespace {

using Bytes = std::vector<std::byte>;

void expect_no_schedule(const std::string& text, std::string_view why) {
    const auto schedule = model::parse_schedule(text);
    ASSERT_FALSE(schedule.has_value());
    EXPECT_NE(schedule.error().find(why), std::string::npos) << schedule.error();
    EXPECT_LT(schedule.error().size(), 300U);
}

TEST(ScheduleFiles, have_lines_of_bounded_length) {
    const std::string begin{model::schedule_magic};
    expect_no_schedule(begin + "reset" + std::string(4096, ' ') + "x\n", "The line (2)");
    expect_no_schedule(begin + std::string(std::size_t{1} << 24U, 'a'), "is too long");
    std::string many;
    for (int i = 0; i < 1'000'000; ++i) {
        many += "a ";
    }
    expect_no_schedule(begin + many, "is too long");
    EXPECT_TRUE(model::parse_schedule(begin + "reset #" + std::string(5000, 'x') + "\n"));
}

TEST(ScheduleFiles, have_a_bounded_number_of_actions) {
    std::string text{model::schedule_magic};
    text.reserve(8'000'000);
    for (int i = 0; i < 1'000'000; ++i) {
        text += "reset\n";
    }
    expect_no_schedule(text + "reset\n", "The line (1000002) of the schedule is one action too");
}

// Where the lengths of the first entry stand: request, room, used.
constexpr std::size_t lengths_at = 34;

TEST(Recordings, have_frames_no_longer_than_a_devices) {
    cli::Recording recording;
    recording.config.chain_descriptors_max = 16;
    recording.config.request_bytes_max = 4096;
    recording.config.response_bytes_max = 4096;
    recording.backend = "mock";
    recording.entries.emplace_back(
        cli::Exchange{.request = Bytes(16), .capacity = 92, .response = Bytes(16)});
    const Bytes good = cli::encode(recording);
    ASSERT_TRUE(cli::decode_recording(good, "a.rec").has_value());
    for (const std::size_t word : {0U, 4U, 8U}) {
        for (const std::uint32_t length : {(16U << 20U) + 1, 0x7fff'ffffU, 0xffff'ffffU}) {
            Bytes file = good;
            std::memcpy(file.data() + lengths_at + word, &length, sizeof length);
            const auto decoded = cli::decode_recording(file, "a.rec");
            ASSERT_FALSE(decoded.has_value()) << word << " " << length;
            EXPECT_NE(decoded.error().message.find("is damaged"), std::string::npos)
                << decoded.error().message;
        }
    }
}

// An array of a float, whose header says `shape`, padded to `header_bytes`.
Bytes array_file(const std::string& shape, std::size_t header_bytes) {
    std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
    text.resize(header_bytes - 1, ' ');
    std::string file{"\x93NUMPY\x02\x00", 8};
    for (unsigned shift = 0; shift < 32; shift += 8) {
        file += static_cast<char>(header_bytes >> shift);
    }
    file += text + "\n" + std::string(4, '\0');
    const auto bytes = std::as_bytes(std::span{file});
    return {bytes.begin(), bytes.end()};
}

TEST(ArrayFiles, have_headers_of_bounded_length) {
    constexpr std::size_t most = std::size_t{1} << 20U;
    EXPECT_TRUE(cli::parse_npy_header(array_file("(1,)", most), "a.npy").has_value());
    EXPECT_FALSE(cli::parse_npy_header(array_file("(1,)", most + 1), "a.npy").has_value());
}

TEST(ArrayFiles, have_shapes_of_bounded_rank) {
    const auto shape_of = [](std::size_t rank) {
        std::string shape = "(";
        for (std::size_t i = 0; i < rank; ++i) {
            shape += "1,";
        }
        return shape + ")";
    };
    EXPECT_TRUE(cli::parse_npy_header(array_file(shape_of(64), 1000), "a.npy").has_value());
    EXPECT_FALSE(cli::parse_npy_header(array_file(shape_of(65), 1000), "a.npy").has_value());
    EXPECT_FALSE(cli::parse_npy_header(array_file(shape_of(400'000), 900'000), "a.npy"));
}

}  // namespace
}  // namespace virtaccel::known_faults
