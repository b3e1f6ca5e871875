#pragma once
// Steps that decide which step comes next. They compute nothing; a position past the last step is
// the program's end.

#include <cstdint>

#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu {

// Goes on elsewhere, where it was told last.
class Jump : public Step {
  public:
    void go_to(std::uint32_t target) { target_ = target; }

    bool run(const Frame& /*frame*/, std::uint32_t /*part*/) noexcept override { return true; }

    [[nodiscard]] std::uint32_t next(const Frame& /*frame*/,
                                     std::uint32_t /*position*/) noexcept override {
        return target_;
    }

  private:
    std::uint32_t target_ = 0;
};

// Goes on behind itself if a BOOL is true, and elsewhere if it is not.
class Branch final : public Step {
  public:
    explicit Branch(ValueId condition) : condition_(condition) {}

    void go_to(std::uint32_t target) { target_ = target; }

    bool run(const Frame& /*frame*/, std::uint32_t /*part*/) noexcept override { return true; }

    [[nodiscard]] std::uint32_t next(const Frame& frame, std::uint32_t position) noexcept override {
        return *frame.at<const std::uint8_t>(condition_) != 0 ? position + 1 : target_;
    }

  private:
    ValueId condition_;
    std::uint32_t target_ = 0;
};

// The end of steps that are run from several places: goes on where they were called from. One place
// to remember is enough, because blocks do not recur.
class Return final : public Jump {};

// Runs the steps from `entry` to `end`, and what is behind them next.
class Call final : public Step {
  public:
    Call(std::uint32_t entry, Return& end) : entry_(entry), end_(end) {}

    void come_back_to(std::uint32_t target) { target_ = target; }

    bool run(const Frame& /*frame*/, std::uint32_t /*part*/) noexcept override {
        end_.go_to(target_);
        return true;
    }

    [[nodiscard]] std::uint32_t next(const Frame& /*frame*/,
                                     std::uint32_t /*position*/) noexcept override {
        return entry_;
    }

  private:
    std::uint32_t entry_;
    Return& end_;
    std::uint32_t target_ = 0;
};

}  // namespace virtaccel::backends::cpu
