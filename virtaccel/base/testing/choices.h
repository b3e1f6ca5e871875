#pragma once
// A fuzzer's input as a sequence of small decisions. The one thing to know: at the end every
// decision is 0, so that any input is a whole program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "virtaccel/base/panic.h"

namespace virtaccel::testing {

class Choices {
  public:
    explicit Choices(std::span<const std::uint8_t> input) : left_(input) {}

    [[nodiscard]] bool done() const { return left_.empty(); }

    [[nodiscard]] std::uint8_t byte() {
        if (left_.empty()) {
            return 0;
        }
        const std::uint8_t first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }

    // A number of `bytes` bytes, at most 8.
    [[nodiscard]] std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
            value = value << 8U | byte();
        }
        return value;
    }

    // A number below `end`, which is from 1 to 256.
    [[nodiscard]] std::uint32_t below(std::uint32_t end) {
        VIRTACCEL_CHECK(end != 0);
        return byte() % end;
    }

    // One of `list`, which is not empty.
    template <class List>
    [[nodiscard]] const auto& one_of(const List& list) {
        return list[below(static_cast<std::uint32_t>(std::size(list)))];
    }

    // Once in `times`, and never at the end of the input.
    [[nodiscard]] bool one_in(std::uint32_t times) { return below(times) == times - 1; }

    // The next `count` bytes of the input, or all that are left.
    [[nodiscard]] std::span<const std::uint8_t> take(std::size_t count) {
        const auto taken = left_.first(std::min(count, left_.size()));
        left_ = left_.subspan(taken.size());
        return taken;
    }

    // All that is left.
    [[nodiscard]] std::span<const std::uint8_t> rest() { return take(left_.size()); }

  private:
    std::span<const std::uint8_t> left_;
};

}  // namespace virtaccel::testing
