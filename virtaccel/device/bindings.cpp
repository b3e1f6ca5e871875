#include "virtaccel/device/bindings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

constexpr unsigned slot_shift = 32;  // a key is a slot above an index
constexpr unsigned digit_bits = 8;
constexpr std::uint32_t short_count = 48;  // up to here a comparison sort is faster

// Moves `keys` to `target`, ordered by one digit, equal digits staying in order. False, with
// nothing moved, if all keys have the same digit.
bool distribute(const std::uint64_t* keys, std::uint64_t* target, std::uint32_t count,
                unsigned shift) {
    constexpr std::uint64_t digit_mask = (1U << digit_bits) - 1;
    std::array<std::uint32_t, digit_mask + 1> starts{};
    for (std::uint32_t i = 0; i < count; ++i) {
        ++starts[keys[i] >> shift & digit_mask];
    }
    if (starts[keys[0] >> shift & digit_mask] == count) {
        return false;
    }
    std::uint32_t start = 0;
    for (std::uint32_t& bucket : starts) {
        start += std::exchange(bucket, start);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        target[starts[keys[i] >> shift & digit_mask]++] = keys[i];
    }
    return true;
}

}  // namespace

BindingScratch::BindingScratch(const Memory& memory, std::uint32_t count_max)
    : fetched_(memory, count_max),
      keys_(memory, count_max),
      spare_keys_(memory, count_max),
      resolved_(memory, count_max),
      references_(memory, count_max) {}

bool BindingScratch::ready() const {
    return !fetched_.empty() && !keys_.empty() && !spare_keys_.empty() && !resolved_.empty() &&
           !references_.empty();
}

Answer BindingScratch::fetch(Reader& source, std::uint32_t count, const wire::FrameLimits& limits) {
    count_ = count;
    if (!source.copy_to(fetched_.data(), std::size_t{count} * sizeof(wire::Binding))) {
        return Answer::silence();
    }
    const wire::Around around{.limits = limits};
    bool ascends = true;
    bool descends = true;
    std::uint32_t previous = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const wire::Binding& binding = fetched_[i];
        if (const auto status = wire::validate(binding, around); status != Status::ok) {
            return status;
        }
        const std::uint32_t slot = binding.slot;
        ascends &= i == 0 || slot > previous;
        descends &= i == 0 || slot < previous;
        previous = slot;
    }
    if (ascends || descends) {
        order_ = ascends ? Order::ascending : Order::descending;
        return Status::ok;
    }
    order_ = Order::sorted;
    return sort() ? Status::ok : Status::invalid_argument;
}

// Orders `keys_` by slot; false if a slot stands twice.
bool BindingScratch::sort() {
    for (std::uint32_t i = 0; i < count_; ++i) {
        keys_[i] = std::uint64_t{fetched_[i].slot} << slot_shift | i;
    }
    if (count_ <= short_count) {
        std::sort(keys_.begin(), keys_.begin() + count_);
    } else {
        for (unsigned shift = slot_shift; shift < 64; shift += digit_bits) {
            if (distribute(keys_.data(), spare_keys_.data(), count_, shift)) {
                std::swap(keys_, spare_keys_);
            }
        }
    }
    const auto same_slot = [](std::uint64_t a, std::uint64_t b) {
        return a >> slot_shift == b >> slot_shift;
    };
    return std::adjacent_find(keys_.begin(), keys_.begin() + count_, same_slot) ==
           keys_.begin() + count_;
}

}  // namespace virtaccel::device
