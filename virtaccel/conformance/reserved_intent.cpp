#include "virtaccel/conformance/reserved_intent.h"

#include <cstdint>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using wire::Opcode;

namespace {

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

// Objects that are not there need not be: flags are judged before them.
Check check_payload_flags(Caller& caller, ContextId context) {
    for (unsigned bit = 0; bit < 32; ++bit) {
        const std::uint32_t flags = std::uint32_t{1} << bit;
        wire::CreateContext create;
        create.flags = flags;
        VIRTACCEL_TRY(expect_refusal(say("CREATE_CONTEXT with flag bit (", bit, ")"),
                                     caller.call<Opcode::create_context>(create),
                                     Status::unsupported));
        wire::CreateQueue queue;
        queue.context_id = context;
        queue.flags = flags;
        VIRTACCEL_TRY(expect_refusal(say("CREATE_QUEUE with flag bit (", bit, ")"),
                                     caller.call<Opcode::create_queue>(queue),
                                     Status::unsupported));
        wire::LoadProgram load;
        load.context_id = context;
        load.flags = flags;
        VIRTACCEL_TRY(expect_refusal(say("LOAD_PROGRAM with flag bit (", bit, ")"),
                                     caller.call<Opcode::load_program>(load), Status::unsupported));
        wire::Submit submit;
        submit.flags = flags;
        VIRTACCEL_TRY(expect_refusal(say("SUBMIT with flag bit (", bit, ")"),
                                     caller.call<Opcode::submit>(submit), Status::unsupported));
    }
    return {};
}

Check check_usage_bits(Stage& stage, ContextId context) {
    for (unsigned bit = 5; bit < 32; ++bit) {
        const auto request =
            stage.buffer_request(context, 16, usage_known | Usage{std::uint32_t{1} << bit});
        VIRTACCEL_TRY(expect_refusal(say("ALLOCATE_BUFFER with usage bit (", bit, ")"),
                                     stage.caller().call<Opcode::allocate_buffer>(request),
                                     Status::unsupported));
    }
    return {};
}

Check check_reserved_fields(Stage& stage, ContextId context) {
    constexpr std::uint32_t one = 1;
    Caller& caller = stage.caller();
    wire::CreateContext create;
    create.reserved = one;
    VIRTACCEL_TRY(expect_refusal("CREATE_CONTEXT with a reserved field",
                                 caller.call<Opcode::create_context>(create),
                                 Status::invalid_argument));
    wire::CreateQueue queue;
    queue.context_id = context;
    queue.reserved = one;
    VIRTACCEL_TRY(expect_refusal("CREATE_QUEUE with a reserved field",
                                 caller.call<Opcode::create_queue>(queue),
                                 Status::invalid_argument));
    for (const bool is_last : {false, true}) {
        auto request = stage.buffer_request(context, 16, usage_known);
        request.reserved0.bytes[is_last ? 6 : 0] = 1;
        VIRTACCEL_TRY(expect_refusal("ALLOCATE_BUFFER with a reserved byte",
                                     caller.call<Opcode::allocate_buffer>(request),
                                     Status::invalid_argument));
    }
    auto request = stage.buffer_request(context, 16, usage_known);
    request.reserved1 = one;
    return expect_refusal("ALLOCATE_BUFFER with a reserved field",
                          caller.call<Opcode::allocate_buffer>(request), Status::invalid_argument);
}

}  // namespace

Check check_reserved_intent(Stage& stage, ContextId context) {
    VIRTACCEL_TRY(check_header_flags(stage.caller()));
    VIRTACCEL_TRY(check_payload_flags(stage.caller(), context));
    VIRTACCEL_TRY(check_usage_bits(stage, context));
    return check_reserved_fields(stage, context);
}

}  // namespace virtaccel::conformance::cases
