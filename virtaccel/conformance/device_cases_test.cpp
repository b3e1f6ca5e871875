#include "virtaccel/conformance/device_cases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "backends/null/null.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

namespace {

Result<backend::AnyBackend> make_mock(void* /*state*/) {
    return backend::make_owned<mock::Reference>(host::heap(), host::heap(),
                                                mock::ReferenceOptions{.pending_polls = 1});
}

Result<backend::AnyBackend> make_null(void* /*state*/) {
    return backend::make_owned<backends::null::NullBackend>(host::heap(), host::heap());
}

device::Options options_of(std::uint16_t chain_max) {
    device::Options options;
    options.config.chain_descriptors_max = chain_max;
    options.config.request_bytes_max = std::uint32_t{1} << 20U;
    options.config.response_bytes_max = std::uint32_t{1} << 20U;
    options.policy = {.buffer_bytes_max = std::uint64_t{1} << 30U,
                      .program_resident_bytes_max = std::uint64_t{1} << 30U};
    return options;
}

// One request at a time, in one piece each way: a pair of streams without the streams.
class StreamDevice final : public DeviceUnderTest {
  public:
    StreamDevice()
        : endpoint_(*device::Endpoint::make(host::heap(), {.state = nullptr, .make = make_mock},
                                            options_of(16))) {}

    [[nodiscard]] wire::Config config() const override { return endpoint_.device().config(); }

    [[nodiscard]] std::optional<std::uint32_t> exchange(std::span<const Piece> readable,
                                                        std::span<const Piece> writable) override {
        const auto of = [](std::span<const Piece> pieces) {
            return pieces.empty() ? std::span<std::byte>{}
                                  : std::span{pieces[0].data, pieces[0].size};
        };
        return endpoint_.device().serve(of(readable), of(writable)).used_bytes;
    }

    [[nodiscard]] bool reset() override {
        return endpoint_.reset() != device::ResetAnswer::unavailable;
    }

  private:
    device::Endpoint endpoint_;
};

DeviceSubject subject_of(DeviceUnderTest& device, std::optional<SampleProgram> program) {
    DeviceSubject subject;
    subject.memory = host::heap();
    subject.device = &device;
    subject.program = std::move(program);
    return subject;
}

TEST(DeviceCases, begin_with_twenty_stable_names) {
    const auto rows = device_cases();
    ASSERT_GT(rows.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
        const std::string number = std::to_string(i + 1);
        EXPECT_EQ(rows[i].name, "VQ-" + std::string(3 - number.size(), '0') + number);
    }
}

TEST(DeviceCases, have_names_and_titles_of_their_own) {
    std::set<std::string_view> names;
    for (const DeviceCase& row : device_cases()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_NE(row.title, "") << row.name;
        EXPECT_FALSE(row.title.ends_with('.')) << row.title;
        if (!row.name.starts_with("VQ-")) {
            EXPECT_EQ(std::ranges::count(row.name, '.'), 1) << row.name;
            EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."),
                      std::string_view::npos)
                << row.name;
        }
    }
}

// What the mock, which offers everything, and its programs leave to others.
bool is_for_others(std::string_view name) {
    return name.starts_with("tosa-artifact.") || name == "allocate-buffer.domain-not-offered" ||
           name == "cancel-event.not-offered";
}

TEST(DeviceCases, all_pass_on_a_split_ring) {
    for (const std::uint16_t chain_max :
         {std::uint16_t{2}, std::uint16_t{16}, std::uint16_t{100}}) {
        RingDevice device{host::heap(),
                          {.state = nullptr, .make = make_mock},
                          {.queue_size = 128, .device = options_of(chain_max)}};
        ASSERT_EQ(device.unfit(), "");
        const Results results = run_device_cases(subject_of(device, reference_sample()));
        for (const CaseResult& result : results) {
            // With two descriptors no frame can be cut.
            const bool uncut = chain_max == 2 && result.name == "VQ-002";
            EXPECT_EQ(result.outcome,
                      uncut || is_for_others(result.name) ? Outcome::skipped : Outcome::passed)
                << result.name << ": " << result.reason;
        }
    }
}

TEST(DeviceCases, skip_what_a_stream_cannot_express_and_nothing_else) {
    StreamDevice device;
    const std::set<std::string_view> skipped{
        "VQ-002", "VQ-003", "VQ-005", "VQ-006", "VQ-014", "VQ-016", "VQ-017", "VQ-018", "VQ-020",
        // what nobody can hold or break
        "cancel-event.pending", "destroy-event.pending-is-busy", "submit.pending-keeps-everything"};
    for (const CaseResult& result : run_device_cases(subject_of(device, reference_sample()))) {
        const bool skips = skipped.contains(result.name) || is_for_others(result.name) ||
                           result.name.starts_with("ring.") || result.name.starts_with("loss.");
        EXPECT_EQ(result.outcome, skips ? Outcome::skipped : Outcome::passed)
            << result.name << ": " << result.reason;
        EXPECT_EQ(result.reason.empty(), !skips);
    }
}

TEST(DeviceCases, skip_what_needs_a_program_where_there_is_none) {
    RingDevice device{host::heap(),
                      {.state = nullptr, .make = make_null},
                      {.queue_size = 64, .device = options_of(16)}};
    ASSERT_EQ(device.unfit(), "");
    std::size_t passed = 0;
    for (const CaseResult& result : run_device_cases(subject_of(device, std::nullopt))) {
        EXPECT_NE(result.outcome, Outcome::failed) << result.name << ": " << result.reason;
        passed += result.outcome == Outcome::passed ? 1 : 0;
        if (result.name.starts_with("VQ-")) {
            EXPECT_EQ(result.outcome, result.name == "VQ-015" ? Outcome::skipped : Outcome::passed)
                << result.name << ": " << result.reason;
        }
    }
    EXPECT_GT(passed, device_cases().size() / 2);
}

TEST(DeviceCases, fail_on_a_device_that_is_dead) {
    class Dead final : public DeviceUnderTest {
      public:
        [[nodiscard]] wire::Config config() const override { return {}; }

        [[nodiscard]] std::optional<std::uint32_t> exchange(std::span<const Piece>,
                                                            std::span<const Piece>) override {
            return std::nullopt;
        }
    };

    Dead device;
    for (const CaseResult& result : run_device_cases(subject_of(device, reference_sample()))) {
        EXPECT_EQ(result.outcome, Outcome::failed);
        EXPECT_EQ(result.reason, "GET_DEVICE_INFO is not answered.");
    }
}

TEST(RingDevice, says_why_there_is_none) {
    RingDevice device{
        host::heap(), {.state = nullptr, .make = make_mock}, {.queue_size = 64, .device = {}}};
    EXPECT_NE(device.unfit(), "");
}

}  // namespace

}  // namespace virtaccel::conformance
