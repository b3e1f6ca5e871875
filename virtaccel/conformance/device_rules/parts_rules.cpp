// Artifacts in parts (spec/parts.md), on a device that joins them. Nothing advertises that: a
// device that refuses a good part as something it does not know is left alone.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_rules/steps.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

constexpr std::uint64_t largest = ~std::uint64_t{0};

parts::Key key_of(std::uint8_t number) {
    parts::Key key{};
    key.front() = std::byte{number};
    return key;
}

// A part that can be bent before it is sent.
struct Part {
    ContextId context;
    parts::PartHead head{};
    Bytes bytes{};
    TargetWords target = parts::part_target;
    std::uint64_t resident_bytes = 0;  // zero for what is enough
};

Reply load(Caller& caller, const Part& part) {
    Bytes payload(parts::part_head_bytes);
    parts::encode(part.head, std::span{payload}.first<parts::part_head_bytes>());
    payload.insert(payload.end(), part.bytes.begin(), part.bytes.end());
    wire::LoadProgram request;
    request.context_id = part.context;
    request.format = parts::part_format;
    std::ranges::copy(part.target, request.target.begin());
    request.payload_bytes = payload.size();
    request.resident_bytes = part.resident_bytes == 0
                                 ? parts::resident_bytes_of(part.head.total_bytes)
                                 : part.resident_bytes;
    return caller.call<Opcode::load_program>(request, payload);
}

// LOAD_PROGRAM of `bytes` as the last payload, with the sample's target and resident bytes.
Reply load_join(Stage& stage, ContextId context, std::span<const std::byte> bytes) {
    wire::LoadProgram request;
    request.context_id = context;
    request.format = parts::join_format;
    std::ranges::copy(stage.sample().target, request.target.begin());
    request.payload_bytes = bytes.size();
    request.resident_bytes = stage.sample().resident_bytes;
    return stage.caller().call<Opcode::load_program>(request, bytes);
}

Reply load_join(Stage& stage, ContextId context, const parts::JoinHead& head) {
    std::array<std::byte, parts::join_head_bytes> bytes{};
    parts::encode(head, bytes);
    return load_join(stage, context, bytes);
}

Reply join(Stage& stage, ContextId context, std::uint8_t key = 1) {
    return load_join(stage, context, {.key = key_of(key), .format = stage.sample().format});
}

// A context on a device that joins parts, and a part of the sample.
struct Setting {
    Stage& stage;
    ContextId context;

    [[nodiscard]] std::uint64_t total_bytes() const { return stage.sample().artifact.size(); }

    // The sample's bytes from `offset` to `end`, under the first key.
    [[nodiscard]] Part part(std::uint64_t offset, std::uint64_t end) const {
        const auto& artifact = stage.sample().artifact;
        return {.context = context,
                .head = {.key = key_of(1), .total_bytes = artifact.size(), .offset = offset},
                .bytes = {artifact.begin() + static_cast<std::ptrdiff_t>(offset),
                          artifact.begin() + static_cast<std::ptrdiff_t>(end)}};
    }

    [[nodiscard]] Checked<ProgramId> load(const Part& part) const {
        return expect_id<ProgramKind>("LOAD_PROGRAM of a part", rules::load(stage.caller(), part));
    }

    [[nodiscard]] Check expect_refused(std::string_view what, const Part& part,
                                       Status wanted) const {
        return expect_refusal(what, rules::load(stage.caller(), part), wanted);
    }
};

// Skips the case unless the device joins parts, which one byte of an artifact of two finds out, and
// a context has room for three programs.
Checked<Setting> set_up(Stage& stage) {
    VIRTACCEL_TRY(need_program(stage));
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    if (info.programs_per_context_max < 3) {
        return skipped("A context has no three programs.");
    }
    const std::size_t bytes = stage.sample().artifact.size();
    if (bytes < 3) {
        return skipped("The subject's artifact has no three bytes.");
    }
    if (parts::part_head_bytes + bytes > info.artifact_bytes_max) {
        return skipped("The device takes no artifact of (", parts::part_head_bytes + bytes,
                       ") bytes, which a part that has all of the subject's has.");
    }
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    const Reply reply = load(caller, {.context = context,
                                      .head = {.key = key_of(9), .total_bytes = 2, .offset = 1},
                                      .bytes = Bytes(1)});
    if (reply.status == Status::unsupported || reply.status == Status::incompatible ||
        reply.status == Status::invalid_argument) {
        VIRTACCEL_TRY(caller.destroy(context));
        return skipped("The device does not join parts: it answers one with (", reply.status, ").");
    }
    VIRTACCEL_TRY_ASSIGN(const auto part, expect_id<ProgramKind>("LOAD_PROGRAM of a part", reply));
    VIRTACCEL_TRY(caller.destroy(part));
    return Setting{.stage = stage, .context = context};
}

// Joins, unloads the parts, and runs what came of them as the sample.
Check join_and_run(const Setting& setting, const std::vector<ProgramId>& loaded) {
    Stage& stage = setting.stage;
    Caller& caller = stage.caller();
    Scene scene{.context = setting.context, .queue = {}, .program = {}, .buffers = {}};
    VIRTACCEL_TRY_ASSIGN(scene.program,
                         expect_id<ProgramKind>("LOAD_PROGRAM of a join of all parts",
                                                join(stage, setting.context)));
    for (const ProgramId part : loaded) {
        VIRTACCEL_TRY(caller.destroy(part));
    }
    VIRTACCEL_TRY_ASSIGN(scene.queue, caller.create_queue(setting.context));
    VIRTACCEL_TRY_ASSIGN(scene.buffers, stage.make_buffers(setting.context));
    VIRTACCEL_TRY(submit_and_finish(stage, scene));
    VIRTACCEL_TRY(stage.check_outputs(scene));
    return stage.tear_down(scene);
}

Check runs(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    const std::uint64_t cut = setting.total_bytes() / 3;
    std::vector<ProgramId> loaded(2);
    VIRTACCEL_TRY_ASSIGN(loaded[0], setting.load(setting.part(0, cut)));
    VIRTACCEL_TRY_ASSIGN(loaded[1], setting.load(setting.part(cut, setting.total_bytes())));
    VIRTACCEL_TRY(expect(loaded[0] != loaded[1], "Two parts have one ID."));
    return join_and_run(setting, loaded);
}

Check any_order(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    const std::uint64_t end = setting.total_bytes();
    std::vector<ProgramId> loaded(2);
    VIRTACCEL_TRY_ASSIGN(loaded[0], setting.load(setting.part(end - 1, end)));
    VIRTACCEL_TRY_ASSIGN(loaded[1], setting.load(setting.part(0, end - 1)));
    return join_and_run(setting, loaded);
}

// A part that is unloaded is missing, and can come again in other pieces.
Check comes_again(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    const std::uint64_t end = setting.total_bytes();
    const std::uint64_t cut = end / 2;
    std::vector<ProgramId> loaded(2);
    VIRTACCEL_TRY_ASSIGN(const ProgramId first, setting.load(setting.part(0, cut)));
    VIRTACCEL_TRY_ASSIGN(loaded[0], setting.load(setting.part(cut, end)));
    VIRTACCEL_TRY(setting.stage.caller().destroy(first));
    VIRTACCEL_TRY(expect_refusal("A join after a part was unloaded",
                                 join(setting.stage, setting.context), Status::invalid_argument));
    VIRTACCEL_TRY_ASSIGN(loaded[1], setting.load(setting.part(0, cut)));
    return join_and_run(setting, loaded);
}

Check missing(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    Stage& stage = setting.stage;
    const auto refused = [&](std::string_view what, std::uint8_t key) {
        return expect_refusal(what, join(stage, setting.context, key), Status::invalid_argument);
    };
    VIRTACCEL_TRY(refused("A join of a key without parts", 1));
    VIRTACCEL_TRY_ASSIGN(const ProgramId part,
                         setting.load(setting.part(0, setting.total_bytes() - 1)));
    VIRTACCEL_TRY(refused("A join without the last byte", 1));
    VIRTACCEL_TRY(refused("A join of another key", 2));
    VIRTACCEL_TRY(stage.caller().destroy(part));
    return stage.caller().destroy(setting.context);
}

// A key is a context's own.
Check elsewhere(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    Stage& stage = setting.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    if (info.contexts_max < 2) {
        return skipped("The device has no two contexts.");
    }
    VIRTACCEL_TRY_ASSIGN(const ContextId other, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const ProgramId part,
                         setting.load(setting.part(0, setting.total_bytes())));
    VIRTACCEL_TRY(expect_refusal("A join of another context's parts", join(stage, other),
                                 Status::invalid_argument));
    Part same = setting.part(0, setting.total_bytes());
    same.context = other;
    VIRTACCEL_TRY_ASSIGN(const ProgramId its_own, setting.load(same));
    VIRTACCEL_TRY(caller.destroy(its_own));
    VIRTACCEL_TRY(caller.destroy(other));
    return join_and_run(setting, {part});
}

Check overlap(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    const std::uint64_t end = setting.total_bytes();
    VIRTACCEL_TRY_ASSIGN(const ProgramId part, setting.load(setting.part(0, end - 1)));
    VIRTACCEL_TRY(setting.expect_refused("A part that is there already", setting.part(0, end - 1),
                                         Status::invalid_argument));
    VIRTACCEL_TRY(setting.expect_refused("A part that shares a byte with another",
                                         setting.part(end - 2, end), Status::invalid_argument));
    VIRTACCEL_TRY_ASSIGN(const ProgramId last, setting.load(setting.part(end - 1, end)));
    return join_and_run(setting, {part, last});
}

Check other_total(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    const std::uint64_t end = setting.total_bytes();
    VIRTACCEL_TRY_ASSIGN(const ProgramId first, setting.load(setting.part(0, end - 1)));
    Part part = setting.part(end - 1, end);
    part.head.total_bytes = end + 1;
    VIRTACCEL_TRY(setting.expect_refused("A part with another total than the first", part,
                                         Status::incompatible));
    VIRTACCEL_TRY(setting.stage.caller().destroy(first));
    return setting.stage.caller().destroy(setting.context);
}

Check malformed(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    const Part good = setting.part(0, 1);
    Part part = good;
    part.bytes.clear();
    VIRTACCEL_TRY(setting.expect_refused("A part of no bytes", part, Status::invalid_argument));
    part = good;
    part.head.total_bytes = 0;
    VIRTACCEL_TRY(setting.expect_refused("A part of nothing", part, Status::invalid_argument));
    part = good;
    part.head.offset = largest;
    VIRTACCEL_TRY(setting.expect_refused("A part without an end", part, Status::invalid_argument));
    part = good;
    part.head.offset = setting.total_bytes();
    VIRTACCEL_TRY(setting.expect_refused("A part past the end", part, Status::out_of_bounds));
    part = good;
    part.target[1] = 2;
    VIRTACCEL_TRY(setting.expect_refused("A part of another version", part, Status::incompatible));
    part = good;
    part.target[11] = 1;
    VIRTACCEL_TRY(setting.expect_refused("A part with a target", part, Status::incompatible));
    return setting.stage.caller().destroy(setting.context);
}

Check malformed_join(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    Stage& stage = setting.stage;
    VIRTACCEL_TRY_ASSIGN(const ProgramId part,
                         setting.load(setting.part(0, setting.total_bytes())));
    const auto refused = [&](std::string_view what, const parts::JoinHead& head, Status wanted) {
        return expect_refusal(what, load_join(stage, setting.context, head), wanted);
    };
    const auto key = key_of(1);
    const auto format = stage.sample().format;
    constexpr auto invalid = Status::invalid_argument;
    VIRTACCEL_TRY(refused("A join of format zero", {.key = key, .format = 0}, invalid));
    VIRTACCEL_TRY(refused("A join with its last word set",
                          {.key = key, .format = format, .reserved = 1}, invalid));
    VIRTACCEL_TRY(refused("A join to a part", {.key = key, .format = parts::part_format},
                          Status::unsupported));
    VIRTACCEL_TRY(refused("A join to a join", {.key = key, .format = parts::join_format},
                          Status::unsupported));
    for (const std::size_t bytes : {parts::join_head_bytes - 1, parts::join_head_bytes + 1}) {
        VIRTACCEL_TRY(expect_refusal(say("A join of ", bytes, " bytes"),
                                     load_join(stage, setting.context, Bytes(bytes)), invalid));
    }
    return join_and_run(setting, {part});
}

Check limits(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    Caller& caller = setting.stage.caller();
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    Part part = setting.part(0, 1);
    part.head.total_bytes = std::uint64_t{info.artifact_bytes_max} + 1;
    part.resident_bytes = setting.stage.sample().resident_bytes;
    VIRTACCEL_TRY(setting.expect_refused("A part of more than max_artifact_bytes", part,
                                         Status::resource_limit));
    part = setting.part(0, 1);
    part.resident_bytes = parts::resident_bytes_of(setting.total_bytes()) - 1;
    VIRTACCEL_TRY(setting.expect_refused("A first part that needs more than it declares", part,
                                         Status::resource_limit));
    VIRTACCEL_TRY_ASSIGN(const ProgramId first, setting.load(setting.part(0, 1)));
    part = setting.part(1, 2);
    part.resident_bytes = parts::part_cost_bytes - 1;
    VIRTACCEL_TRY(setting.expect_refused("A second part that needs more than it declares", part,
                                         Status::resource_limit));
    part.resident_bytes = parts::part_cost_bytes;
    VIRTACCEL_TRY_ASSIGN(const ProgramId second, setting.load(part));
    VIRTACCEL_TRY(caller.destroy(first));
    VIRTACCEL_TRY(caller.destroy(second));
    return caller.destroy(setting.context);
}

// A part is a program that nothing can be bound to.
Check submitted(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    Stage& stage = setting.stage;
    Scene scene{.context = setting.context, .queue = {}, .program = {}, .buffers = {}};
    VIRTACCEL_TRY_ASSIGN(scene.program, setting.load(setting.part(0, setting.total_bytes())));
    VIRTACCEL_TRY_ASSIGN(scene.queue, stage.caller().create_queue(setting.context));
    VIRTACCEL_TRY_ASSIGN(scene.buffers, stage.make_buffers(setting.context));
    VIRTACCEL_TRY(expect_refusal("SUBMIT of a part", stage.submit(scene, stage.bindings_of(scene)),
                                 Status::incompatible));
    return stage.tear_down(scene);
}

Check after_reset(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const Setting setting, set_up(input.stage));
    Stage& stage = setting.stage;
    VIRTACCEL_TRY(setting.load(setting.part(0, setting.total_bytes())));
    if (!stage.device_under_test().reset()) {
        return skipped("The device cannot be reset.");
    }
    VIRTACCEL_TRY_ASSIGN(const ContextId context, stage.caller().create_context());
    VIRTACCEL_TRY(expect_refusal("A join of parts from before a reset", join(stage, context),
                                 Status::invalid_argument));
    return stage.caller().destroy(context);
}

constexpr std::array cases{
    DeviceCase{"parts.run", "parts that are joined run as what they are parts of", runs},
    DeviceCase{"parts.any-order", "parts may come in any order", any_order},
    DeviceCase{"parts.come-again", "a part that was unloaded is missing and can come again",
               comes_again},
    DeviceCase{"parts.missing", "a join without all parts is INVALID_ARGUMENT", missing},
    DeviceCase{"parts.of-another-context", "a key is known in its context only", elsewhere},
    DeviceCase{"parts.overlap", "bytes that are there already are INVALID_ARGUMENT", overlap},
    DeviceCase{"parts.other-total", "parts that differ in their total are INCOMPATIBLE",
               other_total},
    DeviceCase{"parts.malformed", "a part that makes no sense by itself is refused", malformed},
    DeviceCase{"parts.malformed-join", "a join that makes no sense by itself is refused",
               malformed_join},
    DeviceCase{"parts.limits", "what parts make, and what they cost, is RESOURCE_LIMIT past it",
               limits},
    DeviceCase{"parts.submitted", "a part cannot be submitted", submitted},
    DeviceCase{"parts.after-reset", "a reset forgets all parts", after_reset},
};

}  // namespace

std::span<const DeviceCase> parts_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules
