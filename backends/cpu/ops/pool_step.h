#pragma once
// The step that pools an image row by row. The one thing to know: it knows where the rows lie, and
// nothing of what is made of one.

#include <cstdint>
#include <memory>

#include "backends/cpu/ops/general_pooling.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

// `Rows` has the type `Element`; rows.in(frame) is what computes the rows of a run, called with the
// window and a PoolingRow<Element>. Neither throws.
template <class Rows>
class PoolStep final : public Step {
  public:
    PoolStep(const GeneralPool& pool, Rows rows)
        : window_(pool.window), values_(pool.values), parts_(pool.parts), rows_(rows) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const auto compute = rows_.in(frame);
        const WindowAxis& y = window_.y;
        const auto count = static_cast<std::uint64_t>(window_.batch * y.output);
        const Range range = range_of(count, parts_, part);
        const std::int64_t image_elements = y.input * window_.x.input * window_.channels;
        const std::int64_t row_elements = window_.x.output * window_.channels;
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            compute(window_, {.image = frame.at<const Element>(values_.input) +
                                       (row / y.output * image_elements),
                              .y = row % y.output,
                              .output = frame.at<Element>(values_.output) + (row * row_elements)});
        }
        return true;
    }

  private:
    using Element = typename Rows::Element;

    ImageWindow window_;
    PoolValues values_;
    std::uint32_t parts_;
    [[no_unique_address]] Rows rows_;
};

template <class Rows>
[[nodiscard]] std::unique_ptr<Step> make_pool_step(const GeneralPool& pool, Rows rows) {
    return std::make_unique<PoolStep<Rows>>(pool, rows);
}

}  // namespace virtaccel::backends::cpu::ops
