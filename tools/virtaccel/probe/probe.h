#pragma once
// Asks a device and judges its answers, one line for each. The one thing to know: an answer is
// right only if all of it is: used length, header, request ID, status and payload.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/stdio/framing.h"
#include "tools/virtaccel/probe/peer.h"
#include "tools/virtaccel/probe/request.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli::probe {

// What came back. `used_bytes` of zero: nothing.
struct Answer {
    std::uint32_t used_bytes = 0;
    Status status = Status::internal_error;
    Bytes payload;
};

// How to end what went out of step, for the judge's caller.
struct Tally {
    std::uint32_t right = 0;
    std::uint32_t wrong = 0;
};

class Probe {
  public:
    // Judges `peer`, which outlives this, and gives each line to `say`. `strict` demands our own
    // answer where the protocol leaves two open.
    Probe(Peer& peer, bool strict, std::function<void(std::string_view)> say)
        : peer_(&peer), strict_(strict), say_(std::move(say)) {}

    // Each of these sends one request, judges the answer and says so. `what` completes the
    // command's name: "with a flag".

    // Refused with exactly `wanted`: 16 bytes.
    void refuses(std::string_view what, const Request& request, Status wanted);

    // Refused with one of two; a strict probe wants the first.
    void refuses_either(std::string_view what, const Request& request, Status ours, Status other);

    // Completed with used length zero.
    void ignores(std::string_view what, const Request& request);

    // OK, with exactly `payload_bytes` bytes; the payload, or nothing if the answer is wrong.
    std::optional<Bytes> accepts(std::string_view what, const Request& request,
                                 std::size_t payload_bytes = 0);

    // OK, with a record that passes its own checks.
    template <class Record>
    std::optional<Record> accepts_record(std::string_view what, const Request& request) {
        const auto payload = accepts(what, request, sizeof(Record));
        if (!payload) {
            return std::nullopt;
        }
        const auto record = wire::decode<Record>(*payload);
        judge(record.has_value(), what, "an answer that passes the driver's checks");
        return record ? std::optional{*record} : std::nullopt;
    }

    // OK, with the ID of a new object, which is not zero; the zero ID if the answer is wrong.
    template <class Kind>
    Id<Kind> creates(std::string_view what, const Request& request) {
        const auto record = accepts_record<wire::Object<Kind>>(what, request);
        return record ? static_cast<Id<Kind>>(record->object_id) : Id<Kind>{};
    }

    // Any well-formed answer: for outcomes that the device decides. Wrong if it is none.
    std::optional<Answer> asks(std::string_view what, const Request& request);

    // A transport reset that is answered with one of `accepted`.
    void resets(std::string_view what, std::uint32_t seed,
                std::initializer_list<adapters::stdio::ResetReply> accepted);

    // A finding of the caller's own: `wanted` names what `good` stands for.
    void judge(bool good, std::string_view what, std::string_view wanted);

    // A line that is neither right nor wrong.
    void note(std::string_view line) { say_(line); }

    // What the device said of itself; set by the first case.
    void set_identity(const DeviceIdentity& identity) { identity_ = identity; }

    [[nodiscard]] const DeviceIdentity& identity() const { return identity_; }

    [[nodiscard]] bool strict() const { return strict_; }

    [[nodiscard]] Tally tally() const { return tally_; }

    // Why nothing more can be asked; empty while it can.
    [[nodiscard]] const std::string& failure() const { return failure_; }

  private:
    [[nodiscard]] std::optional<Answer> ask(std::string_view what, const Request& request);
    void settle(bool good, const std::string& line);

    Peer* peer_;
    bool strict_;
    std::function<void(std::string_view)> say_;
    DeviceIdentity identity_;
    std::uint64_t request_id_ = 0x7001;
    std::string failure_;
    Tally tally_;
};

}  // namespace virtaccel::cli::probe
