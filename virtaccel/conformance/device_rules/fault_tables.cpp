#include "virtaccel/conformance/device_rules/fault_tables.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/faults.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

namespace {

constexpr auto invalid = Status::invalid_argument;
constexpr auto unsupported = Status::unsupported;
constexpr auto limit = Status::resource_limit;
constexpr auto stale = Status::stale_object;
constexpr std::optional<Status> unanswered = std::nullopt;

constexpr std::uint32_t first_bit = 1;
constexpr std::uint32_t last_bit = std::uint32_t{1} << 31U;
// Frames longer than this are not sent to look at a limit on something in them.
constexpr std::uint64_t sent_bytes_max = std::uint64_t{1} << 20U;

// ---- what every payload can have

// So many that a byte too many at the end does not make up for it.
void shorten(Draft& draft, const Cast& /*cast*/) {
    draft.payload.erase(draft.payload.end() - 2, draft.payload.end());
}

void lengthen(Draft& draft, const Cast& /*cast*/) {
    draft.payload.push_back(std::byte{0});
}

void zero_id(Draft& draft, const Cast& /*cast*/) {
    draft.put(0);
}

void unknown_id(Draft& draft, const Cast& /*cast*/) {
    draft.put(never_given);
}

void take_room(Draft& draft, const Cast& /*cast*/) {
    --draft.capacity;
}

constexpr Fault is_short{"payload-too-short", "less than its record is INVALID_ARGUMENT", invalid,
                         shorten};
constexpr Fault is_long{"payload-too-long", "more than its record is INVALID_ARGUMENT", invalid,
                        lengthen};
constexpr Fault has_short_room{"short-room",
                               "room one byte short of success: length 0, before any lookup",
                               unanswered, take_room};

// ---- frames, on GET_DEVICE_INFO

constexpr std::array frame_table{
    Fault{"too-large", "more bytes than max_request_bytes are RESOURCE_LIMIT, before all else",
          limit,
          [](Draft& d, const Cast& c) {
              d.payload.resize(std::uint32_t{c.config.request_bytes_max} + 1 - header_bytes);
          }},
    Fault{"payload-bytes-too-many", "a header that counts a byte too many is INVALID_ARGUMENT",
          invalid,
          [](Draft& d, const Cast&) {
              d.payload_bytes = static_cast<std::uint32_t>(d.payload.size()) + 1;
          }},
    Fault{"payload-bytes-most", "a header that counts 2^32 - 1 bytes is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.payload_bytes = ~std::uint32_t{0}; }},
    Fault{"payload-bytes-too-few", "a header that counts a byte too few is INVALID_ARGUMENT",
          invalid,
          [](Draft& d, const Cast&) {
              d.payload_bytes = static_cast<std::uint32_t>(d.payload.size());
              d.payload.push_back(std::byte{0});
          }},
    Fault{"request-id-zero", "the request ID zero is INVALID_ARGUMENT, and echoed", invalid,
          [](Draft& d, const Cast&) { d.request_id = 0; }},
    Fault{"flag-bit-0", "the reserved request flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.flags = 1; }},
    Fault{"flag-bit-15", "the last request flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.flags = 0x8000; }},
    Fault{"opcode-unassigned", "an opcode that is no command is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.opcode = 0x0002; }},
};

constexpr std::array device_info_table{
    Fault{"payload", "a payload is INVALID_ARGUMENT", invalid, lengthen},
    has_short_room,
};

// ---- creations

using Create = wire::CreateContext;

constexpr std::array create_context_table{
    is_short,
    is_long,
    Fault{"flag-bit-0", "a flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Create::flags, first_bit); }},
    Fault{"flag-bit-31", "the last flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Create::flags, last_bit); }},
    Fault{"reserved", "a reserved field that is set is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Create::reserved, last_bit); }},
    has_short_room,
};

using Queue = wire::CreateQueue;

constexpr std::array create_queue_table{
    is_short,
    is_long,
    Fault{"flag-bit-0", "a flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Queue::flags, first_bit); }},
    Fault{"flag-bit-31", "the last flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Queue::flags, last_bit); }},
    Fault{"reserved", "a reserved field that is set is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Queue::reserved, first_bit); }},
    Fault{"context-zero", "context_id zero is INVALID_ARGUMENT", invalid, zero_id},
    has_short_room,
    Fault{"context-stale", "a context that is not live is STALE_OBJECT", stale, unknown_id,
          Step::objects},
};

using Allocate = wire::AllocateBuffer;

void set_reserved_byte(Draft& draft, std::size_t index) {
    wire::Reserved<7> reserved;
    reserved.bytes.at(index) = 1;
    draft.set(&Allocate::reserved0, reserved);
}

bool is_offered(const Cast& cast, MemoryDomain domain) {
    return Capabilities{std::uint64_t{cast.info.capabilities}}.has_all(capability_of(domain));
}

// Some domain that the device does not offer.
std::optional<MemoryDomain> missing_domain(const Cast& cast) {
    for (const auto domain : {MemoryDomain::host, MemoryDomain::device, MemoryDomain::shared}) {
        if (!is_offered(cast, domain)) {
            return domain;
        }
    }
    return std::nullopt;
}

constexpr std::array allocate_buffer_table{
    is_short,
    is_long,
    Fault{"context-zero", "context_id zero is INVALID_ARGUMENT", invalid, zero_id},
    Fault{"reserved-byte-first", "the first reserved byte that is set is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { set_reserved_byte(d, 0); }},
    Fault{"reserved-byte-last", "the last reserved byte that is set is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { set_reserved_byte(d, 6); }},
    Fault{"reserved-word", "the reserved word that is set is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Allocate::reserved1, last_bit); }},
    Fault{"domain-0", "the memory domain 0 is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Allocate::memory_domain, 0); }},
    Fault{"domain-4", "the memory domain 4 is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Allocate::memory_domain, 4); }},
    Fault{"usage-bit-5", "the first usage bit that is not assigned is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Allocate::usage, usage_known.bits + 1); }},
    Fault{"usage-bit-31", "the last usage bit is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Allocate::usage, usage_known.bits | last_bit); }},
    Fault{"usage-none", "no usage bit is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Allocate::usage, 0); }},
    Fault{"no-bytes", "a buffer of no bytes is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Allocate::bytes, 0); }},
    Fault{"alignment-0", "the alignment 0 is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Allocate::alignment, 0); }},
    Fault{"alignment-3", "an alignment that is no power of two is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Allocate::alignment, 3); }},
    Fault{"alignment-of-two-bits", "an alignment of two high bits is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Allocate::alignment, std::uint64_t{3} << 62U); }},
    Fault{"past-largest", "more bytes than max_buffer_bytes are RESOURCE_LIMIT", limit,
          [](Draft& d, const Cast& c) {
              d.set(&Allocate::bytes, std::uint64_t{c.info.buffer_bytes_max} + 1);
          },
          Step::bytes,
          [](const Cast& c) -> std::string_view {
              return c.info.buffer_bytes_max == most ? "A buffer may have any size." : "";
          }},
    Fault{"domain-not-offered", "a domain whose capability is not there is UNSUPPORTED",
          unsupported,
          [](Draft& d, const Cast& c) {
              const auto domain = missing_domain(c).value_or(MemoryDomain::host);
              d.set(&Allocate::memory_domain, static_cast<std::uint8_t>(domain));
          },
          Step::bytes,
          [](const Cast& c) -> std::string_view {
              return missing_domain(c) ? "" : "The device offers every memory domain.";
          }},
    has_short_room,
    Fault{"context-stale", "a context that is not live is STALE_OBJECT", stale, unknown_id,
          Step::objects},
};

using Load = wire::LoadProgram;

constexpr std::array load_program_table{
    Fault{"payload-too-short", "less than its record is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.payload.resize(sizeof(Load) - 1); }},
    Fault{"flag-bit-0", "a flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Load::flags, first_bit); }},
    Fault{"flag-bit-31", "the last flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Load::flags, last_bit); }},
    Fault{"context-zero", "context_id zero is INVALID_ARGUMENT", invalid, zero_id},
    Fault{"format-zero", "the format zero is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Load::format, 0); }},
    Fault{"no-bytes", "an artifact of no bytes is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Load::payload_bytes, 0); }},
    Fault{"resident-zero", "no resident bytes are INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Load::resident_bytes, 0); }},
    Fault{"artifact-too-short", "an artifact shorter than it says is INVALID_ARGUMENT", invalid,
          shorten},
    Fault{"artifact-too-long", "an artifact longer than it says is INVALID_ARGUMENT", invalid,
          lengthen},
    Fault{"past-largest", "more bytes than max_artifact_bytes are RESOURCE_LIMIT", limit,
          [](Draft& d, const Cast& c) {
              const std::uint64_t bytes = std::uint64_t{c.info.artifact_bytes_max} + 1;
              d.payload.resize(sizeof(Load) + static_cast<std::size_t>(bytes));
              d.set(&Load::payload_bytes, bytes);
          },
          Step::bytes,
          [](const Cast& c) -> std::string_view {
              const std::uint64_t around = header_bytes + sizeof(Load);
              return c.info.artifact_bytes_max >= sent_bytes_max ||
                             around + c.info.artifact_bytes_max >= c.config.request_bytes_max
                         ? "No frame holds more than the largest artifact."
                         : "";
          }},
    has_short_room,
    Fault{"context-stale", "a context that is not live is STALE_OBJECT", stale, unknown_id,
          Step::objects},
};

// ---- transfers

using Write = wire::WriteBuffer;
using Read = wire::ReadBuffer;
constexpr std::size_t at_offset = offsetof(Write, offset);
static_assert(at_offset == offsetof(Read, offset));

// So far that the end of any range that starts there overflows, unless it is a single byte.
void overflow(Draft& draft, const Cast& /*cast*/) {
    draft.put(most - 1, at_offset);
}

void pass_the_end(Draft& draft, const Cast& /*cast*/) {
    draft.put(cast_buffer_bytes - 1, at_offset);
}

void start_at_the_end(Draft& draft, const Cast& /*cast*/) {
    draft.put(cast_buffer_bytes, at_offset);
}

void go_far(Draft& draft, const Cast& /*cast*/) {
    draft.put(std::uint64_t{1} << 63U, at_offset);
}

constexpr Fault names_zero{"buffer-zero", "buffer_id zero is INVALID_ARGUMENT", invalid, zero_id};
constexpr Fault overflows{"range-overflows", "an end past 2^64 - 1 is INVALID_ARGUMENT", invalid,
                          overflow};
constexpr Fault names_stale{"buffer-stale", "a buffer that is not live is STALE_OBJECT", stale,
                            unknown_id, Step::objects};
constexpr Fault passes_the_end{"past-the-end", "a range that leaves the buffer is OUT_OF_BOUNDS",
                               Status::out_of_bounds, pass_the_end, Step::objects};
constexpr Fault starts_at_the_end{"at-the-end", "a range that starts at the end is OUT_OF_BOUNDS",
                                  Status::out_of_bounds, start_at_the_end, Step::objects};
constexpr Fault goes_far{"far-past-the-end", "a range at 2^63 is OUT_OF_BOUNDS",
                         Status::out_of_bounds, go_far, Step::objects};

constexpr std::array write_buffer_table{
    Fault{"payload-too-short", "less than its record is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.payload.resize(sizeof(Write) - 1); }},
    names_zero,
    Fault{"no-bytes", "a range of no bytes is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Write::bytes, 0); }},
    overflows,
    Fault{"data-too-short", "fewer data than the range has are INVALID_ARGUMENT", invalid, shorten},
    Fault{"data-too-long", "more data than the range has are INVALID_ARGUMENT", invalid, lengthen},
    names_stale,
    passes_the_end,
    starts_at_the_end,
    goes_far,
    Fault{"no-destination", "a buffer that is no transfer destination is PERMISSION_DENIED",
          Status::permission_denied,
          [](Draft& d, const Cast& c) { d.set(&Write::buffer_id, c.source_only); }, Step::objects},
};

constexpr std::array read_buffer_table{
    is_short,
    is_long,
    names_zero,
    Fault{"no-bytes", "a range of no bytes is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Read::bytes, 0); }},
    overflows,
    Fault{"past-largest-response", "a response past max_response_bytes is RESOURCE_LIMIT", limit,
          [](Draft& d, const Cast& c) {
              d.set(&Read::bytes, std::uint64_t{c.config.response_bytes_max} - header_bytes + 1);
          }},
    Fault{"most-bytes", "2^64 - 1 bytes at zero are RESOURCE_LIMIT, not an overflow", limit,
          [](Draft& d, const Cast&) {
              d.set(&Read::offset, 0);
              d.set(&Read::bytes, most);
          }},
    has_short_room,
    names_stale,
    passes_the_end,
    starts_at_the_end,
    goes_far,
    Fault{"no-source", "a buffer that is no transfer source is PERMISSION_DENIED",
          Status::permission_denied,
          [](Draft& d, const Cast& c) { d.set(&Read::buffer_id, c.destination_only); },
          Step::objects},
};

// ---- commands of one object

constexpr Fault object_zero{"id-zero", "the ID zero is INVALID_ARGUMENT", invalid, zero_id};
constexpr Fault object_stale{"id-never-given", "an ID that was never given is STALE_OBJECT", stale,
                             unknown_id, Step::objects};

constexpr std::array release_table{is_short, is_long, object_zero, object_stale};
constexpr std::array poll_table{is_short, is_long, object_zero, has_short_room, object_stale};

bool cancels(const Cast& cast) {
    return Capabilities{std::uint64_t{cast.info.capabilities}}.has(
        CapabilityBit::event_cancellation);
}

constexpr std::array cancel_table{
    is_short,
    is_long,
    object_zero,
    Fault{"id-never-given", "an ID that was never given is STALE_OBJECT", stale, unknown_id,
          Step::objects,
          [](const Cast& c) -> std::string_view {
              return cancels(c) ? "" : "The device cannot cancel.";
          }},
    Fault{"not-offered", "a device that cannot cancel says so before it looks for the event",
          unsupported, unknown_id, Step::objects,
          [](const Cast& c) -> std::string_view {
              return cancels(c) ? "The device can cancel." : "";
          }},
};

}  // namespace

namespace tables {

std::span<const Fault> frame() {
    return frame_table;
}

std::span<const Fault> device_info() {
    return device_info_table;
}

std::span<const Fault> create_context() {
    return create_context_table;
}

std::span<const Fault> create_queue() {
    return create_queue_table;
}

std::span<const Fault> allocate_buffer() {
    return allocate_buffer_table;
}

std::span<const Fault> load_program() {
    return load_program_table;
}

std::span<const Fault> write_buffer() {
    return write_buffer_table;
}

std::span<const Fault> read_buffer() {
    return read_buffer_table;
}

std::span<const Fault> release() {
    return release_table;
}

std::span<const Fault> poll_event() {
    return poll_table;
}

std::span<const Fault> cancel_event() {
    return cancel_table;
}

}  // namespace tables

}  // namespace virtaccel::conformance::rules
