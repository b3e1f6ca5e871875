#pragma once
// The twenty cases for devices (spec §8): what every device owes a driver, whatever its backend.
// The one thing to know: a case that the transport or the subject cannot express is skipped and
// says why; nothing else is.

#include <span>
#include <string_view>

#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

// The stage of a device case, and what else the subject gives.
struct DeviceCaseInput {
    const DeviceSubject& subject;
    Stage& stage;
};

struct DeviceCase {
    std::string_view name;
    std::string_view title;
    Check (*run)(const DeviceCaseInput& input) = nullptr;
};

// VQ-001 to VQ-020.
[[nodiscard]] std::span<const DeviceCase> device_cases();

// Runs one of them, after a reset of the device where it can be reset.
[[nodiscard]] CaseResult run_device_case(const DeviceSubject& subject, const DeviceCase& row);

// Runs every case.
[[nodiscard]] Results run_device_cases(const DeviceSubject& subject);

}  // namespace virtaccel::conformance
