// A device that needs a reset (spec §5, step 6; §7): what is still judged, and what no longer is.

#include <array>
#include <span>
#include <string_view>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/faults.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

// A cast on a device that has lost itself over a buffer that is not of the cast.
Checked<Cast> lose(Stage& stage) {
    Caller& caller = stage.caller();
    Control* const control = stage.device_under_test().control();
    if (control == nullptr) {
        return skipped("The device runs elsewhere, where nothing can be made to fail.");
    }
    VIRTACCEL_TRY_ASSIGN(Cast cast, make_cast(stage, true));
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(stage.buffer_request(cast.scene.context, 1, usage_known)));
    if (!control->lose_next_release()) {
        return skipped("The harness cannot make a release indeterminate.");
    }
    VIRTACCEL_TRY(expect_refusal("FREE_BUFFER whose outcome nobody knows",
                                 caller.call<Opcode::free_buffer>({.object_id = buffer}),
                                 Status::device_lost));
    return cast;
}

// Every command: what shows in its bytes is refused as ever, and what does not is DEVICE_LOST.
Check judge(const DeviceCaseInput& input, Step step) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, lose(stage));
    for (const CommandRules& command : command_rules()) {
        for (const Fault& fault : command.faults()) {
            if (fault.step != step || (fault.lacks != nullptr && !fault.lacks(cast).empty())) {
                continue;
            }
            Draft draft = command.good(stage, cast);
            fault.bend(draft, cast);
            VIRTACCEL_TRY(expect_answer(
                say("On a device that needs a reset, a ", command.prefix, ".", fault.name),
                send(stage.caller(), draft),
                step == Step::bytes ? fault.wanted : Status::device_lost));
        }
    }
    return {};
}

Check bytes_come_first(const DeviceCaseInput& input) {
    return judge(input, Step::bytes);
}

Check objects_do_not_matter(const DeviceCaseInput& input) {
    return judge(input, Step::objects);
}

Check every_command_is_lost(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, lose(stage));
    for (const CommandRules& command : command_rules()) {
        VIRTACCEL_TRY(expect_refusal(say("On a device that needs a reset, a good ", command.prefix),
                                     send(stage.caller(), command.good(stage, cast)),
                                     Status::device_lost));
    }
    return {};
}

constexpr std::array cases{
    DeviceCase{"loss.every-command", "once the device needs a reset, every command is DEVICE_LOST",
               every_command_is_lost},
    DeviceCase{"loss.bytes-come-first", "what shows in a frame wins over DEVICE_LOST",
               bytes_come_first},
    DeviceCase{"loss.before-objects", "DEVICE_LOST wins over what a lookup would say",
               objects_do_not_matter},
};

}  // namespace

std::span<const DeviceCase> loss_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules
