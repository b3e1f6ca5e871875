#include "backends/cpu/ops/conversion.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

// Floating-point numbers of one type into those of another.
template <class To, class From>
class Convert final : public Step {
  public:
    Convert(ValueId source, ValueId target, std::uint64_t count, std::uint32_t parts)
        : source_(source), target_(target), count_(count), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const From* const source = frame.at<const From>(source_);
        To* const target = frame.at<To>(target_);
        const Range range = range_of(count_, parts_, part);
        for (std::uint64_t i = range.first; i < range.end; ++i) {
            target[i] = narrowed_to<To>(widened(source[i]));
        }
        return true;
    }

  private:
    ValueId source_;
    ValueId target_;
    std::uint64_t count_;
    std::uint32_t parts_;
};

template <class Visit>
void visit_narrow(DType dtype, const Visit& visit) {
    VIRTACCEL_CHECK(
        (visit_element<DType::fp16, DType::bf16, DType::fp8e4m3, DType::fp8e5m2>(dtype, visit)));
}

}  // namespace

ValueId add_wide(Lowering& lowering, ValueId tensor) {
    return lowering.add_scratch(lowering.tensor(tensor).elements * sizeof(float));
}

ValueId emit_widening(Lowering& lowering, ValueId tensor) {
    const ValueId numbers = add_wide(lowering, tensor);
    const std::uint64_t count = lowering.tensor(tensor).elements;
    visit_narrow(lowering.tensor(tensor).dtype, [&]<class From>(ElementType<From> /*type*/) {
        lowering.emit(std::make_unique<Convert<float, From>>(tensor, numbers, count,
                                                             lowering.parts_for(count, count)),
                      {tensor}, numbers);
    });
    return numbers;
}

void emit_narrowing(Lowering& lowering, ValueId numbers, ValueId tensor) {
    const std::uint64_t count = lowering.tensor(tensor).elements;
    visit_narrow(lowering.tensor(tensor).dtype, [&]<class To>(ElementType<To> /*type*/) {
        lowering.emit(std::make_unique<Convert<To, float>>(numbers, tensor, count,
                                                           lowering.parts_for(count, count)),
                      {numbers}, tensor);
    });
}

std::span<const float> known_floats(const Lowering& lowering, ValueId tensor,
                                    std::vector<float>& storage) {
    if (lowering.tensor(tensor).dtype == DType::fp32) {
        return lowering.known<float>(tensor);
    }
    visit_narrow(lowering.tensor(tensor).dtype, [&]<class From>(ElementType<From> /*type*/) {
        const auto elements = lowering.known<From>(tensor);
        storage.resize(elements.size());
        std::ranges::transform(elements, storage.begin(), [](From x) { return widened(x); });
    });
    return storage;
}

bool is_known_zero(const Lowering& lowering, ValueId tensor) {
    std::vector<float> storage;
    return lowering.is_known(tensor) && known_floats(lowering, tensor, storage)[0] == 0.0F;
}

}  // namespace virtaccel::backends::cpu::ops
