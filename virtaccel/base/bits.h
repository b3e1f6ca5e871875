#pragma once
// A set of named bits over a fixed-width integer. Unknown bits stay in the value, so that what the
// other side said can be judged and reported.

#include <type_traits>

namespace virtaccel {

// The set whose members are the bit values of `Bit`, an enum of single bits.
template <class Bit>
struct BitSet {
    using Word = std::underlying_type_t<Bit>;
    Word bits = 0;

    constexpr BitSet() = default;

    constexpr BitSet(Bit bit) : bits(static_cast<Word>(bit)) {}

    constexpr explicit BitSet(Word raw) : bits(raw) {}

    [[nodiscard]] constexpr bool has(Bit bit) const { return (bits & static_cast<Word>(bit)) != 0; }

    [[nodiscard]] constexpr bool has_any(BitSet other) const { return (bits & other.bits) != 0; }

    [[nodiscard]] constexpr bool has_all(BitSet other) const {
        return (bits & other.bits) == other.bits;
    }

    [[nodiscard]] constexpr bool empty() const { return bits == 0; }

    friend constexpr BitSet operator|(BitSet a, BitSet b) {
        return BitSet{static_cast<Word>(a.bits | b.bits)};
    }

    friend constexpr BitSet operator-(BitSet a, BitSet b) {
        return BitSet{static_cast<Word>(a.bits & static_cast<Word>(~b.bits))};
    }

    friend constexpr bool operator==(BitSet, BitSet) = default;
};

}  // namespace virtaccel
