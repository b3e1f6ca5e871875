#pragma once
// The device cases beside VQ-001 to VQ-020, by what they are about; device_cases.cpp puts them in a
// row. A new one is a row in one of the tables behind these. Internal to this module.

#include <span>

#include "virtaccel/conformance/device_cases.h"

namespace virtaccel::conformance::rules {

// What each command is refused for, and what comes first (faults.h).
[[nodiscard]] std::span<const DeviceCase> fault_rules();
// What the device says of itself, and what every frame has.
[[nodiscard]] std::span<const DeviceCase> identity_rules();
// The life of objects and of their names.
[[nodiscard]] std::span<const DeviceCase> object_rules();
[[nodiscard]] std::span<const DeviceCase> quota_rules();
[[nodiscard]] std::span<const DeviceCase> buffer_rules();
[[nodiscard]] std::span<const DeviceCase> program_rules();
[[nodiscard]] std::span<const DeviceCase> submission_rules();
[[nodiscard]] std::span<const DeviceCase> event_rules();
[[nodiscard]] std::span<const DeviceCase> reset_rules();
// What the reference artifact and TOSA artifacts promise, for a subject that takes them.
[[nodiscard]] std::span<const DeviceCase> artifact_rules();
// Artifacts in parts, for a device that joins them.
[[nodiscard]] std::span<const DeviceCase> parts_rules();
// What needs a ring of its own.
[[nodiscard]] std::span<const DeviceCase> ring_rules();
// What needs a device that can be made to lose itself.
[[nodiscard]] std::span<const DeviceCase> loss_rules();

}  // namespace virtaccel::conformance::rules
