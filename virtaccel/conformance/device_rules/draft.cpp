#include "virtaccel/conformance/device_rules/draft.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

Checked<Cast> make_cast(Stage& stage, bool with_event) {
    Caller& caller = stage.caller();
    Cast cast;
    cast.config = stage.device_under_test().config();
    VIRTACCEL_TRY_ASSIGN(cast.info, caller.device_info());
    if (stage.has_sample()) {
        VIRTACCEL_TRY_ASSIGN(cast.scene, stage.set_up());
    } else {
        VIRTACCEL_TRY_ASSIGN(cast.scene.context, caller.create_context());
        VIRTACCEL_TRY_ASSIGN(cast.scene.queue, caller.create_queue(cast.scene.context));
    }
    const auto allocate = [&](Usage usage) {
        return caller.allocate(stage.buffer_request(cast.scene.context, cast_buffer_bytes, usage));
    };
    VIRTACCEL_TRY_ASSIGN(cast.buffer, allocate(usage_known));
    VIRTACCEL_TRY_ASSIGN(cast.source_only, allocate(UsageBit::transfer_source));
    VIRTACCEL_TRY_ASSIGN(cast.destination_only, allocate(UsageBit::transfer_destination));
    if (with_event && stage.has_sample()) {
        VIRTACCEL_TRY_ASSIGN(cast.event, stage.submit(cast.scene));
        VIRTACCEL_TRY(stage.wait(cast.event));
    }
    return cast;
}

Check take_down(Stage& stage, const Cast& cast) {
    Caller& caller = stage.caller();
    if (cast.event.raw != 0) {
        VIRTACCEL_TRY(caller.destroy(cast.event));
    }
    for (const BufferId buffer : {cast.buffer, cast.source_only, cast.destination_only}) {
        VIRTACCEL_TRY(caller.destroy(buffer));
    }
    if (cast.has_program()) {
        return stage.tear_down(cast.scene);
    }
    VIRTACCEL_TRY(caller.destroy(cast.scene.queue));
    return caller.destroy(cast.scene.context);
}

Reply send(Caller& caller, const Draft& draft) {
    wire::RequestHeader header;
    header.opcode = draft.opcode;
    header.flags = draft.flags;
    header.payload_bytes =
        draft.payload_bytes.value_or(static_cast<std::uint32_t>(draft.payload.size()));
    header.request_id = draft.request_id ? *draft.request_id : caller.next_request_id();
    return caller.send(Caller::payload_of(header, draft.payload), draft.capacity);
}

Check expect_answer(std::string_view what, const Reply& reply, std::optional<Status> wanted) {
    return wanted ? expect_refusal(what, reply, *wanted) : expect_unanswered(what, reply);
}

}  // namespace virtaccel::conformance::rules
