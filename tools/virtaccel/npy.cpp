#include "tools/virtaccel/npy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "host/error.h"
#include "tools/virtaccel/npy_header.h"
#include "virtaccel/base/result.h"

namespace virtaccel::cli {
namespace {

// Elements in Fortran order, moved to C order.
std::vector<std::byte> to_c_order(const NpyHeader& header, std::span<const std::byte> source) {
    const std::size_t bytes = header.element.bytes;
    const std::size_t rank = header.shape.size();
    std::vector<std::size_t> strides(rank);  // of the source, in elements
    std::size_t stride = 1;
    for (std::size_t i = 0; i < rank; ++i) {
        strides[i] = stride;
        stride *= header.shape[i];
    }
    std::vector<std::byte> target(source.size());
    std::vector<std::uint64_t> index(rank, 0);
    std::size_t from = 0;
    for (std::size_t to = 0; to < target.size(); to += bytes) {
        std::memcpy(&target[to], &source[from * bytes], bytes);
        for (std::size_t axis = rank; axis-- > 0;) {
            from += strides[axis];
            if (++index[axis] < header.shape[axis]) {
                break;
            }
            from -= strides[axis] * std::exchange(index[axis], 0);
        }
    }
    return target;
}

}  // namespace

host::OrError<NpyArray> parse_npy(std::span<const std::byte> file, std::string_view path) {
    VIRTACCEL_TRY_ASSIGN(auto header, parse_npy_header(file, path));
    const auto data = file.subspan(header.header_bytes);
    const auto expected = header.element_count * header.element.bytes;
    if (data.size() != expected) {
        return host::error(fmt::format(
            "The file ({}) holds {} bytes of data ({}) than the {} its header promises; save the "
            "array again.",
            path, data.size() < expected ? "fewer" : "more", data.size(), expected));
    }
    const bool turned = header.element.order == '>' && header.element.bytes > 1;
    if (turned && header.element.kind == 'V') {
        return host::error(fmt::format(
            "The file ({}) holds raw elements of a byte order of their own ({}), which is not "
            "taken; save them as |V{}.",
            path, header.element.text, header.element.bytes));
    }
    NpyArray array{.element = header.element,
                   .shape = header.shape,
                   .data = header.fortran_order ? to_c_order(header, data)
                                                : std::vector<std::byte>(data.begin(), data.end())};
    if (turned) {
        for (std::size_t i = 0; i < array.data.size(); i += header.element.bytes) {
            std::ranges::reverse(std::span{array.data}.subspan(i, header.element.bytes));
        }
    }
    return array;
}

std::vector<std::byte> format_npy(std::string_view descr, std::span<const std::uint64_t> shape,
                                  std::span<const std::byte> data) {
    const std::string header = format_npy_header(descr, shape);
    std::vector<std::byte> file(header.size() + data.size());
    std::memcpy(file.data(), header.data(), header.size());
    std::ranges::copy(data, file.begin() + static_cast<std::ptrdiff_t>(header.size()));
    return file;
}

}  // namespace virtaccel::cli
