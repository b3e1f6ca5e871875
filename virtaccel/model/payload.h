#pragma once
// Step 5 of spec §5 as the model understands it: a payload judged by itself, and how many bytes the
// answer to it carries if it succeeds.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/model/fixture.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {

[[nodiscard]] bool is_command(std::uint64_t opcode);

// OK, or the first failure in the order of the specification's table.
[[nodiscard]] std::uint16_t judge_payload(const World& world, std::uint64_t opcode,
                                          std::span<const std::byte> payload);

// The payload of the success of a command whose request passed `judge_payload`.
[[nodiscard]] std::uint64_t success_bytes(std::uint64_t opcode, std::span<const std::byte> payload);

// The bindings of a SUBMIT that passed `judge_payload`, in slot order.
[[nodiscard]] std::vector<Binding> bindings_in(std::span<const std::byte> payload);

}  // namespace virtaccel::model
