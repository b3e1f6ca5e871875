#pragma once
// The start of a .npy file: what its bytes are. The format is NumPy's (versions 1.0, 2.0 and 3.0):
// a magic, a length, and a Python dictionary in text. The one thing to know: everything here is
// read from a file that anybody may have made.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace virtaccel::cli {

// The elements of an array, as the file's `descr` says: byte order, kind, size. `text` is all of
// it, for messages.
struct NpyElement {
    std::string text;  // "<f4"
    char order = '|';  // '<' little-endian, '>' big-endian, '|' neither
    char kind = 0;     // b bool, i signed, u unsigned, f floating point, V raw bytes
    std::uint32_t bytes = 0;
};

struct NpyHeader {
    NpyElement element;
    bool fortran_order = false;  // the first index moves fastest
    std::vector<std::uint64_t> shape;
    std::uint64_t element_count = 0;  // the product of `shape`; `element_count * bytes` exists
    std::size_t header_bytes = 0;     // where the data start
};

// The longest text of a header that is read; NumPy's are of a few hundred bytes.
inline constexpr std::size_t npy_header_bytes_max = std::size_t{1} << 20U;

// Reads the header of `file`; `path` is for messages. Refuses what NumPy does not write, elements
// that are no plain numbers, bits or bytes, and shapes whose size does not exist; looks at no byte
// past the header.
[[nodiscard]] host::OrError<NpyHeader> parse_npy_header(std::span<const std::byte> file,
                                                        std::string_view path);

// The header that NumPy writes for a C-order array of such elements.
[[nodiscard]] std::string format_npy_header(std::string_view descr,
                                            std::span<const std::uint64_t> shape);

// A shape as Python writes it: (), (3,), (2, 3).
[[nodiscard]] std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace virtaccel::cli
