// Writes the seeds of all fuzzers: virtaccel_fuzz_seeds FOLDER FRAMES.json.

#include "tests/fuzz/seeds.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <ios>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace virtaccel::fuzz {

Seeds::Seeds(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::remove_all(folder_);
}

void Seeds::add(std::string_view fuzzer, std::string_view name, const Bytes& bytes) {
    add(fuzzer, name, std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void Seeds::add(std::string_view fuzzer, std::string_view name, std::string_view text) {
    const auto folder = folder_ / fuzzer;
    std::filesystem::create_directories(folder);
    std::ofstream file{folder / name, std::ios::binary};
    file << text;
    file.close();
    if (!file) {
        throw std::runtime_error{"a seed cannot be written"};
    }
    ++count_;
}

namespace {

void append(Bytes& bytes, std::initializer_list<std::uint8_t> more) {
    bytes.insert(bytes.end(), more);
}

Bytes from_hex(std::string_view digits) {
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        bytes.push_back(
            static_cast<std::uint8_t>(std::stoul(std::string{digits.substr(i, 2)}, nullptr, 16)));
    }
    return bytes;
}

// The golden frames, behind the widest limits. (The file is ours, so no JSON parser is needed.)
void add_frames(Seeds& seeds, const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    constexpr std::string_view mark = R"("hex": ")";
    std::size_t number = 0;
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
        at += mark.size();
        const auto hex = std::string_view{text}.substr(at, text.find('"', at) - at);
        Bytes input{255, 255, 63, 63, 255};
        const Bytes frame = from_hex(hex);
        input.insert(input.end(), frame.begin(), frame.end());
        seeds.add("wire_records", "frame_" + std::to_string(number++), input);
    }
    if (number == 0) {
        throw std::runtime_error{"there are no golden frames in " + path.string()};
    }
}

// Steps of device_ring_fuzz.cpp: a chain of two descriptors, offered, popped and completed.
void add_rings(Seeds& seeds) {
    for (const std::uint8_t meddling : {std::uint8_t{0}, std::uint8_t{126}}) {
        Bytes device;
        append(device, {0, 0, 0, 200, 0, 64, 1, 1});  // descriptor 0, readable, then 1
        append(device, {0, 1, 0, 220, 0, 64, 2, 0});  // descriptor 1, writable
        append(device, {1, 0});                       // offered
        append(device, {static_cast<std::uint8_t>(8 + meddling), 0, 0, 0, 0, 0, 0, 0});
        append(device, {3, 0, 6, 1, 4, 5, 0});
        seeds.add("queue_device_ring", "chain_" + std::to_string(meddling), device);
        Bytes driver;
        append(driver, {static_cast<std::uint8_t>(8 + meddling), 1, 1, 0, 8, 0, 2, 4, 6});
        append(driver, {0, 2, 10, 6, 7, 1, 3, 90, 2, 0, 4, 6, 5});
        seeds.add("queue_driver_ring", "chain_" + std::to_string(meddling), driver);
    }
}

// Each command of client_fuzz.cpp, with as many arguments as it takes, answered and completed.
void add_requests(Seeds& seeds) {
    constexpr std::array<std::uint8_t, 15> arguments{0, 0, 1, 5, 1, 4, 4, 2, 1, 1, 1, 8, 1, 1, 1};
    Bytes all;
    std::uint8_t row = 0;
    for (const std::uint8_t count : arguments) {
        Bytes one{13, row, row};
        for (std::uint8_t i = 0; i < count; ++i) {
            one.push_back(row == 11 && i == 0 ? 1 : 2);
        }
        append(one, {6, row, 0, 0, 7, 0});
        append(one, {10});
        seeds.add("guest_client", "request_" + std::to_string(row), one);
        all.insert(all.end(), one.begin(), one.end());
        ++row;
    }
    append(all, {4, 0, 10});
    seeds.add("guest_client", "all", all);
}

// Steps of session_fuzz.cpp: one of everything, with a device that is right and quick.
void add_sessions_of_guests(Seeds& seeds) {
    const Bytes right{0, 0, 0, 0, 0, 0};
    Bytes life{0};
    const auto add = [&](std::initializer_list<std::uint8_t> step) {
        append(life, step);
        life.insert(life.end(), right.begin(), right.end());
    };
    add({});
    add({0, 0, 0, 0});
    add({1, 0, 2, 0, 0, 0});
    add({2, 0, 0, 9, 0, 0});
    add({3, 0, 0, 0});
    add({4, 0, 5, 1, 200, 0, 0});
    add({5, 0, 5, 1, 100, 0, 0});
    add({6, 0, 0, 0, 3, 1, 0, 0});
    add({7, 0, 0, 0, 3, 0, 9, 0, 0});
    add({8, 0, 0, 0});
    add({11, 0, 0});
    add({10});
    seeds.add("guest_session", "life", life);
    seeds.add("guest_session", "zeros", Bytes(64));
}

// Steps of parts_fuzz.cpp: an artifact of four bytes in two parts, joined, with what may follow.
void add_parts(Seeds& seeds) {
    const Bytes load{4, 0, 0, 0, 3, 0, 0, 2, 'a', 'b', 0, 4, 0, 0, 0, 3, 0, 2, 2, 'c', 'd', 0};
    const auto add = [&](std::string_view name, std::initializer_list<std::uint8_t> rest) {
        Bytes steps = load;
        append(steps, rest);
        seeds.add("backend_parts", name, steps);
    };
    add("joined", {1, 0, 0, 0, 0, 2, 0, 0, 0, 0});
    add("reset", {1, 0, 0, 3, 0, 4, 0, 0, 0, 3, 0, 0, 4, 'e', 'f', 'g', 'h', 0, 2});
    add("dropped", {0, 1, 1, 0, 0, 4, 0, 0, 0, 3, 0, 0, 1, 'i', 0, 1, 0, 0});
    add("elsewhere", {1, 1, 0, 4, 1, 0, 0, 3, 0, 0, 4, 'j', 'k', 'l', 'm', 7, 1, 1, 1, 0});
}

void add_scripts(Seeds& seeds) {
    seeds.add("mock_script", "two_entries",
              "# the second submission may have begun\nsubmit 2 indeterminate DEVICE_LOST\n"
              "allocate 1 error_after OUT_OF_MEMORY\n");
    seeds.add("mock_script", "releases",
              "free 1 rejected BUSY\nunload 3 indeterminate INTERNAL_ERROR # and so on\n\n"
              "destroy_event 1 rejected STALE_OBJECT\nsubmit 1 event_fails DEADLINE_EXPIRED\n");
    seeds.add("mock_script", "flawed", "poll 0 error_before BUSY\n");
}

void add_command_lines(Seeds& seeds) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> lines{{
        {"help", "--help\n"},
        {"run", "run\nface.tosa\n--input\nx=face.npy\n--output\ny=out.npy\n--repeat\n5\n--json\n"},
        {"threads", "run\na\n--backend\ncpu:0\n--threads\n2\n--compare\n--device\ndirect\n"},
        {"info", "info\n--backend\nnull\n"},
        {"device", "device\n--stdio\n--complete\n7\n--max-bindings\n9\n--no-cancel\n"},
        {"replay", "replay\nface.rec\n--backend\ncpu\n"},
        {"random", "replay\n--seed\n1\n--schedules\n100\n--steps\n10\n--write\nfile\n"},
        {"conform", "conform\n--device\nloopback\n--case\nVQ-01*\n--timeout\n2.5\n--json\n-\n"},
        {"guest", "guest\n--stdio\n--strict\n"},
    }};
    for (const auto& [name, line] : lines) {
        seeds.add("tools_virtaccel_command_line", name, line);
    }
}

// A .npy file of version 1.0 with `values` bytes of data.
std::string array(std::string_view descr, std::string_view order, std::string_view shape,
                  std::size_t values) {
    std::string header = "{'descr': '" + std::string{descr} +
                         "', 'fortran_order': " + std::string{order} +
                         ", 'shape': " + std::string{shape} + ", }";
    while ((header.size() + 11) % 64 != 0) {
        header += ' ';
    }
    header += '\n';
    std::string file = "\x93NUMPY";
    file += '\x01';
    file += '\0';
    file += static_cast<char>(header.size() & 0xffU);
    file += static_cast<char>(header.size() >> 8U);
    file += header;
    for (std::size_t i = 0; i < values; ++i) {
        file += static_cast<char>(i % 2);
    }
    return file;
}

void add_arrays(Seeds& seeds) {
    constexpr std::string_view fuzzer = "tools_virtaccel_npy";
    seeds.add(fuzzer, "fp32", array("<f4", "False", "(2, 3)", 24));
    seeds.add(fuzzer, "big_endian", array(">i8", "False", "(3,)", 24));
    seeds.add(fuzzer, "fortran", array("|i1", "True", "(2, 3, 2)", 12));
    seeds.add(fuzzer, "scalar", array("<f2", "False", "()", 2));
    seeds.add(fuzzer, "empty", array("|b1", "False", "(0, 3)", 0));
    seeds.add(fuzzer, "raw", array("|V2", "False", "(2,)", 4));
    seeds.add(fuzzer, "unsigned", array("|u1", "True", "(1, 1)", 1));
}

int write_all(std::span<const char* const> arguments) {
    if (arguments.size() != 2) {
        std::fputs("usage: virtaccel_fuzz_seeds FOLDER FRAMES.json\n", stderr);
        return 2;
    }
    Seeds seeds{arguments[0]};
    add_frames(seeds, arguments[1]);
    add_rings(seeds);
    add_requests(seeds);
    add_sessions_of_guests(seeds);
    add_parts(seeds);
    add_scripts(seeds);
    add_command_lines(seeds);
    add_arrays(seeds);
    add_models(seeds);
    add_sessions(seeds);
    std::printf("Seeds written: %zu.\n", seeds.count());
    return 0;
}

}  // namespace

}  // namespace virtaccel::fuzz

int main(int argc, char** argv) {
    try {
        return virtaccel::fuzz::write_all(
            std::span<const char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "The seeds cannot be written: %s.\n", error.what());
        return 1;
    }
}
