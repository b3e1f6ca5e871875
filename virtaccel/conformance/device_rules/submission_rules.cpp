// Submissions (spec §2, §4, §5, §6).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_rules/steps.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

namespace {

using Bindings = std::vector<wire::Binding>;

wire::Binding part_of(BufferId buffer, std::uint32_t slot, Access access) {
    wire::Binding binding;
    binding.buffer_id = buffer;
    binding.bytes = 1;
    binding.slot = slot;
    binding.access = static_cast<std::uint8_t>(access);
    return binding;
}

// ---- usage: what a buffer must allow for an access

// Each usage bit by itself: an access that it allows gets as far as the program, which has no such
// slot.
Check usages_for(const DeviceCaseInput& input, Access access) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    for (std::uint32_t bit = 1; bit <= usage_known.bits; bit *= 2) {
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                             caller.allocate(stage.buffer_request(scene.context, 1, Usage{bit})));
        const Bindings bindings{part_of(buffer, no_such_slot, access)};
        const bool allowed = Usage{bit}.has_any(usage_allowing(access));
        VIRTACCEL_TRY(
            expect_refusal(say("A SUBMIT with the access (", static_cast<unsigned>(access),
                               ") of a buffer with the usage (", bit, ")"),
                           stage.submit(scene, bindings),
                           allowed ? Status::incompatible : Status::permission_denied));
        VIRTACCEL_TRY(caller.destroy(buffer));
    }
    return stage.tear_down(scene);
}

Check usages_for_read(const DeviceCaseInput& input) {
    return usages_for(input, Access::read);
}

Check usages_for_write(const DeviceCaseInput& input) {
    return usages_for(input, Access::write);
}

Check usages_for_both(const DeviceCaseInput& input) {
    return usages_for(input, Access::read_write);
}

// ---- order

// The binding of the lowest slot is judged first, wherever it stands: its range, then its usage.
Check slot_order(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    const auto denied = [&](std::uint32_t slot) {
        return part_of(cast.source_only, slot, Access::read);
    };
    const auto outside = [&](std::uint32_t slot) {
        wire::Binding binding = part_of(cast.buffer, slot, Access::read);
        binding.offset = cast_buffer_bytes;
        return binding;
    };

    struct Row {
        std::string_view what;
        Bindings bindings;
        Status wanted;
    };

    const std::array rows{
        Row{"a usage in slot 3 and a range in slot 9",
            {denied(3), outside(9)},
            Status::permission_denied},
        Row{"a range in slot 9 and a usage in slot 3",
            {outside(9), denied(3)},
            Status::permission_denied},
        Row{"a range in slot 3 and a usage in slot 9",
            {outside(3), denied(9)},
            Status::out_of_bounds},
        Row{"a usage in slot 9 and a range in slot 3",
            {denied(9), outside(3)},
            Status::out_of_bounds},
        Row{"a usage in slot 2^31 and a range in slot 1",
            {denied(1U << 31U), outside(1)},
            Status::out_of_bounds},
    };
    if (cast.info.bindings_per_submission_max < 2) {
        return skipped("A submission has no two bindings.");
    }
    for (const Row& row : rows) {
        VIRTACCEL_TRY(expect_refusal(say("A SUBMIT with ", row.what),
                                     stage.submit(cast.scene, row.bindings), row.wanted));
    }
    return take_down(stage, cast);
}

// Reversed bindings do the same.
Check any_order(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    Bindings bindings = stage.bindings_of(scene);
    std::ranges::reverse(bindings);
    VIRTACCEL_TRY_ASSIGN(const EventId event, submit(stage, scene, bindings));
    VIRTACCEL_TRY(finish(stage, event));
    VIRTACCEL_TRY(stage.check_outputs(scene));
    return stage.tear_down(scene);
}

// As many bindings as a submission may have are too many for the program, but not for the device.
Check most_bindings(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    const std::uint32_t count = cast.info.bindings_per_submission_max;
    const std::size_t bytes = header_bytes + sizeof(wire::Submit) + (count * sizeof(wire::Binding));
    if (bytes > cast.config.request_bytes_max || count <= cast.scene.buffers.size()) {
        return skipped("No frame holds (", count, ") bindings, or the program has as many.");
    }
    Bindings bindings;
    for (std::uint32_t slot = 0; slot < count; ++slot) {
        bindings.push_back(part_of(cast.buffer, slot, Access::read));
    }
    VIRTACCEL_TRY(expect_refusal(say("A SUBMIT of (", count, ") bindings"),
                                 stage.submit(cast.scene, bindings), Status::incompatible));
    return take_down(stage, cast);
}

// ---- one context

// Everything is live, and one part of it is of another context.
Check of_another_context(const DeviceCaseInput& input, void (*mix)(Scene& scene, const Scene&)) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, stage.caller().device_info());
    if (info.contexts_max < 2) {
        return skipped("The device has no two contexts.");
    }
    VIRTACCEL_TRY_ASSIGN(const Scene one, stage.set_up());
    VIRTACCEL_TRY_ASSIGN(const Scene other, stage.set_up());
    Scene mixed = one;
    mix(mixed, other);
    VIRTACCEL_TRY(expect_refusal("A SUBMIT over two contexts",
                                 stage.submit(mixed, stage.bindings_of(mixed)),
                                 Status::stale_object));
    VIRTACCEL_TRY(stage.tear_down(other));
    return stage.tear_down(one);
}

Check queue_elsewhere(const DeviceCaseInput& input) {
    return of_another_context(input,
                              [](Scene& scene, const Scene& other) { scene.queue = other.queue; });
}

Check program_elsewhere(const DeviceCaseInput& input) {
    return of_another_context(
        input, [](Scene& scene, const Scene& other) { scene.program = other.program; });
}

Check buffer_elsewhere(const DeviceCaseInput& input) {
    return of_another_context(input, [](Scene& scene, const Scene& other) {
        scene.buffers.back() = other.buffers.back();
    });
}

// ---- what a submission does and leaves

// A rejected submission kept nothing, not even for a moment that one could see.
Check rejected_keeps_nothing(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    Bindings bindings = stage.bindings_of(scene);
    bindings.back().slot = no_such_slot;
    for (int i = 0; i < 8; ++i) {
        VIRTACCEL_TRY(expect_refusal("A SUBMIT to a slot that the program does not have",
                                     stage.submit(scene, bindings), Status::incompatible));
    }
    for (std::size_t i = 0; i < scene.buffers.size(); ++i) {
        const auto& before = stage.sample().slots[i].before;
        VIRTACCEL_TRY_ASSIGN(const Bytes bytes,
                             stage.caller().read(scene.buffers[i], 0, before.size()));
        VIRTACCEL_TRY(expect(bytes == before, "A rejected SUBMIT has run."));
    }
    return stage.tear_down(scene);
}

// The program sees its ranges, in the middle of larger buffers, and touches nothing beside them.
Check touches_its_ranges(const DeviceCaseInput& input) {
    constexpr std::size_t margin = 64;
    constexpr std::byte mark{0x3c};
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    for (const SampleSlot& slot : stage.sample().slots) {
        if (slot.before.size() + (2 * margin) > info.buffer_bytes_max) {
            return skipped("No buffer is larger than a slot of the program and its margins.");
        }
    }
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    Bindings bindings = stage.bindings_of(scene);
    std::vector<BufferId> larger;
    const Usage transfer = Usage{UsageBit::transfer_source} | UsageBit::transfer_destination;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        const SampleSlot& slot = stage.sample().slots[i];
        Bytes bytes(slot.before.size() + (2 * margin), mark);
        std::ranges::copy(slot.before, bytes.begin() + margin);
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                             caller.allocate(stage.buffer_request(
                                 scene.context, bytes.size(), transfer | usage_for(slot.access))));
        VIRTACCEL_TRY(caller.write(buffer, 0, bytes));
        larger.push_back(buffer);
        bindings[i].buffer_id = buffer;
        bindings[i].offset = margin;
    }
    VIRTACCEL_TRY_ASSIGN(const EventId event, submit(stage, scene, bindings));
    VIRTACCEL_TRY(finish(stage, event));
    for (std::size_t i = 0; i < larger.size(); ++i) {
        const auto& after = stage.sample().slots[i].after;
        Bytes wanted(after.size() + (2 * margin), mark);
        std::ranges::copy(after, wanted.begin() + margin);
        VIRTACCEL_TRY_ASSIGN(const Bytes found, caller.read(larger[i], 0, wanted.size()));
        VIRTACCEL_TRY(expect(found == wanted, "The buffer of slot (", stage.sample().slots[i].slot,
                             ") is not what the program leaves in the middle of it."));
        VIRTACCEL_TRY(caller.destroy(larger[i]));
    }
    return stage.tear_down(scene);
}

// A range that ends where its buffer ends is inside it; that is what the sample binds. One byte
// less of a buffer and it is not.
Check ends_at_the_end(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    for (std::size_t i = 0; i < scene.buffers.size(); ++i) {
        Bindings bindings = stage.bindings_of(scene);
        bindings[i].offset = 1;
        VIRTACCEL_TRY(expect_refusal("A SUBMIT whose range ends a byte past its buffer",
                                     stage.submit(scene, bindings), Status::out_of_bounds));
    }
    VIRTACCEL_TRY(submit_and_finish(stage, scene));
    return stage.tear_down(scene);
}

// ---- time

Check longest_timeout(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventId event, submit(stage, scene, stage.bindings_of(scene), most));
    VIRTACCEL_TRY(finish(stage, event));
    VIRTACCEL_TRY(stage.check_outputs(scene));
    return stage.tear_down(scene);
}

// A nanosecond passes before admission, or while the work runs, or not at all where nobody counts.
Check shortest_timeout(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    const Reply reply = stage.submit(scene, stage.bindings_of(scene), 1);
    if (!reply.ok()) {
        VIRTACCEL_TRY(expect_refusal("A SUBMIT with a timeout of a nanosecond", reply,
                                     Status::deadline_expired));
        return stage.tear_down(scene);
    }
    VIRTACCEL_TRY_ASSIGN(const EventId event, expect_id<EventKind>("SUBMIT", reply));
    VIRTACCEL_TRY_ASSIGN(const wire::EventState state, stage.wait(event));
    const auto error = static_cast<Status>(std::uint16_t{state.error});
    const bool complete = state.state == static_cast<std::uint16_t>(EventPhase::complete);
    VIRTACCEL_TRY(expect(complete || error == Status::deadline_expired,
                         "An event whose time has passed has the error (", error, ")."));
    VIRTACCEL_TRY(stage.caller().destroy(event));
    return stage.tear_down(scene);
}

constexpr std::array cases{
    DeviceCase{"submit.usage-to-read", "reading needs a program input or mutable state",
               usages_for_read},
    DeviceCase{"submit.usage-to-write", "writing needs a program output or mutable state",
               usages_for_write},
    DeviceCase{"submit.usage-to-do-both", "reading and writing needs mutable state",
               usages_for_both},
    DeviceCase{"submit.judged-in-slot-order",
               "ranges and usages are judged binding by binding, by ascending slots", slot_order},
    DeviceCase{"submit.any-order", "the order of bindings means nothing", any_order},
    DeviceCase{"submit.most-bindings", "as many bindings as are advertised are not too many",
               most_bindings},
    DeviceCase{"submit.queue-of-another-context", "a queue of another context is STALE_OBJECT",
               queue_elsewhere},
    DeviceCase{"submit.program-of-another-context", "a program of another context is STALE_OBJECT",
               program_elsewhere},
    DeviceCase{"submit.buffer-of-another-context", "a buffer of another context is STALE_OBJECT",
               buffer_elsewhere},
    DeviceCase{"submit.rejected-keeps-nothing", "a rejected submission retains and does nothing",
               rejected_keeps_nothing},
    DeviceCase{"submit.touches-its-ranges", "a program sees its ranges and touches no other byte",
               touches_its_ranges},
    DeviceCase{"submit.ends-at-the-end", "a range may end where its buffer does", ends_at_the_end},
    DeviceCase{"submit.longest-timeout", "2^64 - 1 nanoseconds are a timeout", longest_timeout},
    DeviceCase{"submit.shortest-timeout", "a timeout that passes is DEADLINE_EXPIRED",
               shortest_timeout},
};

}  // namespace

std::span<const DeviceCase> submission_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules
