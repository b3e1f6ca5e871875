// Programs, and what the reference backend says of its artifacts (spec §9).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "tools/virtaccel/probe/cases.h"
#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/request.h"
#include "tools/virtaccel/probe/world.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli::probe {
namespace {

using mock::Operation;
using Load = wire::LoadProgram;
using Artifact = std::array<std::byte, mock::reference_artifact_bytes>;

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr mock::ReferenceProgram copy{
    .operation = Operation::copy, .first_slot = 0, .second_slot = 1};

// Where things stand in an artifact.
constexpr std::size_t at_magic = 0;
constexpr std::size_t at_major = 4;
constexpr std::size_t at_minor = 5;
constexpr std::size_t at_operation = 6;
constexpr std::size_t at_abi = 7;
constexpr std::size_t at_operand = 16;
constexpr std::size_t at_reserved = 17;

Request load(const Load& record, std::span<const std::byte> artifact) {
    auto payload = bytes_of(record);
    payload.insert(payload.end(), artifact.begin(), artifact.end());
    return Request{wire::Opcode::load_program, std::move(payload)};
}

// Artifacts longer than a default frame are not sent to look at their limit.
constexpr std::uint64_t sent_artifact_max = std::uint64_t{1} << 19U;

}  // namespace

void check_programs(World& world) {
    Probe& probe = world.probe();
    const auto context = world.context();
    const auto good = World::loading(context);
    const auto artifact = mock::encode(copy);
    const auto bent = [&](auto bend) {
        Load record = good;
        bend(record);
        return load(record, artifact);
    };
    const auto refuses = [&](std::string_view what, Status wanted, auto bend) {
        probe.refuses(what, bent(bend), wanted);
    };
    refuses("with a flag", Status::unsupported, [](Load& r) { r.flags = 1; });
    refuses("with a flag, before context zero", Status::unsupported, [](Load& r) {
        r.flags = 1;
        r.context_id = {};
    });
    probe.refuses("with a flag, before its artifact's length",
                  bent([](Load& r) { r.flags = 1; }).plus(1), Status::unsupported);
    refuses("in context zero", Status::invalid_argument, [](Load& r) { r.context_id = {}; });
    refuses("of format zero", Status::invalid_argument, [](Load& r) { r.format = 0; });
    refuses("of no resident bytes", Status::invalid_argument,
            [](Load& r) { r.resident_bytes = 0; });
    refuses("that claims no artifact", Status::invalid_argument,
            [](Load& r) { r.payload_bytes = 0; });
    refuses("that claims one byte more", Status::invalid_argument,
            [](Load& r) { r.payload_bytes = mock::reference_artifact_bytes + 1; });
    probe.refuses_either("that claims 2^64 - 1 bytes",
                         bent([](Load& r) { r.payload_bytes = most; }), Status::invalid_argument,
                         Status::resource_limit);
    probe.refuses("of 79 bytes", Request{wire::Opcode::load_program, Bytes(79)},
                  Status::invalid_argument);
    probe.refuses("without an artifact", load(good, {}), Status::invalid_argument);
    refuses("in an unknown context", Status::stale_object,
            [](Load& r) { r.context_id = unknown_id<ContextKind>; });
    refuses("in an unknown context, before its format", Status::stale_object, [](Load& r) {
        r.context_id = unknown_id<ContextKind>;
        r.format = 1;
    });
    if (const auto limit = probe.identity().limits.artifact_bytes; limit < sent_artifact_max) {
        Load record = good;
        record.payload_bytes = limit + 1;
        probe.refuses("of one byte more than the limit", load(record, Bytes(limit + 1)),
                      Status::resource_limit);
        record.context_id = unknown_id<ContextKind>;
        probe.refuses("of one byte more than the limit, before the unknown context",
                      load(record, Bytes(limit + 1)), Status::resource_limit);
    }
    probe.ignores("with one byte of room too few", load(good, artifact).with_capacity(23));
    const auto program = probe.creates<ProgramKind>("with room for its ID exactly",
                                                    load(good, artifact).with_capacity(24));
    probe.accepts("of nobody", {wire::Opcode::unload_program, program});
    probe.refuses("a second time", {wire::Opcode::unload_program, program}, Status::stale_object);
}

void check_artifacts(World& world) {
    Probe& probe = world.probe();
    const auto context = world.context();
    const auto good = World::loading(context);
    const auto refuses = [&](std::string_view what, Status wanted, auto bend) {
        Load record = good;
        bend(record);
        probe.refuses(what, load(record, mock::encode(copy)), wanted);
    };
    refuses("of an unknown format", Status::unsupported, [](Load& r) { r.format = 1; });
    refuses("for another target", Status::incompatible, [](Load& r) { r.target[2] = 0; });
    refuses("with a last target word", Status::incompatible, [](Load& r) { r.target[11] = 1; });
    refuses("with a byte too few to keep", Status::incompatible,
            [](Load& r) { r.resident_bytes = mock::reference_resident_bytes - 1; });
    refuses("with a byte too many to keep", Status::incompatible,
            [](Load& r) { r.resident_bytes = mock::reference_resident_bytes + 1; });
    for (const std::size_t size : {std::size_t{23}, std::size_t{25}}) {
        if (size > probe.identity().limits.artifact_bytes) {
            continue;
        }
        Load record = good;
        record.payload_bytes = size;
        auto artifact = Bytes(size);
        const auto whole = mock::encode(copy);
        std::ranges::copy(std::span{whole}.first(23), artifact.begin());
        probe.refuses("of another length", load(record, artifact), Status::invalid_argument);
    }
    const auto turns = [&](std::string_view what, std::size_t place, Status wanted) {
        Artifact artifact = mock::encode(copy);
        artifact.at(place) ^= std::byte{0x10};
        probe.refuses(what, load(good, artifact), wanted);
    };
    turns("with another magic", at_magic, Status::invalid_argument);
    turns("of another major version", at_major, Status::incompatible);
    turns("of another minor version", at_minor, Status::incompatible);
    turns("of another binding ABI", at_abi, Status::incompatible);
    turns("of an unknown operation", at_operation, Status::unsupported);
    turns("of a copy with an operand", at_operand, Status::invalid_argument);
    turns("with a reserved byte", at_reserved, Status::invalid_argument);
    turns("with the last reserved byte", mock::reference_artifact_bytes - 1,
          Status::invalid_argument);
    const auto refuses_program = [&](std::string_view what, const mock::ReferenceProgram& program) {
        probe.refuses(what, World::load(context, program), Status::invalid_argument);
    };
    refuses_program("of a copy to its source",
                    {.operation = Operation::copy, .first_slot = 1, .second_slot = 1});
    refuses_program("of a fill with two slots",
                    {.operation = Operation::fill, .first_slot = 0, .second_slot = 1});
    refuses_program("of a barrier with an operand",
                    {.operation = Operation::barrier, .first_slot = 0, .operand = 1});
}

}  // namespace virtaccel::cli::probe
