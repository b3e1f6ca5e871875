#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

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
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using wire::Opcode;

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

// One bit of intent that 1.0 reserves, in each place that has one. Objects need not exist: flags
// are judged before.
Check check_header_flags(Caller& caller) {
    for (unsigned bit = 0; bit < 16; ++bit) {
        wire::RequestHeader header;
        header.opcode = static_cast<std::uint16_t>(Opcode::get_device_info);
        header.flags = static_cast<std::uint16_t>(1U << bit);
        header.request_id = caller.next_request_id();
        VIRTACCEL_TRY(expect_refusal(say("GET_DEVICE_INFO with request flag bit (", bit, ")"),
                                     caller.send(Caller::payload_of(header), Caller::room_default),
                                     Status::unsupported));
    }
    return {};
}

Check check_payload_flags(Caller& caller, ContextId context) {
    for (unsigned bit = 0; bit < 32; bit += 31) {
        const std::uint32_t flags = 1U << bit;
        wire::CreateContext create;
        create.flags = flags;
        VIRTACCEL_TRY(expect_refusal("CREATE_CONTEXT with a flag",
                                     caller.call<Opcode::create_context>(create),
                                     Status::unsupported));
        wire::CreateQueue queue;
        queue.context_id = context;
        queue.flags = flags;
        VIRTACCEL_TRY(expect_refusal("CREATE_QUEUE with a flag",
                                     caller.call<Opcode::create_queue>(queue),
                                     Status::unsupported));
        wire::LoadProgram load;
        load.context_id = context;
        load.flags = flags;
        VIRTACCEL_TRY(expect_refusal("LOAD_PROGRAM with a flag",
                                     caller.call<Opcode::load_program>(load), Status::unsupported));
        wire::Submit submit;
        submit.flags = flags;
        VIRTACCEL_TRY(expect_refusal("SUBMIT with a flag", caller.call<Opcode::submit>(submit),
                                     Status::unsupported));
    }
    return {};
}

Check check_usage_and_reserved(BackendRig& rig, ContextId context) {
    for (unsigned bit = 5; bit < 32; ++bit) {
        const auto request =
            rig.buffer_request(context, 16, usage_known | Usage{std::uint32_t{1} << bit});
        VIRTACCEL_TRY(expect_refusal(say("ALLOCATE_BUFFER with usage bit (", bit, ")"),
                                     rig.caller().call<Opcode::allocate_buffer>(request),
                                     Status::unsupported));
    }
    auto request = rig.buffer_request(context, 16, usage_known);
    request.reserved0.bytes[6] = 1;
    VIRTACCEL_TRY(expect_refusal("ALLOCATE_BUFFER with a reserved byte",
                                 rig.caller().call<Opcode::allocate_buffer>(request),
                                 Status::invalid_argument));
    wire::CreateContext create;
    create.reserved = std::uint32_t{1};
    return expect_refusal("CREATE_CONTEXT with a reserved field",
                          rig.caller().call<Opcode::create_context>(create),
                          Status::invalid_argument);
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
        VIRTACCEL_TRY(check_header_flags(rig.caller()));
        VIRTACCEL_TRY(check_payload_flags(rig.caller(), context));
        VIRTACCEL_TRY(check_usage_and_reserved(rig, context));
        VIRTACCEL_TRY(expect_equal("The number of live resources after refused requests",
                                   rig.diagnostics().live_resources, before.live_resources));
        return rig.caller().destroy(context);
    });
}

}  // namespace virtaccel::conformance::cases
