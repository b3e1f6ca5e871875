#pragma once
// SHAPE operands that arrive with a submission, as the extension DYNAMIC allows. The one thing to
// know: the file says every shape, so a step asks at run time only whether the operand agrees, and
// fails if it does not.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "backends/cpu/step.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

using ShapeNumbers = std::array<std::int64_t, tosa::shape_length_max>;

// The `count` numbers of a SHAPE during a run, zeros behind them. A copy: they may lie in a
// caller's buffer, at any multiple of 4, and change there.
[[nodiscard]] inline ShapeNumbers numbers_at(const Frame& frame, ValueId shape, std::size_t count) {
    ShapeNumbers numbers{};
    std::memcpy(numbers.data(), frame.at<std::byte>(shape), count * sizeof(std::int64_t));
    return numbers;
}

// Fails with INVALID_ARGUMENT unless a SHAPE holds these numbers.
class ExpectShape final : public Step {
  public:
    ExpectShape(ValueId shape, std::span<const std::int64_t> wanted)
        : shape_(shape), count_(wanted.size()) {
        std::ranges::copy(wanted, wanted_.begin());
    }

    bool run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        return numbers_at(frame, shape_, count_) == wanted_;
    }

    [[nodiscard]] Status failure() const override { return Status::invalid_argument; }

  private:
    ValueId shape_;
    std::size_t count_;
    ShapeNumbers wanted_{};
};

}  // namespace virtaccel::backends::cpu::ops
