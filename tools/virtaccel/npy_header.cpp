#include "tools/virtaccel/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "host/error.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/result.h"

namespace virtaccel::cli {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t prefix_bytes = 8;  // magic, major version, minor version
constexpr std::size_t header_alignment = 64;
constexpr std::size_t rank_max = 64;
constexpr std::size_t shown_characters_max = 60;

// A piece of the file for a message: printable, and not long.
std::string shown(std::string_view text) {
    std::string result{text.substr(0, shown_characters_max)};
    std::ranges::replace_if(result, [](char c) { return c < ' ' || c > '~'; }, '?');
    return result;
}

// Walks the text of a Python literal. Each `take_` returns nothing, and moves nowhere that matters,
// if the text does not go on that way.
class Literal {
  public:
    explicit Literal(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool at(char c) {
        skip_blanks();
        return !rest_.empty() && rest_.front() == c;
    }

    [[nodiscard]] bool take(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) {
            return false;
        }
        rest_.remove_prefix(word.size());
        return true;
    }

    [[nodiscard]] bool at_end() {
        skip_blanks();
        return rest_.empty();
    }

    [[nodiscard]] std::optional<std::string> take_string() {
        if (!at('\'') && !at('"')) {
            return std::nullopt;
        }
        const auto end = rest_.find(rest_.front(), 1);
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        std::string text{rest_.substr(1, end - 1)};
        rest_.remove_prefix(end + 1);
        return text.contains('\\') ? std::nullopt : std::optional{std::move(text)};
    }

    [[nodiscard]] std::optional<bool> take_bool() {
        if (take("True")) {
            return true;
        }
        if (take("False")) {
            return false;
        }
        return std::nullopt;
    }

    // A tuple of whole numbers. `(3)` is none in Python, and is refused.
    [[nodiscard]] std::optional<std::vector<std::uint64_t>> take_shape() {
        if (!take("(")) {
            return std::nullopt;
        }
        std::vector<std::uint64_t> shape;
        bool comma = true;
        while (!take(")")) {
            std::uint64_t size = 0;
            skip_blanks();
            const auto* end = rest_.data() + rest_.size();
            const auto [stop, code] = std::from_chars(rest_.data(), end, size);
            if (!comma || code != std::errc{} || shape.size() == rank_max) {
                return std::nullopt;
            }
            rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
            shape.push_back(size);
            comma = take(",");
        }
        return shape.size() == 1 && !comma ? std::nullopt : std::optional{std::move(shape)};
    }

  private:
    void skip_blanks() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    }

    std::string_view rest_;
};

// The element that `descr` says, or nothing if it is not one we could hand to a model.
std::optional<NpyElement> parse_descr(const std::string& descr) {
    NpyElement element{.text = descr};
    std::string_view rest = descr;
    if (!rest.empty() && std::string_view{"<>|="}.contains(rest.front())) {
        element.order = rest.front() == '=' ? '<' : rest.front();
        rest.remove_prefix(1);
    }
    if (rest.size() < 2 || !std::string_view{"biufV"}.contains(rest.front())) {
        return std::nullopt;
    }
    element.kind = rest.front();
    rest.remove_prefix(1);
    const auto* end = rest.data() + rest.size();
    const auto [stop, code] = std::from_chars(rest.data(), end, element.bytes);
    if (code != std::errc{} || stop != end || element.bytes == 0) {
        return std::nullopt;
    }
    return element;
}

// The dictionary's three entries, each once, in any order.
struct Entries {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;
};

std::optional<Entries> parse_entries(std::string_view text) {
    Literal literal{text};
    if (!literal.take("{")) {
        return std::nullopt;
    }
    Entries entries;
    bool comma = true;
    while (!literal.take("}")) {
        const auto key = literal.take_string();
        if (!comma || !key || !literal.take(":")) {
            return std::nullopt;
        }
        bool good = false;
        if (*key == "descr" && !entries.descr) {
            good = (entries.descr = literal.take_string()).has_value();
        } else if (*key == "fortran_order" && !entries.fortran_order) {
            good = (entries.fortran_order = literal.take_bool()).has_value();
        } else if (*key == "shape" && !entries.shape) {
            good = (entries.shape = literal.take_shape()).has_value();
        }
        if (!good) {
            return std::nullopt;
        }
        comma = literal.take(",");
    }
    const bool complete = entries.descr && entries.fortran_order && entries.shape;
    return complete && literal.at_end() ? std::optional{std::move(entries)} : std::nullopt;
}

// The header's text and where it ends.
struct HeaderText {
    std::string_view text;
    std::size_t end = 0;
};

host::OrError<HeaderText> find_header_text(std::string_view file, std::string_view path) {
    if (!file.starts_with(magic) || file.size() < prefix_bytes) {
        return host::error(fmt::format(
            "The file ({}) is no .npy file: it does not begin with NumPy's magic; save the array "
            "with numpy.save.",
            path));
    }
    const auto major = static_cast<std::uint8_t>(file[magic.size()]);
    const auto minor = static_cast<std::uint8_t>(file[magic.size() + 1]);
    if (major < 1 || major > 3 || minor != 0) {
        return host::error(fmt::format(
            "The file ({}) is of .npy version ({}.{}), which is not taken; save it as 1.0, 2.0 or "
            "3.0.",
            path, major, minor));
    }
    const std::size_t length_bytes = major == 1 ? 2 : 4;
    const std::size_t begin = prefix_bytes + length_bytes;
    std::size_t length = npy_header_bytes_max + 1;
    if (file.size() >= begin) {
        std::array<std::uint8_t, 4> digits{};
        std::memcpy(digits.data(), file.data() + prefix_bytes, length_bytes);
        length = digits[0] | (std::size_t{digits[1]} << 8U) | (std::size_t{digits[2]} << 16U) |
                 (std::size_t{digits[3]} << 24U);
    }
    if (length > npy_header_bytes_max || length > file.size() - begin) {
        return host::error(fmt::format(
            "The file ({}) ends inside its .npy header, or has one of more than ({}) bytes; save "
            "the array again.",
            path, npy_header_bytes_max));
    }
    return HeaderText{.text = file.substr(begin, length), .end = begin + length};
}

std::unexpected<host::Error> bad_element(std::string_view path, std::string_view descr) {
    return host::error(fmt::format(
        "The file ({}) holds elements of type ({}), which is {}; save the array as "
        "plain numbers.",
        path, shown(descr), descr.contains('O') ? "a Python object and no number" : "not taken"));
}

}  // namespace

host::OrError<NpyHeader> parse_npy_header(std::span<const std::byte> file, std::string_view path) {
    const std::string_view text{reinterpret_cast<const char*>(file.data()), file.size()};
    VIRTACCEL_TRY_ASSIGN(const auto found, find_header_text(text, path));
    auto entries = parse_entries(found.text);
    if (!entries) {
        return host::error(fmt::format(
            "The file ({}) has a .npy header ({}) that is not a dictionary of a plain descr, "
            "fortran_order and shape; save the array with numpy.save.",
            path, shown(found.text)));
    }
    auto element = parse_descr(*entries->descr);
    if (!element) {
        return bad_element(path, *entries->descr);
    }
    NpyHeader header{.element = *std::move(element),
                     .fortran_order = *entries->fortran_order,
                     .shape = *std::move(entries->shape),
                     .element_count = 1,
                     .header_bytes = found.end};
    std::optional<std::uint64_t> bytes = header.element.bytes;
    for (const auto size : header.shape) {
        bytes = bytes ? checked_mul<std::uint64_t>(*bytes, size) : std::nullopt;
    }
    if (!bytes || *bytes > std::numeric_limits<std::ptrdiff_t>::max()) {
        return host::error(fmt::format(
            "The file ({}) claims a shape {} that no memory can hold; save the array again.", path,
            shape_text(header.shape)));
    }
    header.element_count = *bytes / header.element.bytes;
    return header;
}

std::string format_npy_header(std::string_view descr, std::span<const std::uint64_t> shape) {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   descr, shape_text(shape));
    const std::size_t begin = prefix_bytes + 2;
    const std::size_t unpadded = begin + text.size() + 1;
    const auto padding = (header_alignment - (unpadded % header_alignment)) % header_alignment;
    text.append(padding, ' ');
    text += '\n';
    std::string header{magic};
    header += '\x01';
    header += '\x00';
    header += static_cast<char>(text.size() & 0xffU);
    header += static_cast<char>(text.size() >> 8U);
    return header + text;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace virtaccel::cli
