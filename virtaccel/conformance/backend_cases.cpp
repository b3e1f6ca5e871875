#include "virtaccel/conformance/backend_cases.h"

#include <array>
#include <span>
#include <vector>

#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

namespace {

constexpr std::array standard_cases{
    BackendCase{"metadata.stable-valid", "name, identity and limits are valid and do not change",
                cases::metadata_stable_valid},
    BackendCase{"intent.reserved-flags", "reserved flags, fields and usage bits are refused",
                cases::intent_reserved_flags},
    BackendCase{"memory.host", "host-visible memory is what was asked for", cases::memory_host,
                true},
    BackendCase{"memory.device", "device-local memory is what was asked for", cases::memory_device,
                true},
    BackendCase{"memory.shared", "shared memory is what was asked for", cases::memory_shared, true},
    BackendCase{"buffer.segmented-transfer-bounds",
                "transfers in pieces move every byte and stay in bounds",
                cases::buffer_segmented_transfer_bounds},
    BackendCase{"buffer.transfer-permissions", "the usage of a buffer decides who may transfer",
                cases::buffer_transfer_permissions},
    BackendCase{"program.segmented-artifact-bounds", "artifacts in pieces load whole and in bounds",
                cases::program_segmented_artifact_bounds},
    BackendCase{"submission.binding-validation", "bindings that are not the program's are refused",
                cases::submission_binding_validation},
    BackendCase{"submission.context-isolation", "contexts do not reach into each other",
                cases::submission_context_isolation},
    BackendCase{"event.pending-release-terminal-stability",
                "pending events stay, ended events do not change",
                cases::event_pending_release_terminal_stability},
    BackendCase{"timeout.finite-admission", "finite timeouts are admitted and kept",
                cases::timeout_finite_admission},
    BackendCase{"event.cancellation-races", "a cancellation and an end decide once",
                cases::event_cancellation_races, true},
    BackendCase{"accounting.resource-lifecycle", "the books balance over whole lives",
                cases::accounting_resource_lifecycle},
};

// The standard cases, and then every table of further ones.
std::vector<BackendCase> all_cases() {
    std::vector<BackendCase> cases(standard_cases.begin(), standard_cases.end());
    for (const further::Rules rules :
         {further::metadata_rules(), further::limit_rules(), further::report_rules(),
          further::zero_rules(), further::transfer_rules(), further::copy_rules(),
          further::artifact_rules(), further::load_rules(), further::submission_rules(),
          further::event_rules(), further::timeout_rules(), further::cancel_rules(),
          further::context_rules(), further::reset_rules(), further::wear_rules()}) {
        for (const further::Rule& rule : rules) {
            cases.push_back({.name = rule.name,
                             .title = rule.title,
                             .needs_capability = rule.needs_capability,
                             .judge = rule.judge,
                             .group = "further"});
        }
    }
    return cases;
}

}  // namespace

std::span<const BackendCase> backend_cases() {
    static const std::vector<BackendCase> all = all_cases();
    return all;
}

std::span<const BackendCase> standard_backend_cases() {
    return standard_cases;
}

std::span<const BackendCase> further_backend_cases() {
    return backend_cases().subspan(standard_cases.size());
}

CaseResult run_backend_case(const BackendSubject& subject, const BackendCase& row) {
    const Check verdict =
        row.judge != nullptr ? judge_on_bench(subject, row.judge) : row.run(subject);
    CaseResult result = result_of(row.name, row.title, verdict);
    if (result.outcome == Outcome::skipped && !row.needs_capability) {
        result.outcome = Outcome::failed;
    }
    result.group = row.group;
    return result;
}

Results run_backend_cases(const BackendSubject& subject) {
    Results results;
    for (const BackendCase& row : backend_cases()) {
        results.push_back(run_backend_case(subject, row));
    }
    return results;
}

}  // namespace virtaccel::conformance
