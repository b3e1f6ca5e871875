#pragma once
// The bindings of one SUBMIT: copied from the guest once, judged, and walked in slot order whatever
// order they came in. All room is made with the device, so nothing is allocated here later.

#include <cstddef>
#include <cstdint>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/references.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {

class BindingScratch {
  public:
    BindingScratch(const Memory& memory, std::uint32_t count_max);

    // False if there was no memory for it.
    [[nodiscard]] bool ready() const;

    // Copies `count` (1 to `count_max`) bindings from `source` and judges them (spec §5, SUBMIT:
    // each binding, then duplicate slots). Silence if the lease of `source` has ended.
    [[nodiscard]] Answer fetch(Reader& source, std::uint32_t count,
                               const wire::FrameLimits& limits);

    // The bindings last fetched.
    [[nodiscard]] std::uint32_t count() const { return count_; }

    // Calls `visit(const wire::Binding&, std::uint32_t index)` in slot order until it says false.
    template <class Visit>
    void in_slot_order(Visit visit) const {
        if (order_ == Order::sorted) {
            for (std::uint32_t i = 0; i < count_; ++i) {
                if (!visit(fetched_[static_cast<std::uint32_t>(keys_[i])], i)) {
                    return;
                }
            }
            return;
        }
        const std::ptrdiff_t step = order_ == Order::ascending ? 1 : -1;
        const wire::Binding* binding = fetched_.data() + (step == 1 ? 0 : count_ - 1);
        for (std::uint32_t i = 0; i < count_; ++i, binding += step) {
            if (!visit(*binding, i)) {
                return;
            }
        }
    }

    // Room for as many resolved bindings, and for the buffers they name.
    [[nodiscard]] backend::Binding* resolved() { return resolved_.data(); }

    [[nodiscard]] Reference* references() { return references_.data(); }

  private:
    enum class Order : std::uint8_t { ascending, descending, sorted };

    [[nodiscard]] bool sort();

    std::uint32_t count_ = 0;
    Order order_ = Order::ascending;
    Array<wire::Binding> fetched_;
    Array<std::uint64_t> keys_;  // slot and index, in slot order once sorted
    Array<std::uint64_t> spare_keys_;
    Array<backend::Binding> resolved_;
    Array<Reference> references_;
};

}  // namespace virtaccel::device
