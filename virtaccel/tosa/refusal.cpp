#include "virtaccel/tosa/refusal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace virtaccel::tosa {
namespace {

constexpr std::string_view cut_mark = "...";
constexpr std::size_t foreign_max = 64;

}  // namespace

Text& Text::append(std::string_view words) {
    const std::size_t room = capacity - size_;
    const std::size_t taken = std::min(words.size(), room);
    std::copy_n(words.begin(), taken, text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += taken;
    // Full: the end of what is there makes room for the mark.
    if (taken < words.size()) {
        std::ranges::copy(cut_mark, text_.end() - cut_mark.size());
    }
    return *this;
}

Text& Text::append_foreign(std::string_view name) {
    std::array<char, foreign_max> shown{};
    const std::size_t taken = std::min(name.size(), shown.size());
    for (std::size_t i = 0; i < taken; ++i) {
        const bool printable = name[i] >= ' ' && name[i] <= '~';
        shown[i] = printable ? name[i] : '?';
    }
    append({shown.data(), taken});
    return taken < name.size() ? append(cut_mark) : *this;
}

Text& Text::append_number(std::uint64_t number) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    return append({digits.begin(), end});
}

Text& Text::append_number(std::int64_t number) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    return append({digits.begin(), end});
}

}  // namespace virtaccel::tosa
