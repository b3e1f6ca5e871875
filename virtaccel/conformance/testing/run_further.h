#pragma once
// How a twin is tried on the further cases.

#include <string>

#include "host/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_cases.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/testing/backend_twins.h"
#include "virtaccel/conformance/testing/further_twins.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::testing {

// Small, so that a limit is soon reached.
inline constexpr DeviceLimits twin_limits{.contexts = 40,
                                          .buffers_per_context = 48,
                                          .programs_per_context = 6,
                                          .queues_per_context = 5,
                                          .events_per_context = 70,
                                          .bindings_per_submission = 9,
                                          .buffer_bytes = 70000,
                                          .artifact_bytes = 4000};

// A twin whose instances know of each other names what they share, and takes a pointer to it.
template <class T>
concept Sharing = requires { typename T::Shared; };

template <class T>
struct SharedOf {};

template <Sharing T>
struct SharedOf<T> {
    typename T::Shared shared{};
};

// The further cases that fail on a T, which is made anew for every instance asked for. What fails
// for want of a device, which will not start on a T, is left out.
template <class T>
Names failing_on() {
    SharedOf<T> all;
    auto maker = [&] {
        if constexpr (Sharing<T>) {
            return make_twin<T>(twin_limits, &all.shared);
        } else {
            return make_twin<T>(twin_limits);
        }
    };
    auto subject = reference_subject(host::heap(), backend::factory_from(maker));
    subject.patience.pauses_max = 100;
    Names names;
    for (const BackendCase& row : further_backend_cases()) {
        const CaseResult result = run_backend_case(subject, row);
        if (result.outcome == Outcome::failed && !result.reason.starts_with("No device can be")) {
            names.emplace_back(row.name);
        }
    }
    return names;
}

}  // namespace virtaccel::conformance::testing
