#include "virtaccel/conformance/backend_cases.h"

#include <array>
#include <span>
#include <utility>

#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

namespace {

constexpr std::array all_cases{
    BackendCase{"metadata.stable-valid", cases::metadata_stable_valid},
    BackendCase{"intent.reserved-flags", cases::intent_reserved_flags},
    BackendCase{"memory.host", cases::memory_host, true},
    BackendCase{"memory.device", cases::memory_device, true},
    BackendCase{"memory.shared", cases::memory_shared, true},
    BackendCase{"buffer.segmented-transfer-bounds", cases::buffer_segmented_transfer_bounds},
    BackendCase{"buffer.transfer-permissions", cases::buffer_transfer_permissions},
    BackendCase{"program.segmented-artifact-bounds", cases::program_segmented_artifact_bounds},
    BackendCase{"submission.binding-validation", cases::submission_binding_validation},
    BackendCase{"submission.context-isolation", cases::submission_context_isolation},
    BackendCase{"event.pending-release-terminal-stability",
                cases::event_pending_release_terminal_stability},
    BackendCase{"timeout.finite-admission", cases::timeout_finite_admission},
    BackendCase{"event.cancellation-races", cases::event_cancellation_races, true},
    BackendCase{"accounting.resource-lifecycle", cases::accounting_resource_lifecycle},
};

}  // namespace

std::span<const BackendCase> backend_cases() {
    return all_cases;
}

Results run_backend_cases(const BackendSubject& subject) {
    Results results;
    for (const BackendCase& row : all_cases) {
        CaseResult result = result_of(row.name, row.run(subject));
        if (result.outcome == Outcome::skipped && !row.needs_capability) {
            result.outcome = Outcome::failed;
        }
        results.push_back(std::move(result));
    }
    return results;
}

}  // namespace virtaccel::conformance
