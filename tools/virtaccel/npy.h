#pragma once
// Arrays in NumPy's .npy files. The one thing to know: what is read comes out in C order and
// little-endian, with the values NumPy shows for that file, or not at all.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "tools/virtaccel/npy_header.h"

namespace virtaccel::cli {

// An array by value; `data` is in C order (the last index moves fastest), little-endian.
struct NpyArray {
    NpyElement element;
    std::vector<std::uint64_t> shape;
    std::vector<std::byte> data;
};

// The array in the bytes of a whole file; `path` is for messages. Fortran order and big-endian
// numbers are converted. Refuses a file with fewer or more bytes than its header promises.
[[nodiscard]] host::OrError<NpyArray> parse_npy(std::span<const std::byte> file,
                                                std::string_view path);

// The bytes of a whole file of version 1.0 that says `descr` and `shape`; `data` is in C order.
[[nodiscard]] std::vector<std::byte> format_npy(std::string_view descr,
                                                std::span<const std::uint64_t> shape,
                                                std::span<const std::byte> data);

}  // namespace virtaccel::cli
