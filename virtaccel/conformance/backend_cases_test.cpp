#include "virtaccel/conformance/backend_cases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
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
    EXPECT_TRUE(std::ranges::equal(names, standard_backend_cases(), {}, {}, &BackendCase::name));
    EXPECT_TRUE(
        std::ranges::equal(names, backend_cases().first(names.size()), {}, {}, &BackendCase::name));
}

TEST(BackendCases, are_well_named_and_none_is_there_twice) {
    std::set<std::string_view> names;
    std::set<std::string_view> titles;
    for (const BackendCase& row : backend_cases()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_TRUE(titles.insert(row.title).second) << row.name << ": " << row.title;
        EXPECT_EQ(std::ranges::count(row.name, '.'), 1) << row.name;
        EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."),
                  std::string_view::npos)
            << row.name;
        EXPECT_NE(row.run == nullptr, row.judge == nullptr) << row.name;
    }
    EXPECT_GE(further_backend_cases().size(), 10 * standard_backend_cases().size());
}

TEST(BackendCases, all_pass_on_the_reference_backend_whenever_its_events_end) {
    for (const mock::ReferenceOptions& options :
         {mock::ReferenceOptions{.complete_at = mock::CompleteAt::submit},
          mock::ReferenceOptions{.complete_at = mock::CompleteAt::poll},
          mock::ReferenceOptions{.complete_at = mock::CompleteAt::poll, .pending_polls = 3}}) {
        for (const CaseResult& result : run_mock(options)) {
            // It is about backends that cannot cancel.
            const bool is_skipped = result.name == "cancel.unadvertised-is-unsupported";
            EXPECT_EQ(result.outcome, is_skipped ? Outcome::skipped : Outcome::passed)
                << result.name << ": " << result.reason;
            EXPECT_EQ(result.reason.empty(), !is_skipped);
        }
    }
}

TEST(BackendCases, skip_only_what_the_capabilities_leave_out) {
    mock::ReferenceOptions options;
    options.identity.capabilities = CapabilityBit::shared_memory;
    const Results results = run_mock(options);
    const std::set<std::string_view> skipped{"memory.host", "memory.device",
                                             "event.cancellation-races", "wear.cancellations"};
    const auto is_skipped = [&](std::string_view name) {
        return skipped.contains(name) || name.starts_with("report.host-") ||
               name.starts_with("report.device-") ||
               (name.starts_with("cancel.") && name != "cancel.unadvertised-is-unsupported");
    };
    for (const CaseResult& result : results) {
        EXPECT_EQ(result.outcome, is_skipped(result.name) ? Outcome::skipped : Outcome::passed)
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
    const std::set<std::string_view> passed{"metadata.stable-valid", "intent.reserved-flags",
                                            "memory.host", "buffer.segmented-transfer-bounds",
                                            "buffer.transfer-permissions"};
    std::map<Outcome, std::size_t> counts;
    for (const BackendCase& row : backend_cases()) {
        const CaseResult result = run_backend_case(subject, row);
        ++counts[result.outcome];
        if (row.group == "standard") {
            EXPECT_EQ(result.outcome == Outcome::passed, passed.contains(row.name)) << row.name;
        }
        EXPECT_TRUE(result.outcome != Outcome::skipped || row.needs_capability) << row.name;
        if (result.outcome == Outcome::failed) {
            EXPECT_EQ(result.reason,
                      "The case needs a program and the subject supplies none: give it a valid "
                      "artifact.")
                << row.name;
        }
    }
    EXPECT_GT(counts[Outcome::passed], 100U);
    EXPECT_GT(counts[Outcome::failed], 100U);
    EXPECT_GT(counts[Outcome::skipped], 20U);
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
