#pragma once
// Steps that move elements and compute nothing.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/cpu/ops/box.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

// All bytes of one value into another.
class CopyAll final : public Step {
  public:
    CopyAll(ValueId source, ValueId target, std::uint64_t bytes)
        : source_(source), target_(target), bytes_(bytes) {}

    bool run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        std::memcpy(frame.at<std::byte>(target_), frame.at<std::byte>(source_),
                    static_cast<std::size_t>(bytes_));
        return true;
    }

  private:
    ValueId source_;
    ValueId target_;
    std::uint64_t bytes_;
};

class CopyBox final : public Step {
  public:
    CopyBox(ValueId source, ValueId target, const Box& box)
        : source_(source), target_(target), box_(box) {}

    bool run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        copy_box(box_, frame.at<std::byte>(source_), frame.at<std::byte>(target_));
        return true;
    }

  private:
    ValueId source_;
    ValueId target_;
    Box box_;
};

// One element, over and over.
class Fill final : public Step {
  public:
    // The value `element` is one element of `element_bytes` bytes: 1, 2 or 4. `bytes` are a whole
    // number of them.
    Fill(ValueId element, ValueId target, std::uint64_t bytes, std::int64_t element_bytes)
        : element_(element), target_(target), bytes_(bytes), element_bytes_(element_bytes) {}

    bool run(const Frame& frame, std::uint32_t part) noexcept override;

  private:
    ValueId element_;
    ValueId target_;
    std::uint64_t bytes_;
    std::int64_t element_bytes_;
};

}  // namespace virtaccel::backends::cpu::ops
