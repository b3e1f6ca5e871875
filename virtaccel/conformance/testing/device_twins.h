#pragma once
// What the broken twins of a good device share: how one is run, and whether the case that its fault
// breaks has named it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
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

inline Results run_on(DeviceUnderTest& device) {
    DeviceSubject subject;
    subject.memory = host::heap();
    subject.device = &device;
    subject.program = reference_sample();
    subject.patience.pauses_max = 100;
    return run_device_cases(subject);
}

inline ::testing::AssertionResult names(const Results& results, std::string_view name) {
    const auto found = std::ranges::find(results, name, &CaseResult::name);
    if (found == results.end() || found->outcome != Outcome::failed || found->reason.empty()) {
        return ::testing::AssertionFailure() << name << " does not fail";
    }
    return ::testing::AssertionSuccess() << found->reason;
}

// Whether the case fails on a device of class T, and says why.
template <class T>
::testing::AssertionResult names(std::string_view name) {
    T device{host::heap(),
             {.state = nullptr, .make = make_mock},
             RingDeviceOptions{.queue_size = 64, .device = device_options()}};
    EXPECT_EQ(device.unfit(), "");
    return names(run_on(device), name);
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

}  // namespace virtaccel::conformance::testing
