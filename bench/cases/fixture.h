#pragma once
// What both kinds of layer run: the sizes, the mock artifact, and the limits of a benchmark's
// device.

#include <array>
#include <cstdint>

#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/options.h"

namespace virtaccel::bench {

struct Size {
    const char* name;
    std::uint64_t bytes;
};

inline constexpr Size transfer_sizes[] = {
    {"64B", 64}, {"4KiB", 4096}, {"64KiB", 65536}, {"256KiB", 262144}, {"1MiB", 1048576}};
inline constexpr Size allocation_sizes[] = {{"64B", 64}, {"4KiB", 4096}, {"64KiB", 65536}};
inline constexpr std::uint32_t binding_counts[] = {1, 3, 64, 256};
inline constexpr std::uint32_t batch_sizes[] = {16, 256, 2048};

// The mock's barrier, which takes one binding; the plain backend takes any artifact.
inline constexpr std::uint32_t barrier_format = 0x56414d4b;
inline constexpr TargetWords barrier_target{0x56414d4b, 0x00010000, 0x54455354, 0x4f4e4c59};
inline constexpr std::uint64_t barrier_resident_bytes = 64;
inline constexpr std::array<std::uint8_t, 24> barrier_artifact{
    'V', 'A', 'M', 'K', 1, 0, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0};

inline constexpr Usage every_usage = usage_known;

// What a reset of 1000 mixed objects gives up: one context, two queues, and these.
inline constexpr std::uint32_t mixed_buffers = 497;
inline constexpr std::uint32_t mixed_programs = 100;
inline constexpr std::uint32_t mixed_events = 400;
inline constexpr std::uint32_t mixed_queues = 2;

// A device with room for every case.
[[nodiscard]] device::Options device_options();

}  // namespace virtaccel::bench
