#pragma once
// PAD and SLICE whose place arrives at run time: a tensor lies inside a larger one, and a SHAPE
// says where. The one thing to know: sizes are what the file says, so a place outside fails the
// step.

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/ops/box.h"
#include "backends/cpu/ops/shape_operand.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

class CopyPlaced final : public Step {
  public:
    // What the SHAPE has for each axis: SLICE says where its output begins in the source, PAD how
    // much is before its input in the target, and how much behind it.
    enum class Says : std::uint8_t { start, before_and_behind };

    struct Values {
        ValueId source = 0;
        ValueId target = 0;
        ValueId place = 0;
    };

    // `box` is the one for a place of zeros; `part` lies in `whole`.
    CopyPlaced(const Values& values, Says says, const Box& box, const tosa::Tensor& whole,
               const tosa::Tensor& part)
        : values_(values), says_(says), box_(box), rank_(whole.rank()), steps_(steps_of(whole)) {
        for (std::size_t i = 0; i < rank_; ++i) {
            room_[i] = dim(whole, i) - dim(part, i);
        }
    }

    bool run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        const bool is_padding = says_ == Says::before_and_behind;
        const std::size_t each = is_padding ? 2 : 1;
        const ShapeNumbers place = numbers_at(frame, values_.place, each * rank_);
        Box box = box_;
        std::int64_t& offset = is_padding ? box.target_offset : box.source_offset;
        for (std::size_t i = 0; i < rank_; ++i) {
            const std::int64_t before = place[each * i];
            if (before < 0 || before > room_[i] ||
                (is_padding && place[(each * i) + 1] != room_[i] - before)) {
                return false;
            }
            offset += before * steps_[i];
        }
        copy_box(box, frame.at<std::byte>(values_.source), frame.at<std::byte>(values_.target));
        return true;
    }

    [[nodiscard]] Status failure() const override { return Status::invalid_argument; }

  private:
    Values values_;
    Says says_;
    Box box_;
    std::size_t rank_;
    ByteSteps steps_;
    std::array<std::int64_t, tosa::rank_max> room_{};
};

}  // namespace virtaccel::backends::cpu::ops
