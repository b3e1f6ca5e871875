#pragma once
// What the broken twins of a good device share: how one is run, and whether the case that its fault
// breaks has named it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/testing/tampering_device.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::testing {

using wire::Opcode;

inline constexpr std::size_t header_bytes = 16;

inline Result<backend::AnyBackend> make_mock(void* /*state*/) {
    return backend::make_owned<mock::Reference>(host::heap(), host::heap());
}

inline device::Options device_options() {
    device::Options options;
    options.config.chain_descriptors_max = 16;
    options.config.request_bytes_max = std::uint32_t{1} << 20U;
    options.config.response_bytes_max = std::uint32_t{1} << 20U;
    options.policy = {.buffer_bytes_max = std::uint64_t{1} << 30U,
                      .program_resident_bytes_max = std::uint64_t{1} << 30U};
    return options;
}

inline DeviceSubject subject_of(DeviceUnderTest& device,
                                const SampleProgram& program = reference_sample()) {
    DeviceSubject subject;
    subject.memory = host::heap();
    subject.device = &device;
    subject.program = program;
    subject.patience.pauses_max = 100;
    return subject;
}

inline Results run_on(DeviceUnderTest& device) {
    return run_device_cases(subject_of(device));
}

// Whether the case fails on `device`, and says why.
inline ::testing::AssertionResult names(DeviceUnderTest& device, std::string_view name,
                                        const SampleProgram& program = reference_sample()) {
    const auto rows = device_cases();
    const auto row = std::ranges::find(rows, name, &DeviceCase::name);
    if (row == rows.end()) {
        return ::testing::AssertionFailure() << "there is no case " << name;
    }
    const CaseResult result = run_device_case(subject_of(device, program), *row);
    if (result.outcome != Outcome::failed || result.reason.empty()) {
        return ::testing::AssertionFailure() << name << " does not fail: " << result.reason;
    }
    return ::testing::AssertionSuccess() << result.reason;
}

// Whether the case fails on a device of class T, and says why.
template <class T>
::testing::AssertionResult names(std::string_view name) {
    T device{host::heap(),
             {.state = nullptr, .make = make_mock},
             RingDeviceOptions{.queue_size = 64, .device = device_options()}};
    EXPECT_EQ(device.unfit(), "");
    return names(device, name);
}

inline bool is(const Links& links, Opcode opcode) {
    return links.header().opcode == static_cast<std::uint16_t>(opcode);
}

struct ForgetsTheLastByte : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        answer.used_bytes -= is(answer.links, Opcode::get_device_info) ? 1 : 0;
    }
};

// Forgets its loss when it is asked who it is.
struct GoesOnWhenLost : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (answer.is(Status::device_lost) && is(answer.links, Opcode::get_device_info)) {
            const wire::DeviceInfo info;
            answer.reply(Status::ok, std::as_bytes(std::span{&info, 1}));
        }
    }
};

// Answers a command otherwise where it was answered with a status.
template <Opcode opcode, Status from, Status to>
struct Says : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (is(answer.links, opcode) && answer.is(from)) {
            answer.refuse(to);
        }
    }
};

}  // namespace virtaccel::conformance::testing
