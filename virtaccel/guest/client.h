#pragma once
// The nonblocking client: calls in, frames out over one driver port, completions back. An operation
// posts a request on a caller's chain and returns; `next` gives completed chains back in the
// device's order, and `result` says what came of one. The one thing to know: a call that returns a
// failure posted nothing, left the handles as they were, and can be repeated with the same chain.
//
//     Chain chain = *Chain::make(memory, Chain::control_bytes);
//     if (client.create_context(chain)) { client.kick(); }
//     while (Chain* done = client.next()) {
//         auto context = client.result<wire::Opcode::create_context>(*done);
//     }

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <type_traits>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest {

// Not safe for use from two threads at once. Allocates when it is made and never after.
class Client {
  public:
    // A client of the device behind `port`, which outlives it and on which nothing is outstanding.
    // INCOMPATIBLE if `config` is not one of protocol 1 (spec §5), OUT_OF_MEMORY if `memory`
    // refuses the request table (16 bytes for each chain the port can have in flight) or 16 KiB
    // to check bindings in.
    [[nodiscard]] static Result<Client> make(queue::DriverPort& port, const wire::Config& config,
                                             const Memory& memory);

    Client(Client&& other) noexcept;
    Client& operator=(Client&& other) = delete;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // Nothing may be in flight: complete it, or reset, first.
    ~Client();

    // Operations. Each is checked by the rules of the wire and the device's limits, then posted on
    // `chain`; the device sees it at the next `kick`, at the latest. All fail alike:
    //   backpressure                the queue is full
    //   not_sent                    a rule or limit is broken, or the chain is too small or in use
    //   invalidated                 a handle is not of this client and epoch
    //   recovery_required           the client waits for a reset
    // and leave the handles and the chain with the caller. Only the bytes in the chain's area, the
    // last response among them, may have changed.
    [[nodiscard]] Outcome<void> get_device_info(Chain& chain);
    [[nodiscard]] Outcome<void> create_context(Chain& chain);
    [[nodiscard]] Outcome<void> allocate_buffer(Chain& chain, const ContextHandle& context,
                                                const BufferSpec& spec);

    // `data` are copied into the chain's area.
    [[nodiscard]] Outcome<void> write_buffer(Chain& chain, const BufferHandle& buffer,
                                             std::uint64_t offset, std::span<const std::byte> data);

    // `source`, which the device can reach, is read where it stands until completion.
    [[nodiscard]] Outcome<void> write_prepared(Chain& chain, const BufferHandle& buffer,
                                               std::uint64_t offset,
                                               std::span<const std::byte> source);
    [[nodiscard]] Outcome<void> write_prepared(Chain& chain, const BufferHandle& buffer,
                                               std::uint64_t offset, const PieceList& source);

    // The bytes come into the chain's area.
    [[nodiscard]] Outcome<void> read_buffer(Chain& chain, const BufferHandle& buffer,
                                            ByteRange range);

    // The bytes come into `target`, which the device can reach until completion.
    [[nodiscard]] Outcome<void> read_prepared(Chain& chain, const BufferHandle& buffer,
                                              std::uint64_t offset, std::span<std::byte> target);
    [[nodiscard]] Outcome<void> read_prepared(Chain& chain, const BufferHandle& buffer,
                                              std::uint64_t offset, const PieceList& target);

    // `spec.artifact`, which the device can reach, is read where it stands until completion.
    [[nodiscard]] Outcome<void> load_program(Chain& chain, const ContextHandle& context,
                                             const ProgramSpec& spec);

    // LOAD_PROGRAM of a part, of at most `part_bytes_max()` bytes, which the device can reach and
    // reads where they stand; and of what the parts of a key make. `PartedLoad` (parted_load.h)
    // does all of it. A device that does not join parts refuses the first one.
    [[nodiscard]] Outcome<void> load_part(Chain& chain, const ContextHandle& context,
                                          const PartSpec& part);
    [[nodiscard]] Outcome<void> load_joined(Chain& chain, const ContextHandle& context,
                                            const JoinSpec& join);
    [[nodiscard]] Outcome<void> create_queue(Chain& chain, const ContextHandle& context);

    // At most `bindings_max()` bindings, slots unique, in any order; ascending or descending order
    // is checked fastest. The area holds 32 bytes for each.
    [[nodiscard]] Outcome<void> submit(Chain& chain, const Submission& submission);
    [[nodiscard]] Outcome<void> poll_event(Chain& chain, const EventHandle& event);
    [[nodiscard]] Outcome<void> cancel_event(Chain& chain, const EventHandle& event);

    // DESTROY_CONTEXT, FREE_BUFFER, UNLOAD_PROGRAM, DESTROY_QUEUE, DESTROY_EVENT. Empties `handle`
    // if it is posted; `result` gives the object back if the device keeps it.
    [[nodiscard]] Outcome<void> release(Chain& chain, ContextHandle& handle);
    [[nodiscard]] Outcome<void> release(Chain& chain, BufferHandle& handle);
    [[nodiscard]] Outcome<void> release(Chain& chain, ProgramHandle& handle);
    [[nodiscard]] Outcome<void> release(Chain& chain, QueueHandle& handle);
    [[nodiscard]] Outcome<void> release(Chain& chain, EventHandle& handle);

    // Makes the device look at what was posted. Once per batch is enough.
    void kick() { port_->kick(); }

    // The next completed chain, judged (spec §5, "What the driver checks"), or null. After a reset,
    // first every chain that the reset ended. A response that breaks the rules ends its chain with
    // recovery_required; then nothing more completes until a reset.
    [[nodiscard]] Chain* next();

    // What came of `chain`'s last request, which was `op` and has completed. Good until the chain
    // is posted again. A handle is in it once: a second call claims the same object.
    template <wire::Opcode op>
    [[nodiscard]] ResultOf<op> result(Chain& chain);

    // Requests posted and not yet given back by `next`.
    [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }

    // True if nothing can be posted before a reset.
    [[nodiscard]] bool needs_reset() const { return state_ != State::ready; }

    // True if the device has answered DEVICE_LOST since the last reset.
    [[nodiscard]] bool device_lost() const { return device_lost_; }

    // Closes the client, as after a broken rule; for a caller that stops waiting.
    void require_recovery() { state_ = State::recovery_required; }

    // Reset (spec §7). `begin_reset` closes the client; then the caller resets the device and
    // empties the port, so that nobody writes into a chain any more; then `finish_reset` makes all
    // handles stale, ends all requests as invalidated (through `next`) and opens the client with
    // the device's new configuration. On INCOMPATIBLE the client stays closed.
    void begin_reset() { state_ = State::recovery_required; }

    [[nodiscard]] Status finish_reset(const wire::Config& config);

    // The device's identity, once a GET_DEVICE_INFO result was taken since the last reset.
    [[nodiscard]] const std::optional<DeviceIdentity>& identity() const { return identity_; }

    // What one request can carry: the smaller of what the device advertises and what a frame holds.
    [[nodiscard]] std::uint64_t write_bytes_max() const;
    [[nodiscard]] std::uint64_t read_bytes_max() const;
    [[nodiscard]] std::uint64_t artifact_bytes_max() const;
    [[nodiscard]] std::uint64_t part_bytes_max() const;  // zero if not even a byte fits
    [[nodiscard]] std::uint32_t bindings_max() const;

    // Where handles made now are good.
    [[nodiscard]] Realm realm() const { return {.client = slots_.data(), .epoch = epoch_}; }

    // A handle to an ID that came by another way.
    template <class KindTag>
    [[nodiscard]] Handle<KindTag> adopt(Id<KindTag> id) const {
        return {id, realm()};
    }

  private:
    enum class State : std::uint8_t { ready, recovery_required };

    // A request in flight, or a link of the free list.
    struct Slot {
        Chain* chain = nullptr;
        std::uint32_t next_free = 0;
    };

    // Bytes that stand in the chain's area behind the records of request and response.
    struct InArea {
        std::uint32_t request_bytes = 0;
        std::uint32_t response_bytes = 0;
    };

    // The bytes of a request and its response that stand in the chain's area, all told.
    struct Frame {
        wire::Opcode opcode = wire::Opcode::get_device_info;
        std::uint32_t request_bytes = 0;
        std::uint32_t response_bytes = 0;
    };

    Client(queue::DriverPort& port, Array<Slot> slots, Array<std::uint32_t> scratch);

    // Sending (client.cpp).
    void configure(const wire::Config& config);

    [[nodiscard]] bool is_open(const Chain& chain) const {
        return state_ == State::ready && !chain.in_flight();
    }

    [[nodiscard]] Failure closed(const Chain& chain, wire::Opcode opcode) const;
    template <wire::Opcode op, class Bulk>
    Outcome<void> send(Chain& chain, const wire::RequestOf<op>& request, InArea in_area, Bulk bulk);
    template <class Bulk>
    Outcome<void> post(Chain& chain, Frame frame, Bulk bulk);
    template <wire::Opcode op, class KindTag>
    Outcome<void> send_named(Chain& chain, const Handle<KindTag>& handle);
    template <wire::Opcode op, class KindTag>
    Outcome<void> send_release(Chain& chain, Handle<KindTag>& handle);
    // `head` stands in the area, before `tail`.
    Outcome<void> send_load(Chain& chain, wire::LoadProgram& request,
                            std::span<const std::byte> head, const PieceList& tail);
    template <wire::Opcode op, class Bulk>
    Outcome<void> send_transfer(Chain& chain, const BufferHandle& buffer, ByteRange range,
                                InArea in_area, Bulk bulk);
    [[nodiscard]] Outcome<void> encode_bindings(std::byte* target,
                                                std::span<const Binding> bindings);
    [[nodiscard]] bool has_duplicate_slot(std::span<const Binding> bindings);

    // Completion (completion.cpp).
    void judge(Chain& chain, std::uint32_t used_bytes);
    void judge_failure(Chain& chain, const wire::ResponseHeader& header, std::uint32_t used_bytes);
    [[nodiscard]] Chain* next_ended_by_reset();
    void free_slot(std::uint32_t index);
    Failure distrust(Chain& chain, Cause cause);

    [[nodiscard]] Outcome<DeviceIdentity> take_device_info(Chain& chain);
    [[nodiscard]] Outcome<EventStatus> take_event_status(Chain& chain);
    [[nodiscard]] Outcome<std::uint64_t> take_id(Chain& chain);
    [[nodiscard]] Outcome<Submitted> take_submitted(Chain& chain);
    [[nodiscard]] static std::span<const std::byte> bytes_read(const Chain& chain);
    static void expect_completed(const Chain& chain, wire::Opcode op);

    queue::DriverPort* port_;
    Array<Slot> slots_;
    Array<std::uint32_t> scratch_;
    std::uint32_t first_free_ = 0;
    std::uint32_t in_flight_ = 0;
    std::uint64_t serial_ = 1;
    std::uint32_t epoch_ = 1;
    std::uint32_t pieces_max_ = 0;
    State state_ = State::ready;
    bool device_lost_ = false;
    std::uint32_t ended_ = 0;  // by a reset, and not yet given back
    std::uint32_t ended_cursor_ = 0;
    wire::FrameLimits limits_;
    wire::DeviceInfo device_info_;  // that `identity_` was made from
    std::optional<DeviceIdentity> identity_;
};

template <wire::Opcode op>
ResultOf<op> Client::result(Chain& chain) {
    using Result = ResultOf<op>;
    expect_completed(chain, op);
    if constexpr (detail::is_release<op>) {
        if (chain.stage_ == Chain::Stage::succeeded) {
            return Result{};
        }
        using Kind = typename detail::KindOf<wire::RequestOf<op>>::Kind;
        const auto kind = chain.failure_.kind;
        const bool kept = kind == FailureKind::retryable || kind == FailureKind::unknown_status;
        return std::unexpected{Unreleased<Kind>{
            .failure = chain.failure_,
            .handle = kept ? Handle<Kind>{Id<Kind>{chain.subject_}, realm()} : Handle<Kind>{}}};
    } else if constexpr (op == wire::Opcode::get_device_info) {
        return take_device_info(chain);
    } else if constexpr (op == wire::Opcode::poll_event) {
        return take_event_status(chain);
    } else if constexpr (op == wire::Opcode::submit) {
        return take_submitted(chain);
    } else if constexpr (op == wire::Opcode::read_buffer) {
        if (chain.stage_ == Chain::Stage::failed) {
            return std::unexpected{chain.failure_};
        }
        return bytes_read(chain);
    } else if constexpr (std::is_void_v<typename Result::value_type>) {
        if (chain.stage_ == Chain::Stage::failed) {
            return std::unexpected{chain.failure_};
        }
        return Result{};
    } else {
        using Kind = typename detail::KindOf<wire::ReplyOf<op>>::Kind;
        const auto raw = take_id(chain);
        if (!raw) {
            return std::unexpected{raw.error()};
        }
        return Handle<Kind>{Id<Kind>{*raw}, realm()};
    }
}

}  // namespace virtaccel::guest
