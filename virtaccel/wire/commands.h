#pragma once
// The fifteen commands (spec §4): one row each. Size limits, guest call signatures, the device's
// dispatch and the printed documents come from this table; a new command is one new row.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::wire {

enum class Opcode : std::uint16_t {
    get_device_info = 0x0001,
    create_context = 0x0100,
    destroy_context = 0x0101,
    allocate_buffer = 0x0200,
    free_buffer = 0x0201,
    write_buffer = 0x0202,
    read_buffer = 0x0203,
    load_program = 0x0300,
    unload_program = 0x0301,
    create_queue = 0x0400,
    destroy_queue = 0x0401,
    submit = 0x0500,
    poll_event = 0x0501,
    cancel_event = 0x0502,
    destroy_event = 0x0503,
};

// No payload at all.
struct Empty {};

// What follows the fixed part of a payload.
enum class Tail : std::uint8_t { none, data, artifact, bindings };

template <class Record>
inline constexpr std::size_t fixed_bytes = std::is_empty_v<Record> ? 0 : sizeof(Record);

// A status a command may answer with, and when.
struct Refusal {
    Status status = Status::ok;
    std::string_view when;
};

// One row of the protocol: what a command is called, carries and answers, and why it can be refused
// beyond what every command can be refused for (`common_refusals`).
template <Opcode op, class RequestRecord, class ReplyRecord, std::size_t refusal_count>
struct Command {
    static constexpr Opcode opcode = op;
    using Request = RequestRecord;
    using Reply = ReplyRecord;

    std::string_view name;
    std::string_view doc;
    Tail request_tail = Tail::none;
    Tail reply_tail = Tail::none;
    std::array<Refusal, refusal_count> refusals;
};

template <Opcode op, class Request, class Reply, std::size_t n>
consteval auto command(std::string_view name, std::string_view doc, Tail request_tail,
                       Tail reply_tail, const Refusal (&refusals)[n]) {
    return Command<op, Request, Reply, n>{name, doc, request_tail, reply_tail,
                                          std::to_array(refusals)};
}

inline constexpr Refusal common_refusals[] = {
    {Status::unsupported, "A flag is set, or the opcode is not assigned."},
    {Status::invalid_argument, "The payload is malformed, or request_id is zero."},
    {Status::resource_limit, "The frame is larger than the device takes or may answer."},
    {Status::device_lost, "The device needs a reset."},
    {Status::internal_error, "The host failed in a way that has no better name."},
};

inline constexpr Refusal release_refusals[] = {
    {Status::stale_object, "The ID names no live object of this kind."},
    {Status::busy, "The object is in use, or has children."},
    {Status::device_lost,
     "The release is indeterminate: the ID is gone, the device needs a reset."},
};

inline constexpr Refusal creation_refusals[] = {
    {Status::stale_object, "The context is not live."},
    {Status::resource_limit, "The context's quota is used up."},
    {Status::out_of_memory, "The host has no memory for it."},
};

inline constexpr std::tuple commands{
    command<Opcode::get_device_info, Empty, DeviceInfo>(
        "GET_DEVICE_INFO", "Tells who the device is and its limits.", Tail::none, Tail::none,
        {{Status::device_lost, "The device needs a reset."}}),
    command<Opcode::create_context, CreateContext, Object<ContextKind>>(
        "CREATE_CONTEXT", "Creates a context.", Tail::none, Tail::none,
        {{Status::resource_limit, "The device has no more contexts."},
         {Status::out_of_memory, "The host has no memory for it."}}),
    command<Opcode::destroy_context, Object<ContextKind>, Empty>(
        "DESTROY_CONTEXT", "Destroys a context without children.", Tail::none, Tail::none,
        release_refusals),
    command<Opcode::allocate_buffer, AllocateBuffer, Object<BufferKind>>(
        "ALLOCATE_BUFFER", "Allocates a zeroed buffer.", Tail::none, Tail::none,
        {{Status::unsupported, "An unknown usage bit, or a domain the device does not offer."},
         {Status::resource_limit, "Larger than max_buffer_bytes, or a quota is used up."},
         {Status::stale_object, "The context is not live."},
         {Status::out_of_memory, "The host has no memory for it."},
         {Status::device_lost, "An unwanted allocation could not be given back."}}),
    command<Opcode::free_buffer, Object<BufferKind>, Empty>(
        "FREE_BUFFER", "Frees a buffer that no event references.", Tail::none, Tail::none,
        release_refusals),
    command<Opcode::write_buffer, WriteBuffer, Empty>(
        "WRITE_BUFFER", "Writes the data that follow into a buffer.", Tail::data, Tail::none,
        {{Status::stale_object, "The buffer is not live."},
         {Status::busy, "An undestroyed event references the buffer."},
         {Status::out_of_bounds, "The range leaves the buffer."},
         {Status::permission_denied, "The buffer is no transfer destination."}}),
    command<Opcode::read_buffer, ReadBuffer, Empty>(
        "READ_BUFFER", "Reads a range of a buffer.", Tail::none, Tail::data,
        {{Status::stale_object, "The buffer is not live."},
         {Status::busy, "An undestroyed event references the buffer."},
         {Status::out_of_bounds, "The range leaves the buffer."},
         {Status::permission_denied, "The buffer is no transfer source."},
         {Status::resource_limit, "The response would exceed max_response_bytes."}}),
    command<Opcode::load_program, LoadProgram, Object<ProgramKind>>(
        "LOAD_PROGRAM", "Loads the artifact that follows.", Tail::artifact, Tail::none,
        {{Status::unsupported, "The backend does not take this format or operation."},
         {Status::incompatible, "The artifact is not for this device."},
         {Status::resource_limit, "Larger than max_artifact_bytes, or a quota is used up."},
         {Status::stale_object, "The context is not live."},
         {Status::out_of_memory, "The host has no memory for it."}}),
    command<Opcode::unload_program, Object<ProgramKind>, Empty>(
        "UNLOAD_PROGRAM", "Unloads a program that no event references.", Tail::none, Tail::none,
        release_refusals),
    command<Opcode::create_queue, CreateQueue, Object<QueueKind>>(
        "CREATE_QUEUE", "Creates an execution queue.", Tail::none, Tail::none, creation_refusals),
    command<Opcode::destroy_queue, Object<QueueKind>, Empty>(
        "DESTROY_QUEUE", "Destroys a queue that no event references.", Tail::none, Tail::none,
        release_refusals),
    command<Opcode::submit, Submit, Object<EventKind>>(
        "SUBMIT", "Submits a program with the bindings that follow.", Tail::bindings, Tail::none,
        {{Status::stale_object,
          "The queue, program or a buffer is not live, or not of one context."},
         {Status::resource_limit, "Too many bindings, or the event quota is used up."},
         {Status::out_of_bounds, "A range leaves its buffer."},
         {Status::permission_denied, "A buffer's usage does not allow the access."},
         {Status::incompatible, "The bindings do not fit the program."},
         {Status::deadline_expired, "The timeout passed before admission."}}),
    command<Opcode::poll_event, Object<EventKind>, EventState>(
        "POLL_EVENT", "Tells where an event stands.", Tail::none, Tail::none,
        {{Status::stale_object, "The event is not live."}}),
    command<Opcode::cancel_event, Object<EventKind>, Empty>(
        "CANCEL_EVENT", "Cancels a pending event.", Tail::none, Tail::none,
        {{Status::unsupported, "The device cannot cancel."},
         {Status::stale_object, "The event is not live."},
         {Status::busy, "The event is already terminal."}}),
    command<Opcode::destroy_event, Object<EventKind>, Empty>(
        "DESTROY_EVENT", "Destroys a terminal event.", Tail::none, Tail::none, release_refusals),
};

inline constexpr std::size_t command_count = std::tuple_size_v<decltype(commands)>;
static_assert(command_count == 15);

// The row of `op`.
template <Opcode op>
consteval std::size_t row_of() {
    std::size_t index = 0;
    std::size_t found = command_count;
    std::apply(
        [&](const auto&... row) {
            ((found = std::remove_cvref_t<decltype(row)>::opcode == op ? index : found, ++index),
             ...);
        },
        commands);
    return found;
}

template <Opcode op>
using CommandOf = std::remove_cvref_t<std::tuple_element_t<row_of<op>(), decltype(commands)>>;
template <Opcode op>
using RequestOf = typename CommandOf<op>::Request;
template <Opcode op>
using ReplyOf = typename CommandOf<op>::Reply;

namespace detail {

// Row numbers by high byte and low two bits, which tell all assigned opcodes apart.
inline constexpr auto row_by_bits = [] {
    std::array<std::uint8_t, 32> table{};
    table.fill(command_count);
    std::uint8_t index = 0;
    std::apply(
        [&](const auto&... row) {
            ((table[((static_cast<std::uint16_t>(row.opcode) >> 8U) * 4U) +
                    (static_cast<std::uint16_t>(row.opcode) & 3U)] = index++),
             ...);
        },
        commands);
    return table;
}();

}  // namespace detail

// The index of `opcode`'s row in `commands`, or `command_count` if it is not assigned.
[[nodiscard]] constexpr std::size_t command_index(std::uint16_t opcode) {
    if ((opcode >> 8U) > 5 || (opcode & 0xffU) > 3) {
        return command_count;
    }
    return detail::row_by_bits[((opcode >> 8U) * 4U) + (opcode & 3U)];
}

static_assert(std::apply(
    [index = std::size_t{0}](const auto&... row) mutable {
        return ((command_index(static_cast<std::uint16_t>(row.opcode)) == index++) && ...);
    },
    commands));

// The protocol's name of `opcode`, or "UNKNOWN".
[[nodiscard]] constexpr std::string_view opcode_name(std::uint16_t opcode) {
    constexpr auto names =
        std::apply([](const auto&... row) { return std::array{row.name...}; }, commands);
    const auto index = command_index(opcode);
    return index < names.size() ? names[index] : "UNKNOWN";
}

// The longest fixed part of a request frame: header and the largest fixed payload.
inline constexpr std::size_t request_fixed_bytes_max = sizeof(RequestHeader) + sizeof(LoadProgram);
// The longest response frame without a data tail.
inline constexpr std::size_t response_fixed_bytes_max = sizeof(ResponseHeader) + sizeof(DeviceInfo);

}  // namespace virtaccel::wire
