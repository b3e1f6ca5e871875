#pragma once
// The cases for devices: the twenty of spec §8, and one or more for every other rule that a driver
// can see kept or broken, whatever the backend. The one thing to know: a case that the transport or
// the subject cannot express is skipped and says why; nothing else is.

#include <span>
#include <string_view>

#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

struct DeviceCase;

// The stage of a device case, and what else the subject gives.
struct DeviceCaseInput {
    const DeviceSubject& subject;
    Stage& stage;
    const DeviceCase& row;
};

namespace rules {
struct CommandRules;
struct Fault;
}  // namespace rules

struct DeviceCase {
    std::string_view name;
    std::string_view title;
    Check (*run)(const DeviceCaseInput& input) = nullptr;
    // Of a case that a table describes: whose table, and which row of it, or none for all of them.
    const rules::CommandRules* command = nullptr;
    const rules::Fault* fault = nullptr;
};

// VQ-001 to VQ-020 and, after them, the rules, grouped by command. They live as long as the
// program.
[[nodiscard]] std::span<const DeviceCase> device_cases();

// Runs one of them, after a reset of the device where it can be reset.
[[nodiscard]] CaseResult run_device_case(const DeviceSubject& subject, const DeviceCase& row);

// Runs every case.
[[nodiscard]] Results run_device_cases(const DeviceSubject& subject);

}  // namespace virtaccel::conformance
