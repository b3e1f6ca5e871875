#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using backend::AnyBackend;
using backend::BufferHandle;
using wire::Opcode;

namespace {

constexpr std::size_t buffer_bytes = 97;
constexpr Usage both = Usage{UsageBit::transfer_source} | UsageBit::transfer_destination;

Check check_whole_buffer(AnyBackend& backend, BufferHandle buffer, const Bytes& model,
                         std::size_t every) {
    Bytes room(model.size() + 16, canary);
    const auto pieces = cut_with_gaps(std::span{room}.subspan(8, model.size()), {.every = every});
    Writer target{PieceList::of(pieces)};
    VIRTACCEL_TRY(expect_status("A read into pieces", backend.read(buffer, 0, target), Status::ok));
    VIRTACCEL_TRY(expect(target.remaining() == 0, "A read leaves (", target.remaining(),
                         ") bytes of its target unwritten."));
    VIRTACCEL_TRY(expect(std::ranges::equal(std::span{room}.subspan(8, model.size()), model),
                         "Pieces of (", every,
                         ") bytes do not read back as they were written, or bytes beside them "
                         "have changed."));
    const auto is_canary = [](std::byte byte) { return byte == canary; };
    return expect(std::ranges::all_of(std::span{room}.first(8), is_canary) &&
                      std::ranges::all_of(std::span{room}.last(8), is_canary),
                  "A read writes beside its pieces.");
}

// A write of `bytes` (fewer at the end of the buffer) to `offset`, in pieces of `every` bytes.
struct Cut {
    std::size_t every;
    std::size_t offset;
    std::size_t bytes;
};

// Makes the cut write in the buffer and in `model`, which is what the buffer has to hold.
Check check_cut(AnyBackend& backend, BufferHandle buffer, Bytes& model, const Cut& cut,
                std::size_t seed) {
    Bytes bytes = pattern_of(std::min(cut.bytes, buffer_bytes - cut.offset), seed);
    std::ranges::copy(bytes, model.begin() + static_cast<std::ptrdiff_t>(cut.offset));
    const auto pieces = cut_with_gaps(bytes, {.every = cut.every});
    Reader source{PieceList::of(pieces)};
    VIRTACCEL_TRY(expect_status("A write from pieces", backend.write(buffer, cut.offset, source),
                                Status::ok));
    VIRTACCEL_TRY(expect(source.remaining() == 0, "A write leaves (", source.remaining(),
                         ") bytes of its source unread."));
    return check_whole_buffer(backend, buffer, model, cut.every);
}

std::vector<Cut> all_cuts() {
    std::vector<Cut> cuts;
    for (const std::size_t every : {1U, 2U, 3U, 7U, 16U, 64U, 97U}) {
        for (const std::size_t offset : {0U, 1U, 5U, 33U, 96U}) {
            for (const std::size_t bytes : {std::size_t{1}, std::size_t{13}, buffer_bytes}) {
                cuts.push_back({.every = every, .offset = offset, .bytes = bytes});
            }
        }
    }
    return cuts;
}

Check check_pieces(AnyBackend& backend, BufferHandle buffer) {
    Bytes model(buffer_bytes);
    std::size_t seed = 0;
    for (const Cut& cut : all_cuts()) {
        VIRTACCEL_TRY(check_cut(backend, buffer, model, cut, ++seed));
    }
    return {};
}

Check check_backend_pieces(const BackendSubject& subject) {
    auto backend = subject.factory.make(subject.factory.state);
    VIRTACCEL_TRY(expect(backend.has_value(), "The factory makes no backend."));
    const auto context = backend->create_context();
    VIRTACCEL_TRY(expect(context.has_value(), "A fresh backend creates no context."));
    const auto capabilities = backend->identity().capabilities;
    const auto made = backend->allocate(
        *context,
        {.bytes = buffer_bytes, .alignment = 1, .domain = any_domain(capabilities), .usage = both});
    VIRTACCEL_TRY(
        expect(made.has_value(), "An allocation of (", buffer_bytes, ") bytes is refused."));
    VIRTACCEL_TRY(check_pieces(*backend, made->buffer));
    VIRTACCEL_TRY(expect(backend->free(made->buffer).certainty == backend::Certainty::done,
                         "An unused buffer is not freed."));
    return expect(backend->destroy_context(*context).certainty == backend::Certainty::done,
                  "An empty context is not destroyed.");
}

struct Range {
    std::uint64_t offset;
    std::uint64_t bytes;
    Status refusal;
};

// Ranges that leave the buffer are refused and touch nothing.
Check check_bounds(BackendRig& rig) {
    Caller& caller = rig.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(rig.buffer_request(context, buffer_bytes, both)));
    const Bytes model = pattern_of(buffer_bytes, 1);
    VIRTACCEL_TRY(caller.write(buffer, 0, model));
    for (const auto& [offset, bytes, refusal] :
         {Range{90, 8, Status::out_of_bounds}, Range{97, 1, Status::out_of_bounds},
          Range{0, 98, Status::out_of_bounds}, Range{1U << 31U, 1, Status::out_of_bounds},
          Range{~std::uint64_t{0} - 3, 8, Status::invalid_argument}}) {
        wire::WriteBuffer write;
        write.buffer_id = buffer;
        write.offset = offset;
        write.bytes = bytes;
        const auto data = pattern_of(static_cast<std::size_t>(bytes), 2);
        VIRTACCEL_TRY(expect_refusal("WRITE_BUFFER of a range outside the buffer",
                                     caller.call<Opcode::write_buffer>(write, data), refusal));
        wire::ReadBuffer read;
        read.buffer_id = buffer;
        read.offset = offset;
        read.bytes = bytes;
        VIRTACCEL_TRY(expect_refusal("READ_BUFFER of a range outside the buffer",
                                     caller.call<Opcode::read_buffer>(read), refusal));
    }
    VIRTACCEL_TRY_ASSIGN(const Bytes after, caller.read(buffer, 0, buffer_bytes));
    VIRTACCEL_TRY(expect(after == model, "A refused transfer changes the buffer."));
    VIRTACCEL_TRY(caller.destroy(buffer));
    return caller.destroy(context);
}

Reply try_write(Caller& caller, BufferId buffer, std::span<const std::byte> bytes) {
    wire::WriteBuffer request;
    request.buffer_id = buffer;
    request.bytes = bytes.size();
    return caller.call<Opcode::write_buffer>(request, bytes);
}

Reply try_read(Caller& caller, BufferId buffer, std::uint64_t bytes) {
    wire::ReadBuffer request;
    request.buffer_id = buffer;
    request.bytes = bytes;
    return caller.call<Opcode::read_buffer>(request);
}

// One buffer of `usage`: each direction is allowed exactly if its bit is set, and counted exactly
// then.
Check check_usage(BackendRig& rig, ContextId context, Usage usage) {
    constexpr std::uint64_t size = 32;
    Caller& caller = rig.caller();
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(rig.buffer_request(context, size, usage)));
    const auto before = rig.diagnostics().explicit_transfer_bytes;
    const Reply written = try_write(caller, buffer, pattern_of(size, 3));
    const bool may_write = usage.has(UsageBit::transfer_destination);
    const bool may_read = usage.has(UsageBit::transfer_source);
    VIRTACCEL_TRY(may_write ? expect_ok("WRITE_BUFFER", written)
                            : expect_refusal("WRITE_BUFFER to no transfer destination", written,
                                             Status::permission_denied));
    const Reply got = try_read(caller, buffer, size);
    VIRTACCEL_TRY(may_read ? expect_ok("READ_BUFFER", got)
                           : expect_refusal("READ_BUFFER from no transfer source", got,
                                            Status::permission_denied));
    if (may_read) {
        const Bytes wanted = may_write ? pattern_of(size, 3) : Bytes(size);
        VIRTACCEL_TRY(expect(got.payload == wanted, "READ_BUFFER does not give what was written."));
    }
    const std::uint64_t moved = (may_write ? size : 0) + (may_read ? size : 0);
    VIRTACCEL_TRY(expect_equal("The number of explicitly transferred bytes",
                               rig.diagnostics().explicit_transfer_bytes - before, moved));
    return caller.destroy(buffer);
}

}  // namespace

Check buffer_segmented_transfer_bounds(const BackendSubject& subject) {
    VIRTACCEL_TRY(check_backend_pieces(subject));
    return on_rig(subject, check_bounds);
}

Check buffer_transfer_permissions(const BackendSubject& subject) {
    return on_rig(subject, [](BackendRig& rig) -> Check {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, rig.caller().create_context());
        for (std::uint32_t bits = 1; bits <= usage_known.bits; ++bits) {
            VIRTACCEL_TRY(check_usage(rig, context, Usage{bits}));
        }
        return rig.caller().destroy(context);
    });
}

}  // namespace virtaccel::conformance::cases
