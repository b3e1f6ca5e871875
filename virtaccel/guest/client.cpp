#include "virtaccel/guest/client.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/frame_words.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/sending.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest {
namespace {

using wire::Opcode;

// A request ID is a serial above the slot of the table and one; so it is never zero, and unique
// among outstanding requests even when the serial wraps.
constexpr std::uint32_t slot_bits = 16;
constexpr std::uint32_t slots_max = (1U << slot_bits) - 1;
constexpr std::uint32_t no_slot = std::numeric_limits<std::uint32_t>::max();

// Where a tail begins in the area, behind the request's header and record.
template <class Record>
constexpr std::uint32_t tail_offset = sizeof(wire::RequestHeader) + wire::fixed_bytes<Record>;

constexpr std::uint32_t response_alignment = 8;

// A port's piece over memory that the device only reads.
[[nodiscard]] Piece readable_piece(std::span<const std::byte> bytes) {
    return {.data = const_cast<std::byte*>(bytes.data()), .size = bytes.size()};
}

}  // namespace

Result<Client> Client::make(queue::DriverPort& port, const wire::Config& config,
                            const Memory& memory) {
    if (const auto status = wire::validate(config, wire::Around{.limits = {}});
        status != Status::ok) {
        return fail(status);
    }
    const auto depth = std::min(port.depth_max(), slots_max);
    Array<Slot> slots{memory, depth};
    Array<std::uint32_t> scratch{memory, protocol::bindings_max};
    if (slots.empty() || scratch.empty()) {
        return fail(Status::out_of_memory);
    }
    Client client{port, std::move(slots), std::move(scratch)};
    client.configure(config);
    return client;
}

Client::Client(queue::DriverPort& port, Array<Slot> slots, Array<std::uint32_t> scratch)
    : port_(&port), slots_(std::move(slots)), scratch_(std::move(scratch)) {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
        slots_[i].next_free = i + 1 < slots_.size() ? i + 1 : no_slot;
    }
}

Client::Client(Client&& other) noexcept
    : port_(other.port_),
      slots_(std::move(other.slots_)),
      scratch_(std::move(other.scratch_)),
      first_free_(std::exchange(other.first_free_, no_slot)),
      in_flight_(std::exchange(other.in_flight_, 0)),
      serial_(other.serial_),
      epoch_(other.epoch_),
      pieces_max_(other.pieces_max_),
      state_(std::exchange(other.state_, State::recovery_required)),
      device_lost_(other.device_lost_),
      ended_(std::exchange(other.ended_, 0)),
      ended_cursor_(other.ended_cursor_),
      limits_(other.limits_),
      device_info_(other.device_info_),
      identity_(other.identity_) {}

Client::~Client() {
    VIRTACCEL_CHECK(in_flight_ == 0);
}

void Client::configure(const wire::Config& config) {
    limits_ = wire::FrameLimits{.request_bytes_max = config.request_bytes_max,
                                .response_bytes_max = config.response_bytes_max};
    pieces_max_ = std::min<std::uint32_t>(config.chain_descriptors_max, port_->chain_pieces_max());
    identity_.reset();
}

Failure Client::closed(const Chain& chain, Opcode opcode) const {
    if (chain.in_flight()) {
        return not_sent(opcode, Status::busy, Cause::chain_busy).error();
    }
    return {.status = Status::device_lost,
            .opcode = opcode,
            .kind = FailureKind::recovery_required,
            .cause = Cause::client_closed};
}

template <Opcode op, class Bulk>
Outcome<void> Client::send(Chain& chain, const wire::RequestOf<op>& request, InArea in_area,
                           Bulk bulk) {
    using Request = wire::RequestOf<op>;
    if (!is_open(chain)) [[unlikely]] {
        return std::unexpected{closed(chain, op)};
    }
    const auto tail_bytes = in_area.request_bytes + bulk.request_bytes();
    if constexpr (!std::is_empty_v<Request>) {
        const wire::Around around{.limits = limits_, .tail_bytes = tail_bytes};
        auto status = wire::validate(request, around);
        if constexpr (requires { wire::Schema<Request>::checks_after_tail; }) {
            if (status == Status::ok) {
                status =
                    wire::first_failure(request, around, wire::Schema<Request>::checks_after_tail);
            }
        }
        if (status != Status::ok) [[unlikely]] {
            return not_sent(op, status, Cause::request);
        }
    }
    constexpr auto fixed = tail_offset<Request>;
    if (tail_bytes > limits_.request_bytes_max - fixed) [[unlikely]] {
        return not_sent(op, Status::resource_limit, Cause::request);
    }
    if (chain.area_.size() < fixed) [[unlikely]] {
        return not_sent(op, Status::invalid_argument, Cause::chain_room);
    }
    if constexpr (!std::is_empty_v<Request>) {
        std::memcpy(chain.area_.data() + sizeof(wire::RequestHeader), &request, sizeof request);
    }
    constexpr std::uint32_t response_fixed =
        sizeof(wire::ResponseHeader) + wire::fixed_bytes<wire::ReplyOf<op>>;
    return post(chain,
                {.opcode = op,
                 .request_bytes = fixed + in_area.request_bytes,
                 .response_bytes = response_fixed + in_area.response_bytes},
                bulk);
}

template <class Bulk>
Outcome<void> Client::post(Chain& chain, Frame frame, Bulk bulk) {
    const auto response_offset =
        (frame.request_bytes + response_alignment - 1) & ~(response_alignment - 1);
    const std::uint64_t area_bytes =
        response_offset +
        std::max<std::uint64_t>(frame.response_bytes, Chain::response_start_bytes);
    std::array<Piece, Chain::fixed_pieces + Bulk::pieces_at_hand> few_pieces;
    const auto pieces = Chain::fixed_pieces + bulk.pieces();
    const bool few = pieces <= few_pieces.size();
    if (area_bytes > chain.area_.size() || (!few && pieces > chain.many_pieces_.size()))
        [[unlikely]] {
        return not_sent(frame.opcode, Status::invalid_argument, Cause::chain_room);
    }
    if (pieces > pieces_max_) [[unlikely]] {
        return not_sent(frame.opcode, Status::resource_limit, Cause::request);
    }
    const auto slot = first_free_;
    if (slot == no_slot) [[unlikely]] {
        return queue_full(frame.opcode);
    }

    const auto payload_bytes = static_cast<std::uint32_t>(
        frame.request_bytes - sizeof(wire::RequestHeader) + bulk.request_bytes());
    const auto request_id = (serial_ << slot_bits) | (slot + 1);
    std::byte* const area = chain.area_.data();
    store_header(area, static_cast<std::uint16_t>(frame.opcode), payload_bytes, request_id);
    Piece* const list = few ? few_pieces.data() : chain.many_pieces_.data();
    *list = {.data = area, .size = frame.request_bytes};
    Piece* const writable = bulk.append_to_request(list + 1);
    *writable = {.data = area + response_offset, .size = frame.response_bytes};
    Piece* const end = bulk.append_to_response(writable + 1);

    const auto posted = port_->post({list, writable}, {writable, end}, slot);
    if (posted != queue::Posted::ok) [[unlikely]] {
        if (posted == queue::Posted::full) {
            return queue_full(frame.opcode);
        }
        require_recovery();
        return std::unexpected{Failure{.status = Status::device_lost,
                                       .opcode = frame.opcode,
                                       .kind = FailureKind::recovery_required,
                                       .cause = Cause::ring}};
    }

    ++serial_;
    ++in_flight_;
    first_free_ = slots_[slot].next_free;
    slots_[slot].chain = &chain;
    chain.stage_ = Chain::Stage::in_flight;
    chain.failure_.opcode = frame.opcode;
    chain.request_id_ = request_id;
    chain.response_offset_ = response_offset;
    chain.response_bytes_ =
        frame.response_bytes + static_cast<std::uint32_t>(bulk.response_bytes());
    return {};
}

template <Opcode op, class KindTag>
Outcome<void> Client::send_named(Chain& chain, const Handle<KindTag>& handle) {
    if (!handle.is_of(realm())) [[unlikely]] {
        return foreign_handle(op);
    }
    return send<op>(chain, {.object_id = handle.id()}, {}, NoBulk{});
}

template <Opcode op, class KindTag>
Outcome<void> Client::send_release(Chain& chain, Handle<KindTag>& handle) {
    auto sent = send_named<op>(chain, handle);
    if (sent) [[likely]] {
        chain.subject_ = handle.id().raw;
        handle = {};
    }
    return sent;
}

template <Opcode op, class Bulk>
Outcome<void> Client::send_transfer(Chain& chain, const BufferHandle& buffer, ByteRange range,
                                    InArea in_area, Bulk bulk) {
    if (!buffer.is_of(realm())) [[unlikely]] {
        return foreign_handle(op);
    }
    return send<op>(chain, {.buffer_id = buffer.id(), .offset = range.offset, .bytes = range.bytes},
                    in_area, bulk);
}

Outcome<void> Client::get_device_info(Chain& chain) {
    return send<Opcode::get_device_info>(chain, {}, {}, NoBulk{});
}

Outcome<void> Client::create_context(Chain& chain) {
    return send<Opcode::create_context>(chain, {}, {}, NoBulk{});
}

Outcome<void> Client::allocate_buffer(Chain& chain, const ContextHandle& context,
                                      const BufferSpec& spec) {
    if (!context.is_of(realm())) [[unlikely]] {
        return foreign_handle(Opcode::allocate_buffer);
    }
    return send<Opcode::allocate_buffer>(chain,
                                         {.context_id = context.id(),
                                          .bytes = spec.bytes,
                                          .alignment = spec.alignment,
                                          .memory_domain = static_cast<std::uint8_t>(spec.domain),
                                          .reserved0 = {},
                                          .usage = spec.usage.bits,
                                          .reserved1 = {}},
                                         {}, NoBulk{});
}

Outcome<void> Client::write_buffer(Chain& chain, const BufferHandle& buffer, std::uint64_t offset,
                                   std::span<const std::byte> data) {
    constexpr auto op = Opcode::write_buffer;
    constexpr auto at = tail_offset<wire::WriteBuffer>;
    if (!is_open(chain)) [[unlikely]] {
        return std::unexpected{closed(chain, op)};
    }
    if (chain.area_.size() < at || data.size() > chain.area_.size() - at ||
        data.size() > protocol::frame_bytes_max) [[unlikely]] {
        return not_sent(op, Status::invalid_argument, Cause::chain_room);
    }
    // Not std::ranges::copy, which g++ 12 makes a loop over single bytes.
    if (!data.empty()) {
        copy_run(chain.area_.data() + at, data.data(), data.size());
    }
    return send_transfer<op>(chain, buffer, {.offset = offset, .bytes = data.size()},
                             {.request_bytes = static_cast<std::uint32_t>(data.size())}, NoBulk{});
}

Outcome<void> Client::write_prepared(Chain& chain, const BufferHandle& buffer, std::uint64_t offset,
                                     std::span<const std::byte> source) {
    const Piece piece = readable_piece(source);
    return write_prepared(chain, buffer, offset,
                          PieceList{.pieces = {&piece, 1}, .bytes = piece.size, .lease = {}});
}

Outcome<void> Client::write_prepared(Chain& chain, const BufferHandle& buffer, std::uint64_t offset,
                                     const PieceList& source) {
    return send_transfer<Opcode::write_buffer>(
        chain, buffer, {.offset = offset, .bytes = source.bytes}, {}, RequestBulk{source});
}

Outcome<void> Client::read_buffer(Chain& chain, const BufferHandle& buffer, ByteRange range) {
    if (range.bytes > protocol::frame_bytes_max) [[unlikely]] {
        return not_sent(Opcode::read_buffer, Status::resource_limit, Cause::request);
    }
    auto sent = send_transfer<Opcode::read_buffer>(
        chain, buffer, range, {.response_bytes = static_cast<std::uint32_t>(range.bytes)},
        NoBulk{});
    if (sent) [[likely]] {
        chain.read_into_ =
            chain.area_.data() + chain.response_offset_ + sizeof(wire::ResponseHeader);
    }
    return sent;
}

Outcome<void> Client::read_prepared(Chain& chain, const BufferHandle& buffer, std::uint64_t offset,
                                    std::span<std::byte> target) {
    const Piece piece{.data = target.data(), .size = target.size()};
    return read_prepared(chain, buffer, offset,
                         PieceList{.pieces = {&piece, 1}, .bytes = piece.size, .lease = {}});
}

Outcome<void> Client::read_prepared(Chain& chain, const BufferHandle& buffer, std::uint64_t offset,
                                    const PieceList& target) {
    auto sent = send_transfer<Opcode::read_buffer>(
        chain, buffer, {.offset = offset, .bytes = target.bytes}, {}, ResponseBulk{target});
    if (sent) [[likely]] {
        chain.read_into_ = target.pieces.size() == 1 ? target.pieces.front().data : nullptr;
    }
    return sent;
}

Outcome<void> Client::send_load(Chain& chain, wire::LoadProgram& request,
                                std::span<const std::byte> head, const PieceList& tail) {
    constexpr auto op = Opcode::load_program;
    constexpr auto at = tail_offset<wire::LoadProgram>;
    if (!is_open(chain)) [[unlikely]] {
        return std::unexpected{closed(chain, op)};
    }
    if (chain.area_.size() < at + head.size()) [[unlikely]] {
        return not_sent(op, Status::invalid_argument, Cause::chain_room);
    }
    if (!head.empty()) {
        copy_run(chain.area_.data() + at, head.data(), head.size());
    }
    request.payload_bytes = head.size() + tail.bytes;
    return send<op>(chain, request, {.request_bytes = static_cast<std::uint32_t>(head.size())},
                    RequestBulk{tail});
}

Outcome<void> Client::create_queue(Chain& chain, const ContextHandle& context) {
    if (!context.is_of(realm())) [[unlikely]] {
        return foreign_handle(Opcode::create_queue);
    }
    return send<Opcode::create_queue>(
        chain, {.context_id = context.id(), .flags = {}, .reserved = {}}, {}, NoBulk{});
}

Outcome<void> Client::submit(Chain& chain, const Submission& submission) {
    constexpr auto op = Opcode::submit;
    constexpr auto at = tail_offset<wire::Submit>;
    if (!is_open(chain)) [[unlikely]] {
        return std::unexpected{closed(chain, op)};
    }
    if (!submission.queue.is_of(realm()) || !submission.program.is_of(realm())) [[unlikely]] {
        return foreign_handle(op);
    }
    const auto count = submission.bindings.size();
    if (count == 0) [[unlikely]] {
        return not_sent(op, Status::invalid_argument, Cause::request);
    }
    if (count > bindings_max()) [[unlikely]] {
        return not_sent(op, Status::resource_limit, Cause::request);
    }
    const auto tail_bytes = static_cast<std::uint32_t>(count * sizeof(wire::Binding));
    if (chain.area_.size() < at + tail_bytes) [[unlikely]] {
        return not_sent(op, Status::invalid_argument, Cause::chain_room);
    }
    if (auto encoded = encode_bindings(chain.area_.data() + at, submission.bindings); !encoded)
        [[unlikely]] {
        return encoded;
    }
    return send<op>(chain,
                    {.queue_id = submission.queue.id(),
                     .program_id = submission.program.id(),
                     .binding_count = static_cast<std::uint32_t>(count),
                     .flags = {},
                     .timeout_ns = submission.timeout_ns},
                    {.request_bytes = tail_bytes}, NoBulk{});
}

Outcome<void> Client::poll_event(Chain& chain, const EventHandle& event) {
    return send_named<Opcode::poll_event>(chain, event);
}

Outcome<void> Client::cancel_event(Chain& chain, const EventHandle& event) {
    return send_named<Opcode::cancel_event>(chain, event);
}

Outcome<void> Client::release(Chain& chain, ContextHandle& handle) {
    return send_release<Opcode::destroy_context>(chain, handle);
}

Outcome<void> Client::release(Chain& chain, BufferHandle& handle) {
    return send_release<Opcode::free_buffer>(chain, handle);
}

Outcome<void> Client::release(Chain& chain, ProgramHandle& handle) {
    return send_release<Opcode::unload_program>(chain, handle);
}

Outcome<void> Client::release(Chain& chain, QueueHandle& handle) {
    return send_release<Opcode::destroy_queue>(chain, handle);
}

Outcome<void> Client::release(Chain& chain, EventHandle& handle) {
    return send_release<Opcode::destroy_event>(chain, handle);
}

}  // namespace virtaccel::guest
