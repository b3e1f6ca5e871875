#pragma once
// A fuzzer's input as a sequence of small decisions. The one thing to know: at the end every
// decision is 0, so that any input is a whole program.

#include <cstddef>
#include <cstdint>
#include <span>

namespace virtaccel::queue::testing {

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

  private:
    std::span<const std::uint8_t> left_;
};

}  // namespace virtaccel::queue::testing
