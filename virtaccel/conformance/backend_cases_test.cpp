#include "virtaccel/conformance/backend_cases.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "backends/null/null.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/mock/reference.h"

namespace virtaccel::conformance {

namespace {

// What became of each case, as `name: outcome` or, for what did not pass, `name: outcome: reason`.
Outcome outcome_of(const Results& results, std::string_view name) {
    const auto found = std::ranges::find(results, name, &CaseResult::name);
    EXPECT_NE(found, results.end()) << name;
    return found->outcome;
}

std::string reason_of(const Results& results, std::string_view name) {
    return std::ranges::find(results, name, &CaseResult::name)->reason;
}

Results run_mock(const mock::ReferenceOptions& options) {
    auto maker = [&] {
        return backend::make_owned<mock::Reference>(host::heap(), host::heap(), options);
    };
    return run_backend_cases(reference_subject(host::heap(), backend::factory_from(maker)));
}

TEST(BackendCases, are_the_fourteen_stable_names) {
    constexpr std::array names{"metadata.stable-valid",
                               "intent.reserved-flags",
                               "memory.host",
                               "memory.device",
                               "memory.shared",
                               "buffer.segmented-transfer-bounds",
                               "buffer.transfer-permissions",
                               "program.segmented-artifact-bounds",
                               "submission.binding-validation",
                               "submission.context-isolation",
                               "event.pending-release-terminal-stability",
                               "timeout.finite-admission",
                               "event.cancellation-races",
                               "accounting.resource-lifecycle"};
    EXPECT_TRUE(std::ranges::equal(names, backend_cases(), {}, {}, &BackendCase::name));
}

TEST(BackendCases, all_pass_on_the_reference_backend_whenever_its_events_end) {
    for (const mock::ReferenceOptions& options :
         {mock::ReferenceOptions{.complete_at = mock::CompleteAt::submit},
          mock::ReferenceOptions{.complete_at = mock::CompleteAt::poll},
          mock::ReferenceOptions{.complete_at = mock::CompleteAt::poll, .pending_polls = 3}}) {
        for (const CaseResult& result : run_mock(options)) {
            EXPECT_EQ(result.outcome, Outcome::passed) << result.name << ": " << result.reason;
            EXPECT_EQ(result.reason, "");
        }
    }
}

TEST(BackendCases, skip_only_what_the_capabilities_leave_out) {
    mock::ReferenceOptions options;
    options.identity.capabilities = CapabilityBit::shared_memory;
    const Results results = run_mock(options);
    const std::set<std::string_view> skipped{"memory.host", "memory.device",
                                             "event.cancellation-races"};
    for (const CaseResult& result : results) {
        EXPECT_EQ(result.outcome,
                  skipped.contains(result.name) ? Outcome::skipped : Outcome::passed)
            << result.name << ": " << result.reason;
    }
    EXPECT_EQ(reason_of(results, "memory.device"),
              "The backend does not advertise device-local memory.");
    EXPECT_EQ(reason_of(results, "event.cancellation-races"),
              "The backend does not advertise the cancellation of events.");
}

TEST(BackendCases, judge_the_null_backend_by_what_it_has) {
    auto maker = [] {
        return backend::make_owned<backends::null::NullBackend>(host::heap(), host::heap());
    };
    BackendSubject subject;
    subject.memory = host::heap();
    subject.factory = backend::factory_from(maker);
    const Results results = run_backend_cases(subject);
    const std::set<std::string_view> passed{"metadata.stable-valid", "intent.reserved-flags",
                                            "memory.host", "buffer.segmented-transfer-bounds",
                                            "buffer.transfer-permissions"};
    const std::set<std::string_view> skipped{"memory.device", "memory.shared",
                                             "event.cancellation-races"};
    for (const CaseResult& result : results) {
        const Outcome wanted = passed.contains(result.name)    ? Outcome::passed
                               : skipped.contains(result.name) ? Outcome::skipped
                                                               : Outcome::failed;
        EXPECT_EQ(result.outcome, wanted) << result.name << ": " << result.reason;
        if (wanted == Outcome::failed) {
            EXPECT_EQ(result.reason,
                      "The case needs a program and the subject supplies none: give it a valid "
                      "artifact.");
        }
    }
}

TEST(BackendCases, fail_when_there_is_no_backend) {
    auto maker = []() -> Result<backend::AnyBackend> { return fail(Status::out_of_memory); };
    const Results results =
        run_backend_cases(reference_subject(host::heap(), backend::factory_from(maker)));
    for (const CaseResult& result : results) {
        EXPECT_EQ(result.outcome, Outcome::failed) << result.name;
        EXPECT_NE(result.reason, "");
    }
}

// A case leaves nothing behind, whatever its end.
TEST(BackendCases, give_back_what_they_used) {
    testing::CountingMemory memory{host::heap()};
    auto maker = [&] {
        return backend::make_owned<mock::Reference>(memory.memory(), memory.memory());
    };
    const Results results =
        run_backend_cases(reference_subject(memory.memory(), backend::factory_from(maker)));
    EXPECT_EQ(outcome_of(results, "accounting.resource-lifecycle"), Outcome::passed);
    EXPECT_EQ(memory.live_blocks(), 0U);
}

}  // namespace

}  // namespace virtaccel::conformance
