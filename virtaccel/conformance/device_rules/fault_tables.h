#pragma once
// The tables that commands.cpp puts beside each command; see faults.h for what a row is.

#include <span>

#include "virtaccel/conformance/device_rules/faults.h"

namespace virtaccel::conformance::rules::tables {

// What a frame can be refused for, whatever its command.
[[nodiscard]] std::span<const Fault> frame();

[[nodiscard]] std::span<const Fault> device_info();
[[nodiscard]] std::span<const Fault> create_context();
[[nodiscard]] std::span<const Fault> create_queue();
[[nodiscard]] std::span<const Fault> allocate_buffer();
[[nodiscard]] std::span<const Fault> load_program();
[[nodiscard]] std::span<const Fault> write_buffer();
[[nodiscard]] std::span<const Fault> read_buffer();
[[nodiscard]] std::span<const Fault> submit();
[[nodiscard]] std::span<const Fault> poll_event();
[[nodiscard]] std::span<const Fault> cancel_event();
// The five commands that release an object.
[[nodiscard]] std::span<const Fault> release();

}  // namespace virtaccel::conformance::rules::tables
