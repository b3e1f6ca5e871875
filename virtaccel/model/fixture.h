#pragma once
// The reference program (spec §9) as the model understands it: what an artifact of 24 bytes says,
// which bindings fit it, and what it does to the bytes of two ranges.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace virtaccel::model {

inline constexpr std::uint64_t fixture_format = 0x56414d4b;
inline constexpr std::uint64_t fixture_resident_bytes = 64;
inline constexpr std::uint64_t fixture_no_slot = 0xffffffff;

namespace operation {
inline constexpr std::uint64_t barrier = 0;
inline constexpr std::uint64_t copy = 1;
inline constexpr std::uint64_t fill = 2;
inline constexpr std::uint64_t exclusive_or = 3;
}  // namespace operation

struct FixtureProgram {
    std::uint64_t operation = operation::barrier;
    std::uint64_t first_slot = 0;
    std::uint64_t second_slot = fixture_no_slot;
    std::uint8_t operand = 0;
};

// LOAD_PROGRAM's payload, judged as the reference backend does: the program, or every status that a
// refusal may have. The text gives the reasons no order, so several may be right.
struct FixtureVerdict {
    std::optional<FixtureProgram> program;
    std::set<std::uint16_t> refusals;
};

[[nodiscard]] FixtureVerdict judge_fixture(std::span<const std::byte> payload);

// One binding as SUBMIT says it.
struct Binding {
    std::uint64_t buffer = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t slot = 0;
    std::uint64_t access = 0;
};

// Whether bindings, in slot order, are what the program wants.
[[nodiscard]] bool fits_program(const FixtureProgram& program, std::span<const Binding> bindings);

// A buffer's byte, or that nobody can say what it is.
using Content = std::vector<std::optional<std::byte>>;

}  // namespace virtaccel::model
