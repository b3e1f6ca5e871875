#pragma once
// Steps that move elements and compute nothing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/cpu/step.h"
#include "virtaccel/tosa/types.h"

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

// A box of elements, with steps between neighbours along each axis on both sides, in bytes. The
// first element is `source_offset` and `target_offset` bytes into its value.
struct Box {
    struct Axis {
        std::uint64_t size = 1;
        std::uint64_t source_step = 0;
        std::uint64_t target_step = 0;
    };

    std::array<Axis, tosa::rank_max> axes{};  // outermost first
    std::uint32_t rank = 0;
    std::uint64_t element_bytes = 0;
    std::uint64_t source_offset = 0;
    std::uint64_t target_offset = 0;

    // Adds an axis inside those that are there. Axes that run on are joined.
    void add_axis(const Axis& axis);

    // Makes the innermost axis part of the element if it is dense on both sides. Once, at the end.
    void make_dense();
};

class CopyBox final : public Step {
  public:
    CopyBox(ValueId source, ValueId target, const Box& box)
        : source_(source), target_(target), box_(box) {}

    bool run(const Frame& frame, std::uint32_t part) noexcept override;

  private:
    ValueId source_;
    ValueId target_;
    Box box_;
};

// One element, over and over.
class Fill final : public Step {
  public:
    // `element` is `element_bytes` long: 1, 2, 4 or 8.
    Fill(ValueId target, std::uint64_t bytes, const std::byte* element, std::size_t element_bytes)
        : target_(target), bytes_(bytes), element_bytes_(element_bytes) {
        std::memcpy(element_.data(), element, element_bytes);
    }

    bool run(const Frame& frame, std::uint32_t part) noexcept override;

  private:
    ValueId target_;
    std::uint64_t bytes_;
    std::array<std::byte, 8> element_{};
    std::size_t element_bytes_;
};

}  // namespace virtaccel::backends::cpu::ops
