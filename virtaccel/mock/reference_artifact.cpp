#include "virtaccel/mock/reference_artifact.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"

namespace virtaccel::mock {

namespace {

constexpr std::array magic{std::byte{'V'}, std::byte{'A'}, std::byte{'M'}, std::byte{'K'}};
constexpr std::byte version_major{1};
constexpr std::byte version_minor{0};
constexpr std::byte binding_abi{1};
constexpr std::size_t reserved_offset = 17;

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
    std::uint32_t word = 0;
    for (std::size_t i = 4; i-- > 0;) {
        word = (word << 8U) | std::to_integer<std::uint32_t>(bytes[offset + i]);
    }
    return word;
}

void put_word(std::span<std::byte> bytes, std::size_t offset, std::uint32_t word) {
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[offset + i] = static_cast<std::byte>(word >> (8 * i));
    }
}

bool are_slots(const ReferenceProgram& program) {
    if (program.operation != Operation::copy) {
        return program.first_slot != no_slot && program.second_slot == no_slot;
    }
    return program.first_slot != no_slot && program.second_slot != no_slot &&
           program.first_slot != program.second_slot;
}

bool takes_operand(Operation operation) {
    return operation == Operation::fill || operation == Operation::exclusive_or;
}

}  // namespace

std::array<std::byte, reference_artifact_bytes> encode(const ReferenceProgram& program) {
    std::array<std::byte, reference_artifact_bytes> bytes{};
    std::ranges::copy(magic, bytes.begin());
    bytes[4] = version_major;
    bytes[5] = version_minor;
    bytes[6] = static_cast<std::byte>(program.operation);
    bytes[7] = binding_abi;
    put_word(bytes, 8, program.first_slot);
    put_word(bytes, 12, program.second_slot);
    bytes[16] = std::byte{program.operand};
    return bytes;
}

Result<ReferenceProgram> decode(std::span<const std::byte> artifact) {
    if (artifact.size() != reference_artifact_bytes ||
        !std::ranges::equal(artifact.first(magic.size()), magic)) {
        return fail(Status::invalid_argument);
    }
    if (artifact[4] != version_major || artifact[5] != version_minor ||
        artifact[7] != binding_abi) {
        return fail(Status::incompatible);
    }
    const ReferenceProgram program{.operation = static_cast<Operation>(artifact[6]),
                                   .first_slot = word_at(artifact, 8),
                                   .second_slot = word_at(artifact, 12),
                                   .operand = std::to_integer<std::uint8_t>(artifact[16])};
    if (program.operation > Operation::exclusive_or) {
        return fail(Status::unsupported);
    }
    const bool reserved_zero = std::ranges::all_of(artifact.subspan(reserved_offset),
                                                   [](std::byte b) { return b == std::byte{0}; });
    if (!reserved_zero || !are_slots(program) ||
        (program.operand != 0 && !takes_operand(program.operation))) {
        return fail(Status::invalid_argument);
    }
    return program;
}

}  // namespace virtaccel::mock
