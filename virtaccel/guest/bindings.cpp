// The bindings of a submission: checked, and written into the chain.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "virtaccel/base/status.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/frame_words.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/sending.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest {

using wire::Opcode;

Outcome<void> Client::encode_bindings(std::byte* target, std::span<const Binding> bindings) {
    const auto here = realm();
    const wire::Around around{.limits = limits_};
    std::size_t rises = 0;
    std::size_t falls = 0;
    std::uint32_t previous = bindings.front().slot;
    for (const Binding& binding : bindings) {
        if (binding.buffer == nullptr || !binding.buffer->is_of(here)) [[unlikely]] {
            return foreign_handle(Opcode::submit);
        }
        const wire::Binding record{.buffer_id = binding.buffer->id(),
                                   .offset = binding.range.offset,
                                   .bytes = binding.range.bytes,
                                   .slot = binding.slot,
                                   .access = static_cast<std::uint8_t>(binding.access),
                                   .reserved = {}};
        if (const auto status = wire::validate(record, around); status != Status::ok) [[unlikely]] {
            return not_sent(Opcode::submit, status, Cause::request);
        }
        store_binding(target, record);
        target += sizeof record;
        rises += static_cast<std::size_t>(binding.slot > previous);
        falls += static_cast<std::size_t>(binding.slot < previous);
        previous = binding.slot;
    }
    const auto steps = bindings.size() - 1;
    if (rises != steps && falls != steps && has_duplicate_slot(bindings)) [[unlikely]] {
        return not_sent(Opcode::submit, Status::invalid_argument, Cause::request);
    }
    return {};
}

bool Client::has_duplicate_slot(std::span<const Binding> bindings) {
    constexpr std::uint32_t word_bits = 32;
    const auto highest = std::ranges::max_element(bindings, {}, &Binding::slot)->slot;
    if (highest / word_bits < scratch_.size()) {
        // Slots are ordinals of small graphs: a bit for each.
        std::fill_n(scratch_.begin(), (highest / word_bits) + 1, 0U);
        return std::ranges::any_of(bindings, [this](const Binding& binding) {
            auto& word = scratch_[binding.slot / word_bits];
            const auto bit = 1U << (binding.slot % word_bits);
            return (std::exchange(word, word | bit) & bit) != 0;
        });
    }
    auto* const end = std::ranges::transform(bindings, scratch_.begin(), &Binding::slot).out;
    std::sort(scratch_.begin(), end);
    return std::adjacent_find(scratch_.begin(), end) != end;
}

}  // namespace virtaccel::guest
