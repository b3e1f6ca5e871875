#include "virtaccel/model/fixture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

#include "virtaccel/model/wire_text.h"

namespace virtaccel::model {
namespace {

// LOAD_PROGRAM (spec §3).
constexpr std::size_t format_offset = 8;
constexpr std::size_t target_offset = 16;
constexpr std::size_t target_words = 12;
constexpr std::size_t resident_offset = 72;
constexpr std::size_t artifact_offset = 80;

// The artifact (spec §9).
constexpr std::size_t artifact_bytes = 24;
constexpr std::size_t reserved_offset = 17;
constexpr std::uint64_t magic = 0x4b4d4156;  // "VAMK"

bool is_fixture_target(std::span<const std::byte> payload) {
    const std::uint64_t words[target_words] = {0x56414d4b, 0x00010000, 0x54455354, 0x4f4e4c59};
    for (std::size_t i = 0; i < target_words; ++i) {
        if (number_at(payload, target_offset + (4 * i), 4) != words[i]) {
            return false;
        }
    }
    return true;
}

bool takes_operand(const FixtureProgram& program) {
    return program.operation == operation::fill || program.operation == operation::exclusive_or;
}

bool are_slots(const FixtureProgram& program) {
    if (program.first_slot == fixture_no_slot) {
        return false;
    }
    return program.operation == operation::copy
               ? program.second_slot != fixture_no_slot && program.second_slot != program.first_slot
               : program.second_slot == fixture_no_slot;
}

// What is wrong with an artifact of the right length.
std::set<std::uint16_t> refusals_of(std::span<const std::byte> artifact,
                                    const FixtureProgram& program) {
    std::set<std::uint16_t> refusals;
    if (number_at(artifact, 0, 4) != magic) {
        refusals.insert(status::invalid_argument);
    }
    if (number_at(artifact, 4, 2) != 1 || number_at(artifact, 7, 1) != 1) {
        refusals.insert(status::incompatible);
    }
    const bool known = program.operation <= operation::exclusive_or;
    if (!known) {
        refusals.insert(status::unsupported);
    }
    const bool reserved_zero = std::ranges::all_of(artifact.subspan(reserved_offset),
                                                   [](std::byte b) { return b == std::byte{0}; });
    if (!reserved_zero || (known && !are_slots(program)) ||
        (known && !takes_operand(program) && program.operand != 0)) {
        refusals.insert(status::invalid_argument);
    }
    return refusals;
}

}  // namespace

FixtureVerdict judge_fixture(std::span<const std::byte> payload) {
    FixtureVerdict verdict;
    if (number_at(payload, format_offset, 4) != fixture_format) {
        verdict.refusals = {status::unsupported};  // of another format nothing else is known
        return verdict;
    }
    const auto artifact = payload.subspan(artifact_offset);
    FixtureProgram program;
    if (artifact.size() != artifact_bytes) {
        verdict.refusals = {status::invalid_argument};
    } else {
        program = {.operation = number_at(artifact, 6, 1),
                   .first_slot = number_at(artifact, 8, 4),
                   .second_slot = number_at(artifact, 12, 4),
                   .operand = static_cast<std::uint8_t>(number_at(artifact, 16, 1))};
        verdict.refusals = refusals_of(artifact, program);
    }
    if (!is_fixture_target(payload) ||
        number_at(payload, resident_offset, 8) != fixture_resident_bytes) {
        verdict.refusals.insert(status::incompatible);
    }
    if (verdict.refusals.empty()) {
        verdict.program = program;
    }
    return verdict;
}

bool fits_program(const FixtureProgram& program, std::span<const Binding> bindings) {
    const auto in_slot = [&](std::uint64_t slot) {
        return std::ranges::find(bindings, slot, &Binding::slot);
    };
    constexpr std::uint64_t read = 1;
    constexpr std::uint64_t write = 2;
    constexpr std::uint64_t read_write = 3;
    const auto first = in_slot(program.first_slot);
    if (first == bindings.end()) {
        return false;
    }
    if (program.operation == operation::copy) {
        const auto second = in_slot(program.second_slot);
        return bindings.size() == 2 && second != bindings.end() && first->access == read &&
               second->access == write && first->bytes == second->bytes;
    }
    if (bindings.size() != 1) {
        return false;
    }
    return program.operation == operation::barrier ||
           first->access == (program.operation == operation::fill ? write : read_write);
}

}  // namespace virtaccel::model
