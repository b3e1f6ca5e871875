#pragma once
// The program of the reference backend (spec §9): 24 bytes that name one operation and the slots it
// works on. A test fixture, not part of the protocol.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::mock {

inline constexpr std::uint32_t reference_format = 0x56414d4b;
inline constexpr TargetWords reference_target{0x56414d4b, 0x00010000, 0x54455354, 0x4f4e4c59};
inline constexpr std::uint64_t reference_resident_bytes = 64;
inline constexpr std::size_t reference_artifact_bytes = 24;

// What a program without a second slot says there.
inline constexpr std::uint32_t no_slot = 0xffffffff;

enum class Operation : std::uint8_t {
    barrier = 0,       // touches nothing; one binding of any access
    copy = 1,          // reads `first_slot`, writes `second_slot`, both of one length
    fill = 2,          // writes the operand over `first_slot`
    exclusive_or = 3,  // combines `first_slot`, read and written, with the operand
};

// A program as its artifact says it.
struct ReferenceProgram {
    Operation operation = Operation::barrier;
    std::uint32_t first_slot = 0;
    std::uint32_t second_slot = no_slot;
    std::uint8_t operand = 0;
    friend constexpr bool operator==(const ReferenceProgram&, const ReferenceProgram&) = default;
};

// The artifact that says `program`, right or wrong.
[[nodiscard]] std::array<std::byte, reference_artifact_bytes> encode(
    const ReferenceProgram& program);

// The program that `artifact` says, or the first of these that is wrong: length, magic
// (INVALID_ARGUMENT), version, binding ABI (INCOMPATIBLE), operation (UNSUPPORTED), reserved bytes,
// slots, the operand of a barrier or a copy (INVALID_ARGUMENT).
[[nodiscard]] Result<ReferenceProgram> decode(std::span<const std::byte> artifact);

}  // namespace virtaccel::mock
