// What a case says of backends that go wrong before there are any numbers to compare.
#include "virtaccel/numerics/run_case.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "backends/null/null.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/testing/oracle_backend.h"

namespace virtaccel::numerics {

namespace {

using conformance::CaseResult;
using conformance::Outcome;
using testing::OracleBackend;

const Interference no_interference;

// The first case on a fresh B.
template <class B, class... Args>
CaseResult run_on(const Args&... args) {
    auto make = [&]() -> Result<backend::AnyBackend> {
        return backend::make_owned<B>(host::heap(), host::heap(), args...);
    };
    conformance::BackendSubject subject;
    subject.memory = host::heap();
    subject.factory = backend::factory_from(make);
    subject.patience.pauses_max = 3;
    return run_case(subject, cases().front());
}

template <class B>
void expect_failure(std::string_view sentence) {
    const CaseResult result = run_on<B>(no_interference);
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_NE(result.reason.find(sentence), std::string::npos) << result.reason;
}

class Refusing : public backends::null::NullBackend {
  public:
    Refusing(const Memory& memory, Status status, bool has_reason) noexcept
        : NullBackend(memory), status_(status), has_reason_(has_reason) {}

    [[nodiscard]] Result<backend::PreparedHandle> prepare(const backend::Artifact& artifact) {
        if (has_reason_) {
            artifact.refusals("It is Monday.");
        }
        return fail(status_);
    }

  private:
    Status status_;
    bool has_reason_;
};

TEST(RunCase, skips_what_is_refused_with_a_reason) {
    for (const Status status :
         {Status::unsupported, Status::incompatible, Status::resource_limit}) {
        const CaseResult result = run_on<Refusing>(status, true);
        EXPECT_EQ(result.outcome, Outcome::skipped);
        EXPECT_EQ(result.reason,
                  "Not advertised (" + std::string{status_name(status)} + "): It is Monday.");
        EXPECT_FALSE(result.ulp.has_value());
    }
}

TEST(RunCase, fails_what_is_refused_without_a_reason) {
    EXPECT_EQ(run_on<Refusing>(Status::unsupported, false).reason,
              "The load is refused with (UNSUPPORTED) and no sentence that says why.");
    EXPECT_EQ(run_on<Refusing>(Status::unsupported, false).outcome, Outcome::failed);
}

TEST(RunCase, fails_who_calls_a_valid_model_malformed) {
    for (const Status status : {Status::invalid_argument, Status::internal_error}) {
        EXPECT_EQ(run_on<Refusing>(status, true).outcome, Outcome::failed);
    }
    EXPECT_EQ(run_on<Refusing>(Status::invalid_argument, true).reason,
              "The load of a valid model answers (INVALID_ARGUMENT): It is Monday.");
}

class Lazy : public OracleBackend {
  public:
    using OracleBackend::OracleBackend;

    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission) {
        std::byte* const output = backend::HostBuffers::at(submission.bindings.back().buffer).data;
        const std::byte first = *output;
        auto outcome = OracleBackend::submit(submission);
        std::fill_n(output, submission.bindings.back().range.bytes, first);
        return outcome;
    }
};

class Scribbling : public OracleBackend {
  public:
    using OracleBackend::OracleBackend;

    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission) {
        auto outcome = OracleBackend::submit(submission);
        *backend::HostBuffers::at(submission.bindings.front().buffer).data ^= std::byte{1};
        return outcome;
    }
};

class Leaking : public OracleBackend {
  public:
    using OracleBackend::OracleBackend;

    [[nodiscard]] backend::ReleaseOutcome destroy_event(backend::EventHandle /*event*/) {
        return backend::ReleaseOutcome::released();
    }
};

class Failing : public OracleBackend {
  public:
    using OracleBackend::OracleBackend;

    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle /*event*/) {
        return backend::EventStatus{.phase = EventPhase::failed, .error = Status::internal_error};
    }
};

class Pending : public OracleBackend {
  public:
    using OracleBackend::OracleBackend;

    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle /*event*/) {
        return backend::EventStatus{};
    }
};

class Rejecting : public OracleBackend {
  public:
    using OracleBackend::OracleBackend;

    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& /*submission*/) {
        return backend::SubmitOutcome::rejected(Status::incompatible);
    }
};

TEST(RunCase, sees_what_goes_wrong_around_the_numbers) {
    expect_failure<Lazy>("should be");
    expect_failure<Scribbling>("An input's bytes are other ones after the run");
    expect_failure<Leaking>("The number of live resources after all is (1) and not (0).");
    expect_failure<Failing>("The event ends in the phase (2) with the error (INTERNAL_ERROR)");
    expect_failure<Pending>("The event ends in the phase (0)");
    expect_failure<Rejecting>("The submission of the loaded model answers (INCOMPATIBLE).");
}

TEST(RunCase, reports_how_far_off_the_worst_number_is) {
    const CaseResult result = run_on<OracleBackend>(no_interference);
    EXPECT_EQ(result.outcome, Outcome::passed) << result.reason;
    EXPECT_EQ(result.name, cases().front().name);
    EXPECT_EQ(result.ulp, 0);
}

}  // namespace

}  // namespace virtaccel::numerics
