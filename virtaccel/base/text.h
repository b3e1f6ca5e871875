#pragma once
// Sentences written into a caller's room, without an allocation. The one thing to know: what does
// not fit is cut off.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace virtaccel {

class Text {
  public:
    // Writes from the start of `room`, which outlives this and what `written` gives.
    explicit Text(std::span<char> room) : room_(room) {}

    Text& operator<<(std::string_view text) {
        const auto fitting = text.substr(0, room_.size() - size_);
        std::ranges::copy(fitting, room_.data() + size_);
        size_ += fitting.size();
        return *this;
    }

    Text& operator<<(std::uint64_t number) {
        char digits[20];
        const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
        return *this << std::string_view{std::begin(digits), end};
    }

    [[nodiscard]] std::string_view written() const { return {room_.data(), size_}; }

  private:
    std::span<char> room_;
    std::size_t size_ = 0;
};

}  // namespace virtaccel
