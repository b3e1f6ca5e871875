#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/fault_tables.h"
#include "virtaccel/conformance/device_rules/faults.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

namespace {

using wire::Binding;
using wire::Submit;

constexpr auto invalid = Status::invalid_argument;
constexpr auto unsupported = Status::unsupported;
constexpr auto limit = Status::resource_limit;
constexpr auto stale = Status::stale_object;

// Where the first binding lies.
constexpr std::size_t first = sizeof(Submit);

void set_reserved_byte(Draft& draft, std::size_t index) {
    wire::Reserved<3> reserved;
    reserved.bytes.at(index) = 1;
    draft.set(&Binding::reserved, reserved, first);
}

void claim(Draft& draft, std::uint64_t bindings) {
    draft.set(&Submit::binding_count, static_cast<std::uint32_t>(bindings));
}

// Adds the first binding once more.
void repeat_a_slot(Draft& draft, const Cast& /*cast*/) {
    const Bytes binding{draft.payload.begin() + first,
                        draft.payload.begin() + first + sizeof(Binding)};
    draft.payload.insert(draft.payload.end(), binding.begin(), binding.end());
    claim(draft, (draft.payload.size() - first) / sizeof(Binding));
}

std::string_view needs_program(const Cast& cast) {
    return cast.has_program() ? "" : "The subject supplies no program.";
}

std::string_view needs_another_binding(const Cast& cast) {
    return cast.info.bindings_per_submission_max > cast.scene.buffers.size() &&
                   cast.info.bindings_per_submission_max > 1
               ? ""
               : "The device takes no binding more than the program has.";
}

constexpr std::array submit_table{
    Fault{"payload-too-short", "less than its record is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.payload.resize(sizeof(Submit) - 1); }},
    Fault{"flag-bit-0", "a flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Submit::flags, 1); }},
    Fault{"flag-bit-31", "the last flag is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { d.set(&Submit::flags, std::uint32_t{1} << 31U); }},
    Fault{"no-bindings", "no binding is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { claim(d, 0); }},
    Fault{"bindings-past-limit",
          "more bindings than the device advertises are RESOURCE_LIMIT, whether they follow or not",
          limit,
          [](Draft& d, const Cast& c) {
              claim(d, std::uint64_t{c.info.bindings_per_submission_max} + 1);
          }},
    Fault{"bindings-most", "2^32 - 1 bindings are RESOURCE_LIMIT", limit,
          [](Draft& d, const Cast&) { claim(d, ~std::uint32_t{0}); }},
    Fault{"bindings-too-few", "a binding that is counted and does not follow is INVALID_ARGUMENT",
          invalid,
          [](Draft& d, const Cast&) {
              d.payload.erase(d.payload.end() - sizeof(Binding), d.payload.end());
          }},
    Fault{"bindings-too-many", "a byte after the bindings is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.payload.push_back(std::byte{0}); }},
    Fault{"binding-reserved-first", "a binding's first reserved byte is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { set_reserved_byte(d, 0); }},
    Fault{"binding-reserved-last", "a binding's last reserved byte is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { set_reserved_byte(d, 2); }},
    Fault{"binding-no-bytes", "a binding of no bytes is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Binding::bytes, 0, first); }},
    Fault{"binding-overflows", "a binding whose end overflows is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) {
              d.set(&Binding::offset, most, first);
              d.set(&Binding::bytes, 2, first);
          }},
    Fault{"binding-access-0", "the access 0 is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Binding::access, 0, first); }},
    Fault{"binding-access-4", "the access 4 is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Binding::access, 4, first); }},
    Fault{"binding-buffer-zero", "a binding of buffer zero is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Binding::buffer_id, BufferId{}, first); }},
    Fault{"slot-twice", "two bindings of one slot are INVALID_ARGUMENT", invalid, repeat_a_slot,
          Step::bytes, needs_another_binding},
    Fault{"queue-zero", "queue_id zero is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Submit::queue_id, QueueId{}); }},
    Fault{"program-zero", "program_id zero is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { d.set(&Submit::program_id, ProgramId{}); }},
    Fault{"short-room", "room one byte short of success: length 0, before any lookup", std::nullopt,
          [](Draft& d, const Cast&) { --d.capacity; }},
    Fault{"queue-stale", "a queue that is not live is STALE_OBJECT", stale,
          [](Draft& d, const Cast&) { d.set(&Submit::queue_id, QueueId{never_given}); },
          Step::objects},
    Fault{"program-stale", "a program that is not live is STALE_OBJECT", stale,
          [](Draft& d, const Cast&) { d.set(&Submit::program_id, ProgramId{never_given}); },
          Step::objects},
    Fault{"buffer-stale", "a buffer that is not live is STALE_OBJECT", stale,
          [](Draft& d, const Cast&) { d.set(&Binding::buffer_id, BufferId{never_given}, first); },
          Step::objects, needs_program},
    Fault{"binding-past-the-end", "a binding that leaves its buffer is OUT_OF_BOUNDS",
          Status::out_of_bounds,
          [](Draft& d, const Cast&) { d.set(&Binding::offset, std::uint64_t{1} << 62U, first); },
          Step::objects, needs_program},
    Fault{"binding-of-no-usage", "a buffer that no program may use is PERMISSION_DENIED",
          Status::permission_denied,
          [](Draft& d, const Cast& c) {
              d.set(&Binding::buffer_id, c.source_only, first);
              d.set(&Binding::bytes, 1, first);
          },
          Step::objects, needs_program},
    Fault{"slot-unknown", "a slot that the program does not have is INCOMPATIBLE",
          Status::incompatible,
          [](Draft& d, const Cast&) { d.set(&Binding::slot, no_such_slot, first); }, Step::objects,
          needs_program},
};

}  // namespace

std::span<const Fault> tables::submit() {
    return submit_table;
}

}  // namespace virtaccel::conformance::rules
