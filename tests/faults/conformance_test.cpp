// The reference backend in the standard cases, directly and behind an audited fault backend that
// has nothing to do.

#include <utility>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/backend_cases.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/mock/audit.h"
#include "virtaccel/mock/audit_backend.h"
#include "virtaccel/mock/fault.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::faults {

namespace {

void expect_all_pass(backend::BackendFactory factory) {
    const auto results =
        conformance::run_backend_cases(conformance::reference_subject(host::heap(), factory));
    EXPECT_EQ(results.size(), conformance::backend_cases().size());
    for (const conformance::CaseResult& result : results) {
        // It is about backends that cannot cancel.
        const bool is_skipped = result.name == "cancel.unadvertised-is-unsupported";
        EXPECT_EQ(result.outcome,
                  is_skipped ? conformance::Outcome::skipped : conformance::Outcome::passed)
            << result.name << ": " << result.reason;
    }
}

TEST(FaultConformance, passes_on_the_reference_backend) {
    auto maker = [] { return backend::make_owned<mock::Reference>(host::heap(), host::heap()); };
    expect_all_pass(backend::factory_from(maker));
}

TEST(FaultConformance, passes_through_a_fault_backend_without_a_script) {
    mock::Script script;
    mock::Audit audit{host::heap()};
    auto maker = [&]() -> Result<backend::AnyBackend> {
        VIRTACCEL_TRY_ASSIGN(auto reference,
                             backend::make_owned<mock::Reference>(host::heap(), host::heap()));
        VIRTACCEL_TRY_ASSIGN(auto fault, backend::make_owned<mock::FaultBackend>(
                                             host::heap(), script, std::move(reference)));
        return backend::make_owned<mock::AuditBackend>(host::heap(), audit, std::move(fault));
    };
    expect_all_pass(backend::factory_from(maker));
    EXPECT_EQ(audit.violation(), mock::Violation::none) << audit.sentence();
    EXPECT_GT(audit.calls(mock::Call::submit), 10U);
    // Some cases drop their devices with all that is on them.
    (void)audit.acknowledge_discard();
    EXPECT_TRUE(audit.is_clean()) << audit.live() << " live, " << audit.indeterminate()
                                  << " in doubt";
}

}  // namespace

}  // namespace virtaccel::faults
