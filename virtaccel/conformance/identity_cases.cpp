#include <cstring>
#include <string_view>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/identity.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/reserved_intent.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

namespace {

// Both ask the same questions as before of an instance that has worked meanwhile.
Check expect_same(const backend::AnyBackend& backend, const DeviceIdentity& identity,
                  std::string_view name) {
    VIRTACCEL_TRY(expect(backend.identity() == identity,
                         "The identity changes between two calls: it has to be the same always."));
    return expect(backend.name() == name, "The name changes from (", name, ") to (", backend.name(),
                  "): it has to be the same always.");
}

Check check_instances(const BackendSubject& subject) {
    auto first = subject.factory.make(subject.factory.state);
    auto second = subject.factory.make(subject.factory.state);
    VIRTACCEL_TRY(expect(first.has_value() && second.has_value(),
                         "The factory does not make two backends at once."));
    const DeviceIdentity identity = first->identity();
    const std::string_view name = first->name();
    VIRTACCEL_TRY(expect_status("The identity", backend::validate(identity), Status::ok));
    VIRTACCEL_TRY(expect(!name.empty() && !first->description().empty(),
                         "The backend has no name or no description."));
    VIRTACCEL_TRY(expect_same(*second, identity, name));
    const auto context = first->create_context();
    VIRTACCEL_TRY(expect(context.has_value(), "A fresh backend creates no context."));
    VIRTACCEL_TRY(expect_same(*first, identity, name));
    VIRTACCEL_TRY(expect(first->destroy_context(*context).certainty == backend::Certainty::done,
                         "An empty context is not destroyed."));
    return expect_same(*first, identity, name);
}

Check check_info(BackendRig& rig) {
    const auto told = wire::to_record(rig.identity());
    for (int round = 0; round < 3; ++round) {
        VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, rig.caller().device_info());
        VIRTACCEL_TRY(expect(std::memcmp(&info, &told, sizeof info) == 0,
                             "GET_DEVICE_INFO does not say what the backend's identity says."));
        VIRTACCEL_TRY_ASSIGN(const ContextId context, rig.caller().create_context());
        VIRTACCEL_TRY(rig.caller().destroy(context));
    }
    return {};
}

}  // namespace

Check metadata_stable_valid(const BackendSubject& subject) {
    VIRTACCEL_TRY(check_instances(subject));
    return on_rig(subject, check_info);
}

Check intent_reserved_flags(const BackendSubject& subject) {
    return on_rig(subject, [](BackendRig& rig) -> Check {
        VIRTACCEL_TRY(expect(!rig.identity().capabilities.has_any(capabilities_reserved),
                             "The backend advertises a capability that 1.0 reserves."));
        VIRTACCEL_TRY_ASSIGN(const ContextId context, rig.caller().create_context());
        const auto before = rig.diagnostics();
        VIRTACCEL_TRY(check_reserved_intent(rig, context));
        VIRTACCEL_TRY(expect_equal("The number of live resources after refused requests",
                                   rig.diagnostics().live_resources, before.live_resources));
        return rig.caller().destroy(context);
    });
}

}  // namespace virtaccel::conformance::cases
