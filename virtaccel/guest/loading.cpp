// The client's operations that load programs: whole artifacts, parts of one, and what parts make.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/resident_bytes.h"
#include "virtaccel/guest/sending.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest {
namespace {

wire::LoadProgram record_of(ContextId context, std::uint32_t format, const TargetWords& target) {
    wire::LoadProgram record;
    record.context_id = context;
    record.format = format;
    std::ranges::copy(target, record.target.begin());
    return record;
}

// What is declared where the caller leaves it open.
std::uint64_t resident_bytes_or_default(std::uint64_t given, std::uint64_t artifact_bytes) {
    return given == 0 ? resident_bytes_for(artifact_bytes) : given;
}

// A port's piece over memory that the device only reads.
Piece readable_piece(std::span<const std::byte> bytes) {
    return {.data = const_cast<std::byte*>(bytes.data()), .size = bytes.size()};
}

PieceList list_of(const Piece& piece) {
    return {.pieces = {&piece, 1}, .bytes = piece.size, .lease = {}};
}

}  // namespace

Outcome<void> Client::load_program(Chain& chain, const ContextHandle& context,
                                   const ProgramSpec& spec) {
    if (!context.is_of(realm())) [[unlikely]] {
        return foreign_handle(wire::Opcode::load_program);
    }
    auto request = record_of(context.id(), spec.format, spec.target);
    request.resident_bytes = resident_bytes_or_default(spec.resident_bytes, spec.artifact.size());
    const Piece artifact = readable_piece(spec.artifact);
    return send_load(chain, request, {}, list_of(artifact));
}

Outcome<void> Client::load_part(Chain& chain, const ContextHandle& context, const PartSpec& part) {
    if (!context.is_of(realm())) [[unlikely]] {
        return foreign_handle(wire::Opcode::load_program);
    }
    std::array<std::byte, parts::part_head_bytes> head{};
    parts::encode({.key = part.key, .total_bytes = part.total_bytes, .offset = part.offset}, head);
    auto request = record_of(context.id(), parts::part_format, parts::part_target);
    request.resident_bytes = parts::resident_bytes_of(part.total_bytes);
    const Piece bytes = readable_piece(part.bytes);
    return send_load(chain, request, head, list_of(bytes));
}

Outcome<void> Client::load_joined(Chain& chain, const ContextHandle& context,
                                  const JoinSpec& join) {
    if (!context.is_of(realm())) [[unlikely]] {
        return foreign_handle(wire::Opcode::load_program);
    }
    std::array<std::byte, parts::join_head_bytes> head{};
    parts::encode({.key = join.key, .format = join.format}, head);
    auto request = record_of(context.id(), parts::join_format, join.target);
    request.resident_bytes = resident_bytes_or_default(join.resident_bytes, join.artifact_bytes);
    return send_load(chain, request, head, {});
}

std::uint64_t Client::part_bytes_max() const {
    const auto most = artifact_bytes_max();
    return most <= parts::part_head_bytes ? 0 : most - parts::part_head_bytes;
}

}  // namespace virtaccel::guest
