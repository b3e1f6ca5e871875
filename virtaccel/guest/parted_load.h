#pragma once
// A load of an artifact that one frame does not carry, as the commands that carry it: one for each
// part, and a last one that joins them (spec/parts.md). It is driven like the client itself:
//
//     auto load = PartedLoad::make(client, spec, key, memory);
//     while (!load->is_over()) {
//         load->post(client, chain, context);  // kick, and wait for the completion
//         load->take(client.result<wire::Opcode::load_program>(chain));
//     }
//     for (ProgramHandle& part : load->parts()) { client.release(chain, part); ... }
//     auto program = load->result();
//
// The one thing to know: the parts are programs of the caller until it releases them, whether the
// load succeeded or not; the program needs them no more.

#include <cstddef>
#include <optional>
#include <span>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"

namespace virtaccel::guest {

class PartedLoad {
  public:
    // A load of `spec`, whose artifact stays where it is, under a key that is new to its context.
    // `memory` is private to the guest. Fails as not sent: RESOURCE_LIMIT if the device takes no
    // artifact so large, or no part at all, or not as many programs as there are parts and one;
    // OUT_OF_MEMORY.
    [[nodiscard]] static Outcome<PartedLoad> make(const Client& client, const ProgramSpec& spec,
                                                  const parts::Key& key, const Memory& memory);

    // True if nothing is left to post.
    [[nodiscard]] bool is_over() const { return failure_ || program_; }

    // The bytes that the next command carries; none if that is the join.
    [[nodiscard]] std::span<const std::byte> next_bytes() const;

    // Posts the next command, its bytes from where the artifact is; and the same with these bytes
    // from elsewhere. If that fails, it can be done again.
    [[nodiscard]] Outcome<void> post(Client& client, Chain& chain,
                                     const ContextHandle& context) const {
        return post(client, chain, context, next_bytes());
    }

    [[nodiscard]] Outcome<void> post(Client& client, Chain& chain, const ContextHandle& context,
                                     std::span<const std::byte> bytes) const;

    // Takes what came of the command posted last. A failure ends the load: with Cause::parts if the
    // device does not know what a part is.
    void take(Outcome<ProgramHandle> loaded);

    // The parts that are on the device.
    [[nodiscard]] std::span<ProgramHandle> parts() { return {parts_.data(), loaded_}; }

    // The program, once, or why there is none; after the end.
    [[nodiscard]] Outcome<ProgramHandle> result();

  private:
    PartedLoad(const ProgramSpec& spec, const parts::Key& key, std::size_t part_bytes,
               Array<ProgramHandle> parts);

    ProgramSpec spec_;
    parts::Key key_;
    std::size_t part_bytes_;
    std::size_t loaded_ = 0;
    Array<ProgramHandle> parts_;
    std::optional<ProgramHandle> program_;
    std::optional<Failure> failure_;
};

}  // namespace virtaccel::guest
