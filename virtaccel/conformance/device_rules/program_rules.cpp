// Programs (spec §4, §5, §6), whatever an artifact is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_rules/steps.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

using Load = wire::LoadProgram;

// LOAD_PROGRAM of the sample with one field of its record changed is refused with `status`.
template <class Member>
Check expect_misfit(const DeviceCaseInput& input, std::string_view what, Status status,
                    Member Load::* field, const Member& value) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    Draft draft = draft_of<Opcode::load_program>({}, 8);
    draft.payload = stage.load_payload(context, stage.sample().artifact);
    draft.set(field, value);
    VIRTACCEL_TRY(expect_refusal(what, send(caller, draft), status));
    return caller.destroy(context);
}

Check other_format(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_program(input.stage));
    const wire::le32 format = input.stage.sample().format ^ 0x5a5a5a5aU;
    return expect_misfit(input, "LOAD_PROGRAM of a format that nobody has", Status::unsupported,
                         &Load::format, format);
}

Check other_target(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_program(input.stage));
    std::array<wire::le32, 12> target;
    target.fill(~std::uint32_t{0});
    return expect_misfit(input, "LOAD_PROGRAM for a target that nobody is", Status::incompatible,
                         &Load::target, target);
}

// A load that fails leaves nothing in its context, and nothing of it can be submitted.
Check failed_load_keeps_nothing(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    const std::span<const std::byte> artifact = stage.sample().artifact;
    for (int i = 0; i < 8; ++i) {
        const Reply reply = stage.load(context, artifact.first(artifact.size() / 2));
        VIRTACCEL_TRY(expect(!reply.ok(), "LOAD_PROGRAM of half an artifact succeeds."));
        VIRTACCEL_TRY(expect_refusal("LOAD_PROGRAM of half an artifact", reply, reply.status));
    }
    return caller.destroy(context);
}

// The same artifact twice is two programs, and each has its own life.
Check same_artifact_twice(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    if (info.programs_per_context_max < 2) {
        return skipped("A context has no two programs.");
    }
    VIRTACCEL_TRY_ASSIGN(const ProgramId other, load_sample(stage, scene.context));
    VIRTACCEL_TRY(expect(other != scene.program, "Two loads give one program."));
    VIRTACCEL_TRY(caller.destroy(other));
    VIRTACCEL_TRY(submit_and_finish(stage, scene));
    VIRTACCEL_TRY(stage.check_outputs(scene));
    return stage.tear_down(scene);
}

// One program over several submissions does the same each time.
Check program_again(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    for (int i = 0; i < 3; ++i) {
        for (std::size_t slot = 0; slot < scene.buffers.size(); ++slot) {
            VIRTACCEL_TRY(
                stage.caller().write(scene.buffers[slot], 0, stage.sample().slots[slot].before));
        }
        VIRTACCEL_TRY(submit_and_finish(stage, scene));
        VIRTACCEL_TRY(stage.check_outputs(scene));
    }
    return stage.tear_down(scene);
}

// max_artifact_bytes of rubbish are refused for what they are and not for how many they are.
Check largest_artifact(const DeviceCaseInput& input) {
    constexpr std::uint64_t sent_max = std::uint64_t{1} << 20U;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    const std::uint64_t bytes = info.artifact_bytes_max;
    const std::uint32_t request_max = stage.device_under_test().config().request_bytes_max;
    if (bytes > sent_max || header_bytes + sizeof(Load) + bytes > request_max) {
        return skipped("No frame holds the largest artifact (", bytes, ").");
    }
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    const Reply reply = stage.load(context, Bytes(static_cast<std::size_t>(bytes)));
    VIRTACCEL_TRY(expect(!reply.ok(), "LOAD_PROGRAM of zeros succeeds."));
    VIRTACCEL_TRY(expect(reply.status != Status::resource_limit,
                         "LOAD_PROGRAM of max_artifact_bytes is answered with (", reply.status,
                         "), but they are no more than are allowed."));
    return caller.destroy(context);
}

constexpr std::array cases{
    DeviceCase{"load-program.other-format", "a format that the device does not take is UNSUPPORTED",
               other_format},
    DeviceCase{"load-program.other-target", "target words that cannot be are INCOMPATIBLE",
               other_target},
    DeviceCase{"load-program.failure-keeps-nothing", "a load that fails leaves nothing",
               failed_load_keeps_nothing},
    DeviceCase{"load-program.same-artifact-twice", "one artifact can be two programs",
               same_artifact_twice},
    DeviceCase{"load-program.runs-again", "a program does the same each time", program_again},
    DeviceCase{"load-program.largest", "max_artifact_bytes are not too many", largest_artifact},
};

}  // namespace

std::span<const DeviceCase> program_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules
