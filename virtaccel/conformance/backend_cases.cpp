#include "virtaccel/conformance/backend_cases.h"

#include <array>
#include <span>

#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

namespace {

constexpr std::array all_cases{
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

}  // namespace

std::span<const BackendCase> backend_cases() {
    return all_cases;
}

CaseResult run_backend_case(const BackendSubject& subject, const BackendCase& row) {
    CaseResult result = result_of(row.name, row.title, row.run(subject));
    if (result.outcome == Outcome::skipped && !row.needs_capability) {
        result.outcome = Outcome::failed;
    }
    return result;
}

Results run_backend_cases(const BackendSubject& subject) {
    Results results;
    for (const BackendCase& row : all_cases) {
        results.push_back(run_backend_case(subject, row));
    }
    return results;
}

}  // namespace virtaccel::conformance
