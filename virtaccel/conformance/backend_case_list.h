#pragma once
// The bodies of the standard backend cases; backend_cases.cpp names them. Internal to this folder.

#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::cases {

// What the backend says of itself (identity_cases.cpp).
[[nodiscard]] Check metadata_stable_valid(const BackendSubject& subject);
[[nodiscard]] Check intent_reserved_flags(const BackendSubject& subject);

// What a buffer is (memory_cases.cpp).
[[nodiscard]] Check memory_host(const BackendSubject& subject);
[[nodiscard]] Check memory_device(const BackendSubject& subject);
[[nodiscard]] Check memory_shared(const BackendSubject& subject);

// What goes into a buffer and comes out of it (transfer_cases.cpp).
[[nodiscard]] Check buffer_segmented_transfer_bounds(const BackendSubject& subject);
[[nodiscard]] Check buffer_transfer_permissions(const BackendSubject& subject);

// Programs and what is bound to them (program_cases.cpp).
[[nodiscard]] Check program_segmented_artifact_bounds(const BackendSubject& subject);
[[nodiscard]] Check submission_binding_validation(const BackendSubject& subject);
[[nodiscard]] Check submission_context_isolation(const BackendSubject& subject);

// What becomes of a submission (event_cases.cpp).
[[nodiscard]] Check event_pending_release_terminal_stability(const BackendSubject& subject);
[[nodiscard]] Check timeout_finite_admission(const BackendSubject& subject);
[[nodiscard]] Check event_cancellation_races(const BackendSubject& subject);

// The books over whole lives (accounting_cases.cpp).
[[nodiscard]] Check accounting_resource_lifecycle(const BackendSubject& subject);

}  // namespace virtaccel::conformance::cases
