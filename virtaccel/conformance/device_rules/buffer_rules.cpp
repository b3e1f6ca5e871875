// Buffers and the copies in and out of them (spec §4, §5, §6).

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
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

constexpr std::uint64_t size = cast_buffer_bytes;

Bytes pattern(std::size_t bytes, unsigned first) {
    Bytes result(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        result[i] = static_cast<std::byte>(1 + ((first + i) % 255));
    }
    return result;
}

Check expect_contents(Caller& caller, std::string_view when, BufferId buffer, const Bytes& wanted) {
    VIRTACCEL_TRY_ASSIGN(const Bytes found, caller.read(buffer, 0, wanted.size()));
    const auto wrong = std::ranges::mismatch(found, wanted);
    return expect(found == wanted, "A buffer differs at byte (", wrong.in1 - found.begin(), ") ",
                  when, ".");
}

Reply read_range(Caller& caller, BufferId buffer, std::uint64_t offset, std::uint64_t bytes) {
    wire::ReadBuffer read;
    read.buffer_id = buffer;
    read.offset = offset;
    read.bytes = bytes;
    return caller.call<Opcode::read_buffer>(read, {}, header_bytes + bytes);
}

Reply write_range(Caller& caller, BufferId buffer, std::uint64_t offset, const Bytes& data) {
    wire::WriteBuffer write;
    write.buffer_id = buffer;
    write.offset = offset;
    write.bytes = data.size();
    return caller.call<Opcode::write_buffer>(write, data);
}

// ---- allocation

Check fresh_is_zero(const DeviceCaseInput& input) {
    constexpr int rounds = 8;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    const std::uint64_t bytes = std::min<std::uint64_t>(info.buffer_bytes_max, 64);
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    for (int i = 0; i < rounds; ++i) {
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                             caller.allocate(stage.buffer_request(context, bytes, usage_known)));
        VIRTACCEL_TRY(
            expect_contents(caller, "when it is fresh and has to be zero", buffer, Bytes(bytes)));
        VIRTACCEL_TRY(caller.write(buffer, 0, pattern(bytes, 7)));
        VIRTACCEL_TRY(caller.destroy(buffer));
    }
    return caller.destroy(context);
}

Check every_usage_alone(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    for (std::uint32_t bits = 1; bits <= usage_known.bits; ++bits) {
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                             caller.allocate(stage.buffer_request(context, 1, Usage{bits})));
        VIRTACCEL_TRY(caller.destroy(buffer));
    }
    return caller.destroy(context);
}

Check every_alignment(const DeviceCaseInput& input) {
    constexpr std::uint64_t asked_max = 64;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    for (std::uint64_t alignment = 1; alignment <= asked_max; alignment *= 2) {
        auto request = stage.buffer_request(context, 3, usage_known);
        request.alignment = alignment;
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer, caller.allocate(request));
        VIRTACCEL_TRY(caller.destroy(buffer));
    }
    return caller.destroy(context);
}

Check every_domain(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    for (const auto domain : {MemoryDomain::host, MemoryDomain::device, MemoryDomain::shared}) {
        if (!stage.capabilities().has_all(capability_of(domain))) {
            continue;
        }
        auto request = stage.buffer_request(context, size, usage_known);
        request.memory_domain = static_cast<std::uint8_t>(domain);
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer, caller.allocate(request));
        VIRTACCEL_TRY(caller.write(buffer, 0, pattern(size, 3)));
        VIRTACCEL_TRY(
            expect_contents(caller, "in a domain that is offered", buffer, pattern(size, 3)));
        VIRTACCEL_TRY(caller.destroy(buffer));
    }
    return caller.destroy(context);
}

Check largest_buffer(const DeviceCaseInput& input) {
    constexpr std::uint64_t asked_max = std::uint64_t{1} << 20U;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    const std::uint64_t bytes = info.buffer_bytes_max;
    if (bytes > asked_max) {
        return skipped("max_buffer_bytes (", bytes, ") is more than a run asks for (", asked_max,
                       "): the host may not have it.");
    }
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(stage.buffer_request(context, bytes, usage_known)));
    VIRTACCEL_TRY(caller.write(buffer, bytes - 1, Bytes(1, std::byte{5})));
    VIRTACCEL_TRY_ASSIGN(const Bytes last, caller.read(buffer, bytes - 1, 1));
    VIRTACCEL_TRY(expect(last == Bytes(1, std::byte{5}),
                         "The last byte of the largest buffer does not keep what is written."));
    VIRTACCEL_TRY(caller.destroy(buffer));
    return caller.destroy(context);
}

// ---- transfers

// Every range of a small buffer, written and read: what is inside changes, nothing else does.
Check every_range(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    Bytes wanted(size);
    for (std::uint64_t offset = 0; offset < size; ++offset) {
        for (std::uint64_t bytes = 1; bytes <= size - offset; ++bytes) {
            const Bytes data = pattern(bytes, static_cast<unsigned>((offset * size) + bytes));
            VIRTACCEL_TRY(caller.write(cast.buffer, offset, data));
            std::ranges::copy(data, wanted.begin() + static_cast<std::ptrdiff_t>(offset));
            VIRTACCEL_TRY_ASSIGN(const Bytes part, caller.read(cast.buffer, offset, bytes));
            VIRTACCEL_TRY(expect(part == data, "A range at (", offset, ") of (", bytes,
                                 ") bytes does not read as it was written."));
            VIRTACCEL_TRY(expect_contents(caller, "after a write of a part", cast.buffer, wanted));
        }
    }
    return take_down(stage, cast);
}

Check refused_write_changes_nothing(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    const Bytes before = pattern(size, 11);
    VIRTACCEL_TRY(caller.write(cast.buffer, 0, before));
    VIRTACCEL_TRY(expect_refusal("WRITE_BUFFER past the end",
                                 write_range(caller, cast.buffer, size - 2, Bytes(4)),
                                 Status::out_of_bounds));
    VIRTACCEL_TRY(expect_contents(caller, "after a refused write", cast.buffer, before));
    VIRTACCEL_TRY(expect_refusal("WRITE_BUFFER of a buffer that is a source only",
                                 write_range(caller, cast.source_only, 0, before),
                                 Status::permission_denied));
    VIRTACCEL_TRY(expect_contents(caller, "after a refused write", cast.source_only, Bytes(size)));
    return take_down(stage, cast);
}

Check buffers_share_nothing(const DeviceCaseInput& input) {
    constexpr unsigned count = 4;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    std::array<BufferId, count> buffers;
    for (unsigned i = 0; i < count; ++i) {
        VIRTACCEL_TRY_ASSIGN(buffers.at(i),
                             caller.allocate(stage.buffer_request(context, size, usage_known)));
        VIRTACCEL_TRY(caller.write(buffers.at(i), 0, pattern(size, i * 50)));
    }
    for (unsigned i = 0; i < count; ++i) {
        VIRTACCEL_TRY(expect_contents(caller, "after writes to others", buffers.at(i),
                                      pattern(size, i * 50)));
        VIRTACCEL_TRY(caller.destroy(buffers.at(i)));
    }
    return caller.destroy(context);
}

// One usage is enough for one direction.
Check one_direction_is_enough(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    VIRTACCEL_TRY(caller.write(cast.destination_only, 0, pattern(size, 1)));
    VIRTACCEL_TRY(
        expect_contents(caller, "that is a transfer source only", cast.source_only, Bytes(size)));
    return take_down(stage, cast);
}

// The largest response: a range that is too long for the buffer, but not for the response.
Check largest_response(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    const std::uint64_t bytes = std::uint64_t{cast.config.response_bytes_max} - header_bytes;
    VIRTACCEL_TRY(expect_refusal("READ_BUFFER whose answer would have max_response_bytes",
                                 read_range(stage.caller(), cast.buffer, 0, bytes),
                                 Status::out_of_bounds));
    return take_down(stage, cast);
}

// ---- while an event that is not destroyed references the buffer

// BUSY, whatever else there is to say of the range.
Check expect_busy_transfers(Caller& caller, BufferId buffer, std::uint64_t bytes) {
    VIRTACCEL_TRY(expect_refusal("WRITE_BUFFER of a buffer that an event references",
                                 write_range(caller, buffer, 0, Bytes(1)), Status::busy));
    VIRTACCEL_TRY(expect_refusal("WRITE_BUFFER past the end of a buffer that an event references",
                                 write_range(caller, buffer, bytes, Bytes(1)), Status::busy));
    VIRTACCEL_TRY(expect_refusal("READ_BUFFER of a buffer that an event references",
                                 read_range(caller, buffer, 0, 1), Status::busy));
    return expect_refusal("READ_BUFFER past the end of a buffer that an event references",
                          read_range(caller, buffer, bytes, 1), Status::busy);
}

// Buffers that the program may use and nobody may copy to or from: BUSY comes before the usage.
Checked<Scene> bare_scene(Stage& stage) {
    Caller& caller = stage.caller();
    Scene scene;
    VIRTACCEL_TRY_ASSIGN(scene.context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(scene.queue, caller.create_queue(scene.context));
    VIRTACCEL_TRY_ASSIGN(scene.program, load_sample(stage, scene.context));
    for (std::size_t i = 0; i < stage.sample().slots.size(); ++i) {
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer, bare_buffer(stage, scene.context, i));
        scene.buffers.push_back(buffer);
    }
    return scene;
}

Check busy_while_referenced(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, bare_scene(stage));
    VIRTACCEL_TRY_ASSIGN(const EventId event, stage.submit(scene));
    VIRTACCEL_TRY(stage.wait(event));
    for (std::size_t i = 0; i < scene.buffers.size(); ++i) {
        VIRTACCEL_TRY(
            expect_busy_transfers(caller, scene.buffers[i], stage.sample().slots[i].before.size()));
    }
    VIRTACCEL_TRY(caller.destroy(event));
    for (const BufferId buffer : scene.buffers) {
        VIRTACCEL_TRY(expect_refusal("WRITE_BUFFER of a buffer that no event references any more",
                                     write_range(caller, buffer, 0, Bytes(1)),
                                     Status::permission_denied));
        VIRTACCEL_TRY(expect_refusal("READ_BUFFER of a buffer that no event references any more",
                                     read_range(caller, buffer, 0, 1), Status::permission_denied));
    }
    return stage.tear_down(scene);
}

constexpr std::array cases{
    DeviceCase{"allocate-buffer.fresh-is-zero",
               "a fresh buffer reads as zero, whoever had the "
               "memory before",
               fresh_is_zero},
    DeviceCase{"allocate-buffer.every-usage", "every set of usage bits is a usage",
               every_usage_alone},
    DeviceCase{"allocate-buffer.every-alignment", "the powers of two up to 64 are alignments",
               every_alignment},
    DeviceCase{"allocate-buffer.every-domain", "every domain whose capability is there is offered",
               every_domain},
    DeviceCase{"allocate-buffer.largest", "a buffer of max_buffer_bytes is one", largest_buffer},
    DeviceCase{"write-buffer.every-range", "a write changes its range and nothing else",
               every_range},
    DeviceCase{"write-buffer.refused-changes-nothing", "a refused write changes nothing",
               refused_write_changes_nothing},
    DeviceCase{"write-buffer.touches-no-other", "no two buffers share a byte",
               buffers_share_nothing},
    DeviceCase{"write-buffer.one-direction",
               "a source is read and a destination written, with no "
               "other usage",
               one_direction_is_enough},
    DeviceCase{"write-buffer.busy-with-event",
               "a transfer is BUSY while an event references the buffer, before range and usage",
               busy_while_referenced},
    DeviceCase{"read-buffer.largest-response", "a response of max_response_bytes is no limit",
               largest_response},
};

}  // namespace

std::span<const DeviceCase> buffer_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules
