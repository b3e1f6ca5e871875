#pragma once
// Why a model is refused: a status for the guest, and one sentence, with its place in the model,
// for the person who made it. Needs no allocation, and a hostile name cannot make it long or
// unreadable.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <string_view>

#include "virtaccel/base/status.h"

namespace virtaccel::tosa {

// At most `capacity` characters; what does not fit is dropped and the text ends in "...".
class Text {
  public:
    static constexpr std::size_t capacity = 384;

    // Ours, verbatim.
    Text& append(std::string_view words);
    // The model's: at most 64 bytes of it, and a '?' for all that is not printable ASCII.
    Text& append_foreign(std::string_view name);

    Text& append(std::unsigned_integral auto number) {
        return append_number(std::uint64_t{number});
    }

    Text& append(std::signed_integral auto number) { return append_number(std::int64_t{number}); }

    [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }

  private:
    Text& append_number(std::uint64_t number);
    Text& append_number(std::int64_t number);

    std::array<char, capacity> text_{};
    std::size_t size_ = 0;
};

inline constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

// `sentence` names the place by itself; `operator_index` is the operator's position in its block in
// the file, or `nowhere`. INVALID_ARGUMENT: not a well-formed TOSA model. INCOMPATIBLE: well
// formed, but not for this target. RESOURCE_LIMIT: past a named limit. OUT_OF_MEMORY: the host has
// none.
struct Refusal {
    Status status = Status::internal_error;
    std::uint32_t operator_index = nowhere;
    Text sentence;
};

template <class T>
using Checked = std::expected<T, Refusal>;

// A piece of a sentence that came from the model.
struct Foreign {
    std::string_view name;
};

inline Text& operator+=(Text& text, Foreign foreign) {
    return text.append_foreign(foreign.name);
}

inline Text& operator+=(Text& text, std::string_view words) {
    return text.append(words);
}

inline Text& operator+=(Text& text, std::integral auto number) {
    return text.append(number);
}

// The failing half of a `Checked`, its sentence put together from words, numbers and Foreign names.
template <class... Parts>
[[nodiscard]] std::unexpected<Refusal> refuse(Status status, const Parts&... parts) {
    Refusal refusal{.status = status, .operator_index = nowhere, .sentence = {}};
    ((refusal.sentence += parts), ...);
    return std::unexpected<Refusal>{refusal};
}

}  // namespace virtaccel::tosa
