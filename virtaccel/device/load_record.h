#pragma once
// What a deferred LOAD_PROGRAM waits with: a copy of its request and of the list of its pieces, and
// what became of its artifact. `prepare` may write `prepared` on another thread; the rest belongs
// to the device's.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/parts.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

struct Core;

struct LoadRecord {
    Core* core = nullptr;
    std::uint32_t epoch = 0;
    bool holds_room = false;  // in the budget, unless a reset took all room back
    wire::RequestHeader header;
    wire::LoadProgram request;
    // The readable pieces, then the writable ones; from the core's memory.
    Piece* pieces = nullptr;
    std::size_t piece_count = 0;
    PieceList readable;
    PieceList writable;
    // What a join reads, for as long as this lives; without an artifact, the request is no join.
    backend::Joined joined;
    // Nothing before `prepare` and after its handle went to `load`.
    std::optional<Result<backend::PreparedHandle>> prepared;
};

// What a request says of its artifact, which `payload` reads.
[[nodiscard]] backend::Artifact make_artifact(const Core& core, const wire::LoadProgram& request,
                                              Reader payload);

}  // namespace virtaccel::device
