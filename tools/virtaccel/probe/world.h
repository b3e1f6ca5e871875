#pragma once
// What the cases share: a probe, and short ways to make the objects that a check needs. The one
// thing to know: every case starts on an empty device, so none cleans up behind itself.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/request.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli::probe {

inline constexpr std::uint64_t buffer_bytes = 64;

inline constexpr Usage usage_transfer =
    Usage{UsageBit::transfer_source} | UsageBit::transfer_destination;

// IDs that no device has given out.
template <class Kind>
inline constexpr Id<Kind> unknown_id{0xdeadbeefcafef00d};

class World {
  public:
    explicit World(Probe& probe) : probe_(&probe) {}

    [[nodiscard]] Probe& probe() { return *probe_; }

    // A namespace that was not used before.
    [[nodiscard]] std::uint32_t new_seed() { return ++seed_; }

    // A domain that the device offers.
    [[nodiscard]] MemoryDomain domain() const;

    // Requests that are right; a check bends one of them.
    [[nodiscard]] wire::AllocateBuffer allocation(ContextId context, Usage usage) const;
    [[nodiscard]] static wire::LoadProgram loading(ContextId context);
    [[nodiscard]] static Request load(ContextId context, const mock::ReferenceProgram& program);
    [[nodiscard]] static Request write(BufferId buffer, std::uint64_t offset, const Bytes& data);
    [[nodiscard]] static Request read(BufferId buffer, std::uint64_t offset, std::uint64_t bytes);

    // Objects, each of them a judged answer.
    [[nodiscard]] ContextId context();
    [[nodiscard]] QueueId queue(ContextId context);
    [[nodiscard]] BufferId buffer(ContextId context, Usage usage);
    [[nodiscard]] ProgramId program(ContextId context, const mock::ReferenceProgram& program);

    // Polls until the event is terminal, and gives up after a while: nothing then, and the caller
    // has no results to look at.
    [[nodiscard]] std::optional<EventPhase> wait(EventId event);

    // `wait`, then DESTROY_EVENT; true if the work is done and its results can be read.
    [[nodiscard]] bool finish(EventId event);

  private:
    Probe* probe_;
    std::uint32_t seed_ = 0x7e570000;
    bool events_end_ = true;  // false once one was waited for in vain
};

// `bytes` bytes that differ from each other and from zero.
[[nodiscard]] Bytes pattern(std::size_t bytes, unsigned first = 1);

// A binding of a whole buffer of `buffer_bytes`.
[[nodiscard]] wire::Binding binding(std::uint32_t slot, BufferId buffer, Access access);

// SUBMIT of these bindings, in this order.
[[nodiscard]] Request submission(QueueId queue, ProgramId program,
                                 std::span<const wire::Binding> bindings);

}  // namespace virtaccel::cli::probe
