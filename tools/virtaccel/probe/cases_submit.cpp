// Submissions: what the mock's four operations do, and every way to be refused.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "tools/virtaccel/probe/cases.h"
#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/request.h"
#include "tools/virtaccel/probe/world.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli::probe {
namespace {

using mock::Operation;
using Bindings = std::vector<wire::Binding>;

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr mock::ReferenceProgram copy_program{
    .operation = Operation::copy, .first_slot = 0, .second_slot = 1};

constexpr Usage usage_input = Usage{UsageBit::program_input} | UsageBit::transfer_destination;
constexpr Usage usage_output = Usage{UsageBit::program_output} | usage_transfer;
constexpr Usage usage_state = Usage{UsageBit::mutable_state} | usage_transfer;

// One context with all that a copy needs.
struct Scene {
    ContextId context;
    QueueId queue;
    ProgramId program;
    BufferId input;
    BufferId output;

    explicit Scene(World& world)
        : context(world.context()),
          queue(world.queue(context)),
          program(world.program(context, copy_program)),
          input(world.buffer(context, usage_input)),
          output(world.buffer(context, usage_output)) {}

    [[nodiscard]] Bindings bindings() const {
        return {binding(0, input, Access::read), binding(1, output, Access::write)};
    }
};

wire::Binding part_of(wire::Binding whole, std::uint64_t offset, std::uint64_t bytes) {
    whole.offset = offset;
    whole.bytes = bytes;
    return whole;
}

void expect_contents(Probe& probe, std::string_view what, BufferId buffer, const Bytes& expected) {
    const auto data = probe.accepts(what, World::read(buffer, 0, buffer_bytes), buffer_bytes);
    probe.judge(data == expected, what, "the right bytes");
}

// Fill, exclusive or, and a copy onto itself, of one buffer that is read and written.
void check_operations_in_place(World& world) {
    Probe& probe = world.probe();
    const auto context = world.context();
    const auto queue = world.queue(context);
    const auto state = world.buffer(context, usage_state);
    auto expected = pattern(buffer_bytes);
    probe.accepts("before a copy onto itself", World::write(state, 0, expected));
    const auto overlapping = world.program(context, copy_program);
    const Bindings both{part_of(binding(0, state, Access::read), 0, 32),
                        part_of(binding(1, state, Access::write), 8, 32)};
    const auto moved =
        probe.creates<EventKind>("of a copy onto itself", submission(queue, overlapping, both));
    if (world.finish(moved)) {
        const Bytes source(expected.begin(), expected.begin() + 32);
        std::ranges::copy(source, expected.begin() + 8);
        expect_contents(probe, "after a copy onto itself", state, expected);
    }
    const auto flip = world.program(
        context, {.operation = Operation::exclusive_or, .first_slot = 7, .operand = 0x5a});
    const Bindings part{part_of(binding(7, state, Access::read_write), 3, 41)};
    const auto flipped =
        probe.creates<EventKind>("of an exclusive or of a part", submission(queue, flip, part));
    if (world.finish(flipped)) {
        for (std::size_t i = 3; i < 44; ++i) {
            expected[i] ^= std::byte{0x5a};
        }
        expect_contents(probe, "after an exclusive or of a part", state, expected);
    }
}

}  // namespace

void check_operations(World& world) {
    Probe& probe = world.probe();
    const Scene scene{world};
    const auto data = pattern(buffer_bytes);
    probe.accepts("of the copy's source", World::write(scene.input, 0, data));
    const auto copied = probe.creates<EventKind>(
        "of a copy", submission(scene.queue, scene.program, scene.bindings()));
    if (world.finish(copied)) {
        expect_contents(probe, "of the copy's target", scene.output, data);
    }
    const auto fill = world.program(
        scene.context, {.operation = Operation::fill, .first_slot = 3, .operand = 0xa5});
    const Bindings target{binding(3, scene.output, Access::write)};
    const auto filled =
        probe.creates<EventKind>("of a fill", submission(scene.queue, fill, target));
    if (world.finish(filled)) {
        expect_contents(probe, "of the fill's target", scene.output,
                        Bytes(buffer_bytes, std::byte{0xa5}));
    }
    const auto barrier = world.program(scene.context, {.operation = Operation::barrier});
    const Bindings one{binding(0, scene.input, Access::read)};
    const auto passed =
        probe.creates<EventKind>("of a barrier", submission(scene.queue, barrier, one));
    static_cast<void>(world.finish(passed));
    auto turned = scene.bindings();
    std::swap(turned[0], turned[1]);
    const auto reversed = probe.creates<EventKind>("with its slots in descending order",
                                                   submission(scene.queue, scene.program, turned));
    static_cast<void>(world.finish(reversed));
    check_operations_in_place(world);
}

void check_submission_frames(World& world) {
    Probe& probe = world.probe();
    const Scene scene{world};
    const auto good = submission(scene.queue, scene.program, scene.bindings());
    wire::Submit record;
    record.queue_id = scene.queue;
    record.program_id = scene.program;
    record.binding_count = 2;
    // The record bent by `bend`, with the scene's bindings behind it, the first bent by
    // `bend_first`.
    const auto bent = [&](auto bend, auto bend_first) {
        auto head = record;
        bend(head);
        auto bindings = scene.bindings();
        bend_first(bindings[0]);
        return Request{wire::Opcode::submit, bytes_of(head, bindings[0], bindings[1])};
    };
    const auto same = [](auto&) {};
    const auto refuses = [&](std::string_view what, Status wanted, auto bend) {
        probe.refuses(what, bent(bend, same), wanted);
    };
    const auto refuses_binding = [&](std::string_view what, auto bend) {
        probe.refuses(what, bent(same, bend), Status::invalid_argument);
    };
    const auto limit = probe.identity().limits.bindings_per_submission;
    refuses("with a flag", Status::unsupported, [](wire::Submit& r) { r.flags = 1; });
    refuses("with a flag, before no bindings", Status::unsupported, [](wire::Submit& r) {
        r.flags = 1;
        r.binding_count = 0;
    });
    refuses("of no bindings", Status::invalid_argument,
            [](wire::Submit& r) { r.binding_count = 0; });
    refuses("of too many bindings, before its length", Status::resource_limit,
            [&](wire::Submit& r) { r.binding_count = limit + 1; });
    refuses("of 2^32 - 1 bindings", Status::resource_limit,
            [](wire::Submit& r) { r.binding_count = 0xffffffff; });
    refuses("that claims one binding fewer", Status::invalid_argument,
            [](wire::Submit& r) { r.binding_count = 1; });
    probe.refuses("of 31 bytes", Request{wire::Opcode::submit, Bytes(31)},
                  Status::invalid_argument);
    probe.refuses("with a byte missing", good.plus(-1), Status::invalid_argument);
    probe.refuses("with a trailing byte", good.plus(1), Status::invalid_argument);
    refuses_binding("with a reserved byte", [](wire::Binding& b) { b.reserved.bytes[2] = 1; });
    refuses_binding("of no bytes", [](wire::Binding& b) { b.bytes = 0; });
    refuses_binding("whose range overflows", [](wire::Binding& b) { b.offset = most; });
    refuses_binding("with access 0", [](wire::Binding& b) { b.access = 0; });
    refuses_binding("with access 4", [](wire::Binding& b) { b.access = 4; });
    refuses_binding("of buffer zero", [](wire::Binding& b) { b.buffer_id = {}; });
    refuses_binding("of one slot twice", [](wire::Binding& b) { b.slot = 1; });
    refuses("to queue zero", Status::invalid_argument, [](wire::Submit& r) { r.queue_id = {}; });
    refuses("of program zero", Status::invalid_argument,
            [](wire::Submit& r) { r.program_id = {}; });
    probe.refuses("of one slot twice, before an unknown queue",
                  bent([](wire::Submit& r) { r.queue_id = unknown_id<QueueKind>; },
                       [](wire::Binding& b) { b.slot = 1; }),
                  Status::invalid_argument);
    probe.ignores("with one byte of room too few", good.with_capacity(23));
    probe.ignores(
        "with one byte of room too few, before an unknown queue",
        bent([](wire::Submit& r) { r.queue_id = unknown_id<QueueKind>; }, same).with_capacity(23));
    probe.accepts("that nobody uses", {wire::Opcode::destroy_queue, scene.queue});
}

void check_submission_objects(World& world) {
    Probe& probe = world.probe();
    const Scene scene{world};
    const Scene other{world};
    const auto refuses = [&](std::string_view what, Status wanted, QueueId queue, ProgramId program,
                             const Bindings& bindings) {
        probe.refuses(what, submission(queue, program, bindings), wanted);
    };
    const auto bindings = scene.bindings();
    refuses("to an unknown queue", Status::stale_object, unknown_id<QueueKind>, scene.program,
            bindings);
    refuses("of an unknown program", Status::stale_object, scene.queue, unknown_id<ProgramKind>,
            bindings);
    refuses("to a program in place of a queue", Status::stale_object, QueueId{scene.program.raw},
            scene.program, bindings);
    refuses("to another context's queue", Status::stale_object, other.queue, scene.program,
            bindings);
    refuses("of another context's program", Status::stale_object, scene.queue, other.program,
            bindings);
    auto foreign = bindings;
    foreign[1].buffer_id = other.output;
    refuses("of another context's buffer", Status::stale_object, scene.queue, scene.program,
            foreign);
    foreign[1].buffer_id = unknown_id<BufferKind>;
    refuses("of an unknown buffer", Status::stale_object, scene.queue, scene.program, foreign);
    foreign[0].bytes = buffer_bytes + 1;
    refuses("of an unknown buffer, before a range", Status::stale_object, scene.queue,
            scene.program, foreign);

    const auto misfits = [&](std::string_view what, const Bindings& wrong) {
        refuses(what, Status::incompatible, scene.queue, scene.program, wrong);
    };
    const auto state = world.buffer(scene.context, usage_state);
    misfits("of one binding to a copy", {bindings[0]});
    if (probe.identity().limits.bindings_per_submission > bindings.size()) {
        misfits("of a third binding to a copy",
                {bindings[0], bindings[1], binding(2, state, Access::read)});
    }
    misfits("of another slot", {bindings[0], binding(2, scene.output, Access::write)});
    misfits("of unequal lengths", {part_of(bindings[0], 0, buffer_bytes - 1), bindings[1]});
    misfits("that writes a copy's source", {binding(0, state, Access::write), bindings[1]});
    misfits("that reads a copy's target", {bindings[0], binding(1, state, Access::read)});
    const auto event = probe.creates<EventKind>("after all that",
                                                submission(scene.queue, scene.program, bindings));
    static_cast<void>(world.finish(event));
}

void check_submission_ranges(World& world) {
    Probe& probe = world.probe();
    const Scene scene{world};
    const auto plain = world.buffer(scene.context, usage_transfer);
    const auto state = world.buffer(scene.context, usage_state);
    const auto refuses = [&](std::string_view what, Status wanted, const Bindings& bindings) {
        probe.refuses(what, submission(scene.queue, scene.program, bindings), wanted);
    };
    const auto good = scene.bindings();
    const auto outside = [](const wire::Binding& whole) { return part_of(whole, 1, buffer_bytes); };
    refuses("past the end of a buffer", Status::out_of_bounds, {outside(good[0]), good[1]});
    refuses("far past the end of a buffer", Status::out_of_bounds,
            {good[0], part_of(good[1], most - 1, 1)});

    struct Row {
        BufferId buffer;
        std::string_view usage;
        bool may_read;
        bool may_write;
        bool may_do_both;
    };

    const std::array rows{Row{scene.input, "of an input", true, false, false},
                          Row{scene.output, "of an output", false, true, false},
                          Row{plain, "of a buffer for transfers", false, false, false},
                          Row{state, "of mutable state", true, true, true}};
    for (const auto& row : rows) {
        // An access that is allowed gets as far as the program, which has no slot 9.
        const auto wanted = [](bool may) {
            return may ? Status::incompatible : Status::permission_denied;
        };
        refuses(row.usage, wanted(row.may_read), {binding(9, row.buffer, Access::read)});
        refuses(row.usage, wanted(row.may_write), {binding(9, row.buffer, Access::write)});
        refuses(row.usage, wanted(row.may_do_both), {binding(9, row.buffer, Access::read_write)});
    }
    const auto denied = binding(0, scene.output, Access::read);
    refuses("of a range, before its access", Status::out_of_bounds, {outside(denied), good[1]});
    refuses("in slot order: access in slot 0, range in slot 1", Status::permission_denied,
            {denied, outside(good[1])});
    refuses("in slot order, given in reverse", Status::permission_denied,
            {outside(good[1]), denied});
    refuses("in slot order: range in slot 0, access in slot 1", Status::out_of_bounds,
            {outside(good[0]), binding(1, scene.input, Access::write)});
}

}  // namespace virtaccel::cli::probe
