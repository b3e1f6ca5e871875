#pragma once
// Boxes of elements that move from one tensor to another.

#include <array>
#include <cstddef>
#include <cstdint>

#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

// A box of elements, with steps between neighbours along each axis on both sides, in bytes. A
// source is walked backwards by negative steps, and over and over by steps of zero. The first
// element is `source_offset` and `target_offset` bytes into its value.
struct Box {
    struct Axis {
        std::int64_t size = 1;
        std::int64_t source_step = 0;
        std::int64_t target_step = 0;
    };

    // TILE makes two axes of one.
    static constexpr std::size_t axes_max = std::size_t{2} * tosa::rank_max;

    std::array<Axis, axes_max> axes{};  // outermost first
    std::uint32_t rank = 0;
    std::int64_t element_bytes = 0;
    std::int64_t source_offset = 0;
    std::int64_t target_offset = 0;

    // Adds an axis inside those that are there. Axes that run on are joined.
    void add_axis(const Axis& axis);

    // Makes the innermost axis part of the element if it is dense on both sides. Once, at the end.
    void make_dense();
};

// Copies a box between values that begin at `source` and `target` and do not overlap.
void copy_box(const Box& box, const std::byte* source, std::byte* target) noexcept;

// The bytes of one element, of a type that takes whole bytes.
[[nodiscard]] std::int64_t element_bytes(const tosa::Tensor& tensor);

using ByteSteps = std::array<std::int64_t, tosa::rank_max>;

// How many bytes lie between neighbours along each axis of a dense tensor.
[[nodiscard]] ByteSteps steps_of(const tosa::Tensor& tensor);

// All elements of `part`, dense where it can be, with such steps on both sides.
[[nodiscard]] Box box_of(const tosa::Tensor& part, const ByteSteps& source_steps,
                         const ByteSteps& target_steps);

[[nodiscard]] inline std::int64_t dim(const tosa::Tensor& tensor, std::size_t axis) {
    return tensor.shape[axis];
}

}  // namespace virtaccel::backends::cpu::ops
