#include "virtaccel/conformance/device_cases.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_case_list.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

namespace {

constexpr std::array queue_cases{
    DeviceCase{"VQ-001", "one readable and one writable descriptor",
               cases::one_readable_and_one_writable},
    DeviceCase{"VQ-002", "every byte split of header and fixed payload", cases::every_byte_split},
    DeviceCase{"VQ-003", "segments concatenate without padding", cases::segments_concatenate},
    DeviceCase{"VQ-004", "nothing readable or nothing writable: length 0", cases::missing_side},
    DeviceCase{"VQ-005", "readable after writable is rejected", cases::readable_after_writable},
    DeviceCase{"VQ-006", "empty, looping, too many and indirect descriptors are rejected",
               cases::malformed_chains},
    DeviceCase{"VQ-007", "a truncated header writes nothing", cases::truncated_header},
    DeviceCase{"VQ-008", "a malformed payload writes exactly 16 bytes", cases::malformed_payload},
    DeviceCase{"VQ-009", "an unknown opcode is UNSUPPORTED", cases::unknown_opcode},
    DeviceCase{"VQ-010", "flags and reserved fields that are set are refused",
               cases::flags_and_reserved},
    DeviceCase{"VQ-011", "trailing bytes are refused", cases::trailing_bytes},
    DeviceCase{"VQ-012", "short success capacity is detected before anything changes",
               cases::short_capacity},
    DeviceCase{"VQ-013", "the used length is exact", cases::exact_used_length},
    DeviceCase{"VQ-014", "completions out of order keep their IDs", cases::out_of_order_completion},
    DeviceCase{"VQ-015", "the completion of SUBMIT does not wait for its event",
               cases::submit_is_no_wait},
    DeviceCase{"VQ-016", "a full queue is backpressure", cases::full_queue},
    DeviceCase{"VQ-017", "suppressed notifications lose no work", cases::suppressed_notifications},
    DeviceCase{"VQ-018", "no late used entry and no late write after a reset",
               cases::nothing_late_after_reset},
    DeviceCase{"VQ-019", "old object IDs are stale, request IDs reusable",
               cases::old_names_after_reset},
    DeviceCase{"VQ-020", "lost output or an indeterminate release needs a reset",
               cases::needs_reset},
};

Check run_case(const DeviceSubject& subject, const DeviceCase& row) {
    // A case that ended early may have left something held; what cannot be reset stays as it is.
    if (Control* const control = subject.device->control()) {
        control->hold_events(false);
        control->hold_loads(false);
    }
    (void)subject.device->reset();
    Caller caller{*subject.device};
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    Stage stage{*subject.device, subject.program, subject.patience,
                Capabilities{std::uint64_t{info.capabilities}}};
    return row.run({.subject = subject, .stage = stage, .row = row});
}

std::vector<DeviceCase> collect_cases() {
    std::vector<DeviceCase> cases{queue_cases.begin(), queue_cases.end()};
    for (const auto rows : {rules::fault_rules(), rules::identity_rules(), rules::object_rules(),
                            rules::quota_rules(), rules::buffer_rules(), rules::program_rules(),
                            rules::submission_rules(), rules::event_rules(), rules::reset_rules(),
                            rules::artifact_rules(), rules::parts_rules(), rules::ring_rules(),
                            rules::loss_rules()}) {
        cases.insert(cases.end(), rows.begin(), rows.end());
    }
    return cases;
}

}  // namespace

std::span<const DeviceCase> device_cases() {
    static const std::vector<DeviceCase> cases = collect_cases();
    return cases;
}

CaseResult run_device_case(const DeviceSubject& subject, const DeviceCase& row) {
    return result_of(row.name, row.title, run_case(subject, row));
}

Results run_device_cases(const DeviceSubject& subject) {
    Results results;
    for (const DeviceCase& row : device_cases()) {
        results.push_back(run_device_case(subject, row));
    }
    return results;
}

}  // namespace virtaccel::conformance
