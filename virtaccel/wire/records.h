#pragma once
// Every structure of the protocol (spec §3), byte for byte, with its checks in the protocol's order
// (spec §5). A member is read by converting it; nothing here has padding or alignment.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/rules.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::wire {

using le8 = Le<std::uint8_t>;

// Bytes that 1.0 keeps zero.
template <std::size_t count>
struct Reserved {
    std::array<std::uint8_t, count> bytes{};
};

struct Config {
    le16 protocol_major = protocol::version_major;
    le16 protocol_minor = protocol::version_minor;
    le16 command_queue_count = protocol::command_queues;
    le16 chain_descriptors_max;
    le32 request_bytes_max;
    le32 response_bytes_max;
};

template <>
struct Schema<Config> {
    static constexpr std::string_view name = "config";
    static constexpr std::string_view doc = "The prefix of the device's configuration space.";
    static constexpr std::tuple fields{
        Field{"protocol_major", &Config::protocol_major, "The protocol's major version, 1."},
        Field{"protocol_minor", &Config::protocol_minor,
              "The minor version; a driver uses 1.0 whatever it says."},
        Field{"command_queue_count", &Config::command_queue_count, "Command virtqueues, 1."},
        Field{"max_chain_descriptors", &Config::chain_descriptors_max,
              "The longest chain the device walks."},
        Field{"max_request_bytes", &Config::request_bytes_max,
              "The largest request frame, header included."},
        Field{"max_response_bytes", &Config::response_bytes_max,
              "The largest response frame, header included."},
    };
    static constexpr std::tuple checks{
        Check{Rule{"1, else INCOMPATIBLE",
                   [](le16 major) {
                       return rules::ok_if(major == protocol::version_major, Status::incompatible);
                   }},
              &Config::protocol_major},
        Check{rules::any, &Config::protocol_minor},
        Check{Rule{"1, else INCOMPATIBLE",
                   [](le16 count) {
                       return rules::ok_if(count == protocol::command_queues, Status::incompatible);
                   }},
              &Config::command_queue_count},
        Check{Rule{"2 to 256, else INCOMPATIBLE",
                   [](le16 count) {
                       return rules::ok_if(count >= protocol::chain_descriptors_min &&
                                               count <= protocol::chain_descriptors_max,
                                           Status::incompatible);
                   }},
              &Config::chain_descriptors_max},
        Check{Rule{"97 to 16 MiB, else INCOMPATIBLE",
                   [](le32 bytes) {
                       return rules::ok_if(bytes >= protocol::request_bytes_min &&
                                               bytes <= protocol::frame_bytes_max,
                                           Status::incompatible);
                   }},
              &Config::request_bytes_max},
        Check{Rule{"92 to 16 MiB, else INCOMPATIBLE",
                   [](le32 bytes) {
                       return rules::ok_if(bytes >= protocol::response_bytes_min &&
                                               bytes <= protocol::frame_bytes_max,
                                           Status::incompatible);
                   }},
              &Config::response_bytes_max},
    };
};

struct RequestHeader {
    le16 opcode;
    le16 flags;
    le32 payload_bytes;
    le64 request_id;
};

template <>
struct Schema<RequestHeader> {
    static constexpr std::string_view name = "request_header";
    static constexpr std::string_view doc = "The start of every request.";
    static constexpr std::tuple fields{
        Field{"opcode", &RequestHeader::opcode, "The command."},
        Field{"flags", &RequestHeader::flags, "No flag is assigned in 1.0; bit 0 is reserved."},
        Field{"payload_bytes", &RequestHeader::payload_bytes,
              "The bytes after this header, all of them."},
        Field{"request_id", &RequestHeader::request_id,
              "Nonzero, chosen by the driver, unique among outstanding requests."},
    };
    static constexpr std::tuple checks{
        Check{Rule{"exactly the rest of the frame, else INVALID_ARGUMENT",
                   [](const Around& around, le32 bytes) {
                       return rules::ok_if(bytes == around.tail_bytes, Status::invalid_argument);
                   }},
              &RequestHeader::payload_bytes},
        Check{rules::nonzero, &RequestHeader::request_id},
        Check{rules::no_flags, &RequestHeader::flags},
        Check{rules::any, &RequestHeader::opcode},
    };
};

struct ResponseHeader {
    le16 status;
    le16 flags;
    le32 payload_bytes;
    le64 request_id;
};

template <>
struct Schema<ResponseHeader> {
    static constexpr std::string_view name = "response_header";
    static constexpr std::string_view doc = "The start of every response.";
    static constexpr std::tuple fields{
        Field{"status", &ResponseHeader::status, "OK or why the command failed."},
        Field{"flags", &ResponseHeader::flags, "Zero."},
        Field{"payload_bytes", &ResponseHeader::payload_bytes, "The bytes after this header."},
        Field{"request_id", &ResponseHeader::request_id, "The ID of the request answered."},
    };
    static constexpr std::tuple checks{
        Check{Rule{"exactly the used bytes after the header, else INVALID_ARGUMENT",
                   [](const Around& around, le32 bytes) {
                       return rules::ok_if(bytes == around.tail_bytes, Status::invalid_argument);
                   }},
              &ResponseHeader::payload_bytes},
        Check{rules::reserved, &ResponseHeader::flags},
        Check{rules::any, &ResponseHeader::status},
        Check{rules::any, &ResponseHeader::request_id},
    };
};

struct DeviceInfo {
    Reserved<16> uuid;
    le16 accelerator_class;
    le16 reserved;
    le32 vendor_id;
    le32 device_id;
    le64 capabilities;
    le32 contexts_max;
    le32 buffers_per_context_max;
    le32 programs_per_context_max;
    le32 queues_per_context_max;
    le32 events_per_context_max;
    le32 bindings_per_submission_max;
    le64 buffer_bytes_max;
    le64 artifact_bytes_max;
};

template <>
struct Schema<DeviceInfo> {
    static constexpr std::string_view name = "device_info";
    static constexpr std::string_view doc = "Who the device is, what it can do, and its limits.";
    static constexpr std::tuple fields{
        Field{"uuid", &DeviceInfo::uuid, "Sixteen opaque bytes that identify the device."},
        Field{"class", &DeviceInfo::accelerator_class, "0 other, 1 NPU, 2 GPU, 3 DSP."},
        Field{"reserved", &DeviceInfo::reserved, "Zero."},
        Field{"vendor_id", &DeviceInfo::vendor_id, "The vendor's number, informative."},
        Field{"device_id", &DeviceInfo::device_id, "The vendor's device number, informative."},
        Field{"capabilities", &DeviceInfo::capabilities,
              "Capability bits; unknown ones select nothing."},
        Field{"max_contexts", &DeviceInfo::contexts_max, "Live contexts."},
        Field{"max_buffers_per_context", &DeviceInfo::buffers_per_context_max,
              "Live buffers in one context."},
        Field{"max_programs_per_context", &DeviceInfo::programs_per_context_max,
              "Live programs in one context."},
        Field{"max_queues_per_context", &DeviceInfo::queues_per_context_max,
              "Live execution queues in one context."},
        Field{"max_events_per_context", &DeviceInfo::events_per_context_max,
              "Undestroyed events in one context."},
        Field{"max_bindings_per_submission", &DeviceInfo::bindings_per_submission_max,
              "Bindings of one SUBMIT, 1 to 4096."},
        Field{"max_buffer_bytes", &DeviceInfo::buffer_bytes_max, "The largest buffer."},
        Field{"max_artifact_bytes", &DeviceInfo::artifact_bytes_max, "The largest artifact."},
    };
    static constexpr std::tuple checks{
        Check{rules::reserved, &DeviceInfo::reserved},
        Check{Rule{"reserved bits 3 and 4 clear and a memory domain offered, else INCOMPATIBLE",
                   [](le64 raw) {
                       const Capabilities bits{std::uint64_t{raw}};
                       return rules::ok_if(!bits.has_any(capabilities_reserved) &&
                                               bits.has_any(capabilities_memory),
                                           Status::incompatible);
                   }},
              &DeviceInfo::capabilities},
        Check{rules::nonzero, &DeviceInfo::contexts_max},
        Check{rules::nonzero, &DeviceInfo::buffers_per_context_max},
        Check{rules::nonzero, &DeviceInfo::programs_per_context_max},
        Check{rules::nonzero, &DeviceInfo::queues_per_context_max},
        Check{rules::nonzero, &DeviceInfo::events_per_context_max},
        Check{Rule{"1 to 4096, else INVALID_ARGUMENT",
                   [](le32 count) {
                       return rules::ok_if(count >= 1 && count <= protocol::bindings_max,
                                           Status::invalid_argument);
                   }},
              &DeviceInfo::bindings_per_submission_max},
        Check{rules::nonzero, &DeviceInfo::buffer_bytes_max},
        Check{rules::nonzero, &DeviceInfo::artifact_bytes_max},
        Check{rules::any, &DeviceInfo::uuid},
        Check{rules::any, &DeviceInfo::accelerator_class},
        Check{rules::any, &DeviceInfo::vendor_id},
        Check{rules::any, &DeviceInfo::device_id},
    };
};

struct CreateContext {
    le32 flags;
    le32 reserved;
};

template <>
struct Schema<CreateContext> {
    static constexpr std::string_view name = "create_context";
    static constexpr std::string_view doc = "Asks for a new context.";
    static constexpr std::tuple fields{
        Field{"flags", &CreateContext::flags, "No flag is assigned in 1.0."},
        Field{"reserved", &CreateContext::reserved, "Zero."},
    };
    static constexpr std::tuple checks{
        Check{rules::no_flags, &CreateContext::flags},
        Check{rules::reserved, &CreateContext::reserved},
    };
};

// One object's ID: the request of every one-object command and the answer of every creation.
template <class KindTag>
struct Object {
    LeId<KindTag> object_id;
};

template <class KindTag>
struct Schema<Object<KindTag>> {
    static constexpr std::string_view name = "object";
    static constexpr std::string_view doc = "One object's ID.";
    static constexpr std::tuple fields{
        Field{"object_id", &Object<KindTag>::object_id, "The object; never zero."},
    };
    static constexpr std::tuple checks{
        Check{rules::named, &Object<KindTag>::object_id},
    };
};

struct AllocateBuffer {
    LeId<ContextKind> context_id;
    le64 bytes;
    le64 alignment;
    le8 memory_domain;
    Reserved<7> reserved0;
    le32 usage;
    le32 reserved1;
};

template <>
struct Schema<AllocateBuffer> {
    static constexpr std::string_view name = "allocate_buffer";
    static constexpr std::string_view doc = "Asks for a zeroed buffer in a context.";
    static constexpr std::tuple fields{
        Field{"context_id", &AllocateBuffer::context_id, "The context that will own it."},
        Field{"bytes", &AllocateBuffer::bytes, "Its logical size."},
        Field{"alignment", &AllocateBuffer::alignment, "The least alignment, a power of two."},
        Field{"memory_domain", &AllocateBuffer::memory_domain, "1 host, 2 device, 3 shared."},
        Field{"reserved0", &AllocateBuffer::reserved0, "Zero."},
        Field{"usage", &AllocateBuffer::usage, "Usage bits, at least one."},
        Field{"reserved1", &AllocateBuffer::reserved1, "Zero."},
    };
    static constexpr std::tuple checks{
        Check{rules::named, &AllocateBuffer::context_id},
        Check{rules::reserved, &AllocateBuffer::reserved0},
        Check{rules::reserved, &AllocateBuffer::reserved1},
        Check{rules::known_domain, &AllocateBuffer::memory_domain},
        Check{rules::usage_bits_known, &AllocateBuffer::usage},
        Check{rules::nonzero, &AllocateBuffer::usage},
        Check{rules::nonzero, &AllocateBuffer::bytes},
        Check{rules::power_of_two, &AllocateBuffer::alignment},
        Check{rules::buffer_size_offered, &AllocateBuffer::bytes},
        Check{rules::domain_offered, &AllocateBuffer::memory_domain},
    };
};

struct WriteBuffer {
    LeId<BufferKind> buffer_id;
    le64 offset;
    le64 bytes;
};

template <>
struct Schema<WriteBuffer> {
    static constexpr std::string_view name = "transfer_buffer";
    static constexpr std::string_view doc = "A range of a buffer to move.";
    static constexpr std::tuple fields{
        Field{"buffer_id", &WriteBuffer::buffer_id, "The buffer."},
        Field{"offset", &WriteBuffer::offset, "Where the range starts."},
        Field{"bytes", &WriteBuffer::bytes, "The range's length; its data follow in a write."},
    };
    static constexpr std::tuple checks{
        Check{rules::named, &WriteBuffer::buffer_id},
        Check{rules::nonzero, &WriteBuffer::bytes},
        Check{rules::range, &WriteBuffer::offset, &WriteBuffer::bytes},
        Check{rules::is_tail, &WriteBuffer::bytes},
    };
};

struct ReadBuffer {
    LeId<BufferKind> buffer_id;
    le64 offset;
    le64 bytes;
};

template <>
struct Schema<ReadBuffer> {
    static constexpr std::string_view name = "transfer_buffer";
    static constexpr std::string_view doc = Schema<WriteBuffer>::doc;
    static constexpr std::tuple fields{
        Field{"buffer_id", &ReadBuffer::buffer_id, "The buffer."},
        Field{"offset", &ReadBuffer::offset, "Where the range starts."},
        Field{"bytes", &ReadBuffer::bytes, "The range's length; its data come in the response."},
    };
    static constexpr std::tuple checks{
        Check{rules::named, &ReadBuffer::buffer_id},
        Check{rules::nonzero, &ReadBuffer::bytes},
        Check{rules::range, &ReadBuffer::offset, &ReadBuffer::bytes},
        Check{rules::response_fits, &ReadBuffer::bytes},
    };
};

struct LoadProgram {
    LeId<ContextKind> context_id;
    le32 format;
    le32 flags;
    std::array<le32, 12> target;
    le64 payload_bytes;
    le64 resident_bytes;
};

template <>
struct Schema<LoadProgram> {
    static constexpr std::string_view name = "load_program";
    static constexpr std::string_view doc = "Makes an artifact, which follows, resident.";
    static constexpr std::tuple fields{
        Field{"context_id", &LoadProgram::context_id, "The context that will own the program."},
        Field{"format", &LoadProgram::format, "What kind of artifact this is."},
        Field{"flags", &LoadProgram::flags, "No flag is assigned in 1.0."},
        Field{"target", &LoadProgram::target, "Twelve words whose meaning the format gives."},
        Field{"payload_bytes", &LoadProgram::payload_bytes, "The artifact's length."},
        Field{"resident_bytes", &LoadProgram::resident_bytes,
              "The most memory that the program may keep."},
    };
    static constexpr std::tuple checks{
        Check{rules::no_flags, &LoadProgram::flags},
        Check{rules::named, &LoadProgram::context_id},
        Check{rules::nonzero, &LoadProgram::format},
        Check{rules::nonzero, &LoadProgram::payload_bytes},
        Check{rules::nonzero, &LoadProgram::resident_bytes},
        Check{rules::is_tail, &LoadProgram::payload_bytes},
        Check{rules::artifact_size_offered, &LoadProgram::payload_bytes},
        Check{Rule{"any words", [](const auto&) { return Status::ok; }}, &LoadProgram::target},
    };
};

struct CreateQueue {
    LeId<ContextKind> context_id;
    le32 flags;
    le32 reserved;
};

template <>
struct Schema<CreateQueue> {
    static constexpr std::string_view name = "create_queue";
    static constexpr std::string_view doc = "Asks for an execution queue in a context.";
    static constexpr std::tuple fields{
        Field{"context_id", &CreateQueue::context_id, "The context that will own it."},
        Field{"flags", &CreateQueue::flags, "No flag is assigned in 1.0."},
        Field{"reserved", &CreateQueue::reserved, "Zero."},
    };
    static constexpr std::tuple checks{
        Check{rules::no_flags, &CreateQueue::flags},
        Check{rules::reserved, &CreateQueue::reserved},
        Check{rules::named, &CreateQueue::context_id},
    };
};

struct Binding {
    LeId<BufferKind> buffer_id;
    le64 offset;
    le64 bytes;
    le32 slot;
    le8 access;
    Reserved<3> reserved;
};

template <>
struct Schema<Binding> {
    static constexpr std::string_view name = "binding";
    static constexpr std::string_view doc = "A program slot bound to a range of a buffer.";
    static constexpr std::tuple fields{
        Field{"buffer_id", &Binding::buffer_id, "The buffer."},
        Field{"offset", &Binding::offset, "Where the range starts."},
        Field{"bytes", &Binding::bytes, "The range's length."},
        Field{"slot", &Binding::slot, "The program's slot; unique in one submission."},
        Field{"access", &Binding::access, "1 read, 2 write, 3 read-write."},
        Field{"reserved", &Binding::reserved, "Zero."},
    };
    static constexpr std::tuple checks{
        Check{rules::reserved, &Binding::reserved},
        Check{rules::nonzero, &Binding::bytes},
        Check{rules::range, &Binding::offset, &Binding::bytes},
        Check{rules::access_known, &Binding::access},
        Check{rules::named, &Binding::buffer_id},
        Check{rules::any, &Binding::slot},
    };
};

struct Submit {
    LeId<QueueKind> queue_id;
    LeId<ProgramKind> program_id;
    le32 binding_count;
    le32 flags;
    le64 timeout_ns;
};

template <>
struct Schema<Submit> {
    static constexpr std::string_view name = "submit";
    static constexpr std::string_view doc = "Submits a program with its bindings, which follow.";
    static constexpr std::tuple fields{
        Field{"queue_id", &Submit::queue_id, "The execution queue."},
        Field{"program_id", &Submit::program_id, "The program."},
        Field{"binding_count", &Submit::binding_count, "How many bindings follow."},
        Field{"flags", &Submit::flags, "No flag is assigned in 1.0."},
        Field{"timeout_ns", &Submit::timeout_ns, "Relative to admission; zero means no limit."},
    };
    static constexpr std::tuple checks{
        Check{rules::no_flags, &Submit::flags},
        Check{rules::nonzero, &Submit::binding_count},
        Check{rules::binding_count_offered, &Submit::binding_count},
        Check{Rule{"exactly 32 bytes follow for each, else INVALID_ARGUMENT",
                   [](const Around& around, le32 count) {
                       return rules::ok_if(
                           around.tail_bytes == std::uint64_t{count} * sizeof(Binding),
                           Status::invalid_argument);
                   }},
              &Submit::binding_count},
    };
    // After each binding by itself, and after duplicate slots.
    static constexpr std::tuple checks_after_tail{
        Check{rules::named, &Submit::queue_id},
        Check{rules::named, &Submit::program_id},
        Check{rules::any, &Submit::timeout_ns},
    };
};

struct EventState {
    le16 state;
    le16 error;
    le32 reserved;
};

template <>
struct Schema<EventState> {
    static constexpr std::string_view name = "event_state";
    static constexpr std::string_view doc = "Where an event stands.";
    static constexpr std::tuple fields{
        Field{"state", &EventState::state, "0 pending, 1 complete, 2 failed, 3 cancelled."},
        Field{"error", &EventState::error, "OK, except for failed, where it is not OK."},
        Field{"reserved", &EventState::reserved, "Zero."},
    };
    static constexpr std::tuple checks{
        Check{rules::reserved, &EventState::reserved},
        Check{Rule{"a known state, with an error exactly if failed, else INVALID_ARGUMENT",
                   [](le16 state, le16 error) {
                       const bool failed = state == 2;
                       return rules::ok_if(state <= 3 && failed == (error != 0),
                                           Status::invalid_argument);
                   }},
              &EventState::state, &EventState::error},
    };
};

static_assert(WireRecord<Config> && sizeof(Config) == 16);
static_assert(WireRecord<RequestHeader> && sizeof(RequestHeader) == 16);
static_assert(WireRecord<ResponseHeader> && sizeof(ResponseHeader) == 16);
static_assert(WireRecord<DeviceInfo> && sizeof(DeviceInfo) == 76);
static_assert(WireRecord<CreateContext> && sizeof(CreateContext) == 8);
static_assert(WireRecord<Object<ContextKind>> && sizeof(Object<ContextKind>) == 8);
static_assert(WireRecord<AllocateBuffer> && sizeof(AllocateBuffer) == 40);
static_assert(WireRecord<WriteBuffer> && sizeof(WriteBuffer) == 24);
static_assert(WireRecord<ReadBuffer> && sizeof(ReadBuffer) == 24);
static_assert(WireRecord<LoadProgram> && sizeof(LoadProgram) == 80);
static_assert(WireRecord<CreateQueue> && sizeof(CreateQueue) == 16);
static_assert(WireRecord<Submit> && sizeof(Submit) == 32);
static_assert(WireRecord<Binding> && sizeof(Binding) == 32);
static_assert(WireRecord<EventState> && sizeof(EventState) == 8);

}  // namespace virtaccel::wire
