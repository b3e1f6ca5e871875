#include "virtaccel/backend/parts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <span>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

namespace {

constexpr std::uint64_t block_bytes_max = std::numeric_limits<std::size_t>::max() / 2;

std::size_t block_bytes(std::uint64_t total_bytes) {
    return static_cast<std::size_t>(parts::resident_bytes_of(total_bytes) - parts::part_cost_bytes);
}

std::unexpected<Status> refuse(const Artifact& artifact, Status status, std::string_view sentence) {
    artifact.refusals(sentence);
    return fail(status);
}

PartedArtifact* find(const PartedArtifacts& context, const parts::Key& key) {
    PartedArtifact* found = context.first;
    while (found != nullptr && found->key != key) {
        found = found->next;
    }
    return found;
}

bool is_there(const PartedArtifact& artifact, ByteRange range) {
    for (const Part* part = artifact.first_part; part != nullptr; part = part->next) {
        if (range.offset < part->offset + part->bytes &&
            part->offset < range.offset + range.bytes) {
            return true;
        }
    }
    return false;
}

// What a part says of itself, as far as it makes sense by itself.
Result<parts::PartHead> read_head(const Artifact& artifact, Reader& payload,
                                  std::uint64_t artifact_bytes_max) {
    if (payload.remaining() <= parts::part_head_bytes) {
        return refuse(artifact, Status::invalid_argument,
                      "A part is shorter than its head and one byte: send at least 33 bytes.");
    }
    if (artifact.target != parts::part_target) {
        return refuse(artifact, Status::incompatible,
                      "The target words are not those of a part: declare its format and version.");
    }
    std::array<std::byte, parts::part_head_bytes> bytes{};
    if (!payload.copy_to(bytes.data(), bytes.size())) {
        return fail(Status::internal_error);
    }
    const auto head = parts::decode_part(bytes);
    const ByteRange range{.offset = head.offset, .bytes = payload.remaining()};
    if (head.total_bytes == 0 || !is_range(range)) {
        return refuse(artifact, Status::invalid_argument,
                      "A part has no total, or its end is past all numbers: say where it belongs.");
    }
    if (head.total_bytes > artifact_bytes_max || head.total_bytes > block_bytes_max) {
        return refuse(
            artifact, Status::resource_limit,
            "The parts make an artifact larger than the device takes: send a smaller one.");
    }
    if (!fits(range, head.total_bytes)) {
        return refuse(artifact, Status::out_of_bounds,
                      "A part ends after the artifact does: say where it belongs.");
    }
    return head;
}

// Whether a part can join those of its key.
Status judge(const Artifact& artifact, const PartedArtifact& known, const parts::PartHead& head,
             std::uint64_t bytes) {
    if (known.bytes.size != head.total_bytes) {
        return refuse(
                   artifact, Status::incompatible,
                   "Two parts of a key differ in their total: choose a new key for each artifact.")
            .error();
    }
    if (is_there(known, {.offset = head.offset, .bytes = bytes})) {
        return refuse(artifact, Status::invalid_argument,
                      "Two parts of a key overlap: send each byte once.")
            .error();
    }
    return Status::ok;
}

}  // namespace

Parts::~Parts() {
    artifacts_.each([this](PartedArtifact& artifact) {
        if (artifact.bytes.data != nullptr) {
            bytes_.release(bytes_.state, artifact.bytes.data, block_bytes(artifact.bytes.size),
                           parts::block_bytes);
        }
    });
}

Result<LoadedPart> Parts::load(PartedArtifacts& context, const Artifact& artifact,
                               std::uint64_t artifact_bytes_max) {
    Reader payload = artifact.payload;
    VIRTACCEL_TRY_ASSIGN(const auto head, read_head(artifact, payload, artifact_bytes_max));
    const std::uint64_t bytes = payload.remaining();
    PartedArtifact* whole = find(context, head.key);
    const bool is_first = whole == nullptr;
    if (!is_first) {
        if (const Status status = judge(artifact, *whole, head, bytes); status != Status::ok) {
            return fail(status);
        }
    }
    const auto cost =
        is_first ? parts::resident_bytes_of(head.total_bytes) : parts::part_cost_bytes;
    if (cost > artifact.resident_bytes_max) {
        return refuse(artifact, Status::resource_limit,
                      "A part needs more than its resident bytes or the budget allow: declare more "
                      "of them, or unload programs.");
    }
    Part* const part = parts_.take();
    if (part == nullptr) {
        return fail(Status::out_of_memory);
    }
    if (is_first) {
        whole = reserve(context, head);
        if (whole == nullptr) {
            parts_.give(part);
            return fail(Status::out_of_memory);
        }
    }
    if (!payload.copy_to(whole->bytes.data + head.offset, static_cast<std::size_t>(bytes))) {
        parts_.give(part);
        if (is_first) {
            drop(context, *whole);
        }
        return fail(Status::internal_error);
    }
    whole->arrived_bytes += bytes;
    *part = {.artifact = whole, .offset = head.offset, .bytes = bytes, .next = whole->first_part};
    if (whole->first_part != nullptr) {
        whole->first_part->previous = part;
    }
    whole->first_part = part;
    return LoadedPart{.part = part, .resident_bytes = cost};
}

void Parts::unload(PartedArtifacts& context, Part& part) {
    PartedArtifact& whole = *part.artifact;
    (part.previous == nullptr ? whole.first_part : part.previous->next) = part.next;
    if (part.next != nullptr) {
        part.next->previous = part.previous;
    }
    whole.arrived_bytes -= part.bytes;
    if (whole.first_part != nullptr) {
        *whole.first_part->charged_bytes += *part.charged_bytes - parts::part_cost_bytes;
        *part.charged_bytes = parts::part_cost_bytes;
    } else {
        drop(context, whole);
    }
    parts_.give(&part);
}

Result<Joined> Parts::join(const PartedArtifacts& context, const Artifact& artifact) {
    Reader payload = artifact.payload;
    std::array<std::byte, parts::join_head_bytes> bytes{};
    if (payload.remaining() != bytes.size()) {
        return refuse(artifact, Status::invalid_argument,
                      "A join is not 24 bytes long: send a key, a format and a zero word.");
    }
    if (!payload.copy_to(bytes.data(), bytes.size())) {
        return fail(Status::internal_error);
    }
    const auto head = parts::decode_join(bytes);
    if (head.format == 0 || head.reserved != 0) {
        return refuse(artifact, Status::invalid_argument,
                      "A join names no format, or its last word is not zero: name a format.");
    }
    if (head.format == parts::part_format || head.format == parts::join_format) {
        return refuse(artifact, Status::unsupported,
                      "A join makes a part or a join: name the format of a whole artifact.");
    }
    PartedArtifact* const whole = find(context, head.key);
    if (whole == nullptr || whole->arrived_bytes != whole->bytes.size) {
        return refuse(artifact, Status::invalid_argument,
                      "Not all parts of the key are in the context: load them first.");
    }
    return Joined{.artifact = whole, .format = head.format};
}

void Parts::end_join(PartedArtifact& artifact) {
    if (--artifact.joins == 0 && artifact.first_part == nullptr) {
        release(artifact);
    }
}

Artifact Parts::artifact_of(const Joined& joined, const Artifact& artifact) {
    const Piece& bytes = joined.artifact->bytes;
    Artifact whole = artifact;
    whole.format = joined.format;
    whole.payload = Reader{PieceList{.pieces = {&bytes, 1}, .bytes = bytes.size, .lease = {}}};
    whole.stable = {bytes.data, bytes.size};
    return whole;
}

// The record and the bytes of a new artifact, or null.
PartedArtifact* Parts::reserve(PartedArtifacts& context, const parts::PartHead& head) {
    PartedArtifact* const whole = artifacts_.take();
    if (whole == nullptr) {
        return nullptr;
    }
    // Every byte is written by some part before any is read.
    void* const block =
        bytes_.allocate(bytes_.state, block_bytes(head.total_bytes), parts::block_bytes);
    if (block == nullptr) {
        artifacts_.give(whole);
        return nullptr;
    }
    *whole = {.key = head.key,
              .bytes = {.data = static_cast<std::byte*>(block),
                        .size = static_cast<std::size_t>(head.total_bytes)},
              .next = context.first};
    if (context.first != nullptr) {
        context.first->previous = whole;
    }
    context.first = whole;
    return whole;
}

// Takes an artifact without parts out of its context, where its key is free again.
void Parts::drop(PartedArtifacts& context, PartedArtifact& artifact) {
    (artifact.previous == nullptr ? context.first : artifact.previous->next) = artifact.next;
    if (artifact.next != nullptr) {
        artifact.next->previous = artifact.previous;
    }
    if (artifact.joins == 0) {
        release(artifact);
    }
}

void Parts::release(PartedArtifact& artifact) {
    bytes_.release(bytes_.state, artifact.bytes.data, block_bytes(artifact.bytes.size),
                   parts::block_bytes);
    artifact.bytes = {};
    artifacts_.give(&artifact);
}

}  // namespace virtaccel::backend
