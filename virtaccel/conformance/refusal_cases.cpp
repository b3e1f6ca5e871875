#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_case_list.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/probes.h"
#include "virtaccel/conformance/reserved_intent.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using wire::Opcode;

namespace {

constexpr std::uint64_t never_given = 0xfffffffffff00001;
constexpr std::size_t header_bytes = sizeof(wire::RequestHeader);

// A request whose payload is right in itself, and a way to spoil it.
template <Opcode op>
class Spoiler {
  public:
    Spoiler(Caller& caller, std::string_view name, wire::RequestOf<op> good, Bytes tail = {})
        : caller_(&caller), name_(name), good_(good), tail_(std::move(tail)) {}

    // Ends the case unless the request is refused with `wanted` once `change` has changed it.
    template <class Change>
    [[nodiscard]] Check refused(std::string_view what, Status wanted, Change change) const {
        auto request = good_;
        change(request);
        return expect_refusal(say(name_, " with ", what), caller_->call<op>(request, tail_),
                              wanted);
    }

  private:
    Caller* caller_;
    std::string_view name_;
    wire::RequestOf<op> good_;
    Bytes tail_;
};

constexpr auto zero64 = std::uint64_t{0};
constexpr auto all_ones = ~std::uint64_t{0};

Check check_allocate(Stage& stage) {
    using R = wire::AllocateBuffer;
    const Spoiler<Opcode::allocate_buffer> spoil{
        stage.caller(), "ALLOCATE_BUFFER",
        stage.buffer_request(ContextId{never_given}, 16, usage_known)};
    const auto bad = Status::invalid_argument;
    VIRTACCEL_TRY(spoil.refused("context zero", bad, [](R& r) { r.context_id = ContextId{}; }));
    VIRTACCEL_TRY(spoil.refused("no bytes", bad, [](R& r) { r.bytes = zero64; }));
    VIRTACCEL_TRY(spoil.refused("alignment zero", bad, [](R& r) { r.alignment = zero64; }));
    VIRTACCEL_TRY(
        spoil.refused("alignment three", bad, [](R& r) { r.alignment = std::uint64_t{3}; }));
    VIRTACCEL_TRY(
        spoil.refused("domain zero", bad, [](R& r) { r.memory_domain = std::uint8_t{0}; }));
    VIRTACCEL_TRY(
        spoil.refused("domain four", bad, [](R& r) { r.memory_domain = std::uint8_t{4}; }));
    VIRTACCEL_TRY(spoil.refused("no usage", bad, [](R& r) { r.usage = std::uint32_t{0}; }));
    return spoil.refused("more bytes than a buffer may have", Status::resource_limit,
                         [](R& r) { r.bytes = all_ones; });
}

Check check_transfers(Caller& caller) {
    const auto bad = Status::invalid_argument;
    wire::WriteBuffer write;
    write.buffer_id = BufferId{never_given};
    write.bytes = std::uint64_t{4};
    using W = wire::WriteBuffer;
    const Spoiler<Opcode::write_buffer> spoil_write{caller, "WRITE_BUFFER", write, Bytes(4)};
    VIRTACCEL_TRY(spoil_write.refused("buffer zero", bad, [](W& r) { r.buffer_id = BufferId{}; }));
    VIRTACCEL_TRY(spoil_write.refused("no bytes", bad, [](W& r) { r.bytes = zero64; }));
    VIRTACCEL_TRY(spoil_write.refused("overflow", bad, [](W& r) { r.offset = all_ones; }));
    VIRTACCEL_TRY(spoil_write.refused("fewer bytes than follow", bad,
                                      [](W& r) { r.bytes = std::uint64_t{3}; }));
    VIRTACCEL_TRY(spoil_write.refused("more bytes than follow", bad,
                                      [](W& r) { r.bytes = std::uint64_t{5}; }));
    wire::ReadBuffer read;
    read.buffer_id = BufferId{never_given};
    read.bytes = std::uint64_t{4};
    using R = wire::ReadBuffer;
    const Spoiler<Opcode::read_buffer> spoil_read{caller, "READ_BUFFER", read};
    VIRTACCEL_TRY(spoil_read.refused("buffer zero", bad, [](R& r) { r.buffer_id = BufferId{}; }));
    VIRTACCEL_TRY(spoil_read.refused("no bytes", bad, [](R& r) { r.bytes = zero64; }));
    VIRTACCEL_TRY(spoil_read.refused("overflow", bad, [](R& r) { r.offset = all_ones; }));
    return spoil_read.refused("more bytes than a response may have", Status::resource_limit,
                              [](R& r) { r.bytes = all_ones; });
}

Check check_load(Caller& caller) {
    using R = wire::LoadProgram;
    const auto bad = Status::invalid_argument;
    wire::LoadProgram load;
    load.context_id = ContextId{never_given};
    load.format = std::uint32_t{1};
    load.payload_bytes = std::uint64_t{4};
    load.resident_bytes = std::uint64_t{1};
    const Spoiler<Opcode::load_program> spoil{caller, "LOAD_PROGRAM", load, Bytes(4)};
    VIRTACCEL_TRY(spoil.refused("context zero", bad, [](R& r) { r.context_id = ContextId{}; }));
    VIRTACCEL_TRY(spoil.refused("format zero", bad, [](R& r) { r.format = std::uint32_t{0}; }));
    VIRTACCEL_TRY(spoil.refused("no payload", bad, [](R& r) { r.payload_bytes = zero64; }));
    VIRTACCEL_TRY(spoil.refused("no residence", bad, [](R& r) { r.resident_bytes = zero64; }));
    return spoil.refused("another length than follows", bad,
                         [](R& r) { r.payload_bytes = std::uint64_t{3}; });
}

Check check_submit(Caller& caller) {
    using R = wire::Submit;
    const auto bad = Status::invalid_argument;
    wire::Submit submit;
    submit.queue_id = QueueId{never_given};
    submit.program_id = ProgramId{never_given};
    submit.binding_count = std::uint32_t{1};
    wire::Binding binding;
    binding.buffer_id = BufferId{never_given};
    binding.bytes = std::uint64_t{1};
    binding.access = std::uint8_t{1};
    const Spoiler<Opcode::submit> spoil{caller, "SUBMIT", submit, Caller::payload_of(binding)};
    VIRTACCEL_TRY(spoil.refused("queue zero", bad, [](R& r) { r.queue_id = QueueId{}; }));
    VIRTACCEL_TRY(spoil.refused("program zero", bad, [](R& r) { r.program_id = ProgramId{}; }));
    VIRTACCEL_TRY(
        spoil.refused("no bindings", bad, [](R& r) { r.binding_count = std::uint32_t{0}; }));
    VIRTACCEL_TRY(spoil.refused("more bindings than follow", bad,
                                [](R& r) { r.binding_count = std::uint32_t{2}; }));
    return spoil.refused("more bindings than any submission may have", Status::resource_limit,
                         [](R& r) { r.binding_count = ~std::uint32_t{0}; });
}

// Every payload that is of a fixed size, one byte short and empty; every ID zero.
Check check_lengths_and_zero_ids(Stage& stage) {
    Caller& caller = stage.caller();
    auto probes = make_probes(stage.capabilities(), never_given);
    probes.push_back({.name = "CREATE_CONTEXT",
                      .opcode = Opcode::create_context,
                      .payload = Caller::payload_of(wire::CreateContext{}),
                      .fixed_bytes = sizeof(wire::CreateContext)});
    for (const Probe& probe : probes) {
        if (probe.fixed_bytes == 0) {
            continue;
        }
        for (const std::size_t bytes : {probe.fixed_bytes - 1, std::size_t{0}}) {
            const auto part = std::span{probe.payload}.first(bytes);
            VIRTACCEL_TRY(expect_refusal(say(probe.name, " with a payload of (", bytes, ") bytes"),
                                         caller.call_raw(probe.opcode, part),
                                         Status::invalid_argument));
        }
        if (probe.payload.size() == sizeof(wire::Object<ContextKind>) &&
            probe.opcode != Opcode::create_context) {
            VIRTACCEL_TRY(expect_refusal(say(probe.name, " with the ID zero"),
                                         caller.call_raw(probe.opcode, Bytes(8)),
                                         Status::invalid_argument));
        }
    }
    return {};
}

// A request with that header and payload, whatever it claims.
Reply send_header(Caller& caller, const wire::RequestHeader& header,
                  std::span<const std::byte> payload = {}) {
    return caller.send(Caller::payload_of(header, payload), Caller::room_default);
}

wire::RequestHeader header_of(Caller& caller, std::uint16_t opcode) {
    wire::RequestHeader header;
    header.opcode = opcode;
    header.request_id = caller.next_request_id();
    return header;
}

constexpr auto info = static_cast<std::uint16_t>(Opcode::get_device_info);

}  // namespace

Check truncated_header(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    for (std::size_t bytes = 1; bytes < header_bytes; ++bytes) {
        Bytes part = frame_of(Opcode::get_device_info, caller.next_request_id(), {});
        const Bytes whole = part;
        part.resize(bytes);
        VIRTACCEL_TRY(expect_unanswered(say("a header of (", bytes, ") bytes"),
                                        caller.send(part, Caller::room_default)));
        VIRTACCEL_TRY(expect_unanswered(say("a request with room for (", bytes, ") bytes"),
                                        caller.send(whole, bytes)));
    }
    return {};
}

Check malformed_payload(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    VIRTACCEL_TRY(check_lengths_and_zero_ids(input.stage));
    VIRTACCEL_TRY(check_allocate(input.stage));
    VIRTACCEL_TRY(check_transfers(caller));
    VIRTACCEL_TRY(check_load(caller));
    VIRTACCEL_TRY(check_submit(caller));
    wire::RequestHeader unnamed = header_of(caller, info);
    unnamed.request_id = std::uint64_t{0};
    return expect_refusal("GET_DEVICE_INFO with the request ID zero", send_header(caller, unnamed),
                          Status::invalid_argument);
}

Check unknown_opcode(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    for (unsigned opcode = 0; opcode <= 0xffff; ++opcode) {
        const auto value = static_cast<std::uint16_t>(opcode);
        const bool is_near = (opcode & 0xffU) < 8 && opcode < 0x0800;
        const bool is_bit = (opcode & (opcode - 1)) == 0 || opcode == 0xffff;
        if ((is_near || is_bit) && wire::command_index(value) == wire::command_count) {
            VIRTACCEL_TRY(expect_refusal(say("The opcode (", opcode, ")"),
                                         send_header(caller, header_of(caller, value)),
                                         Status::unsupported));
        }
    }
    return {};
}

Check flags_and_reserved(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const ContextId context, input.stage.caller().create_context());
    VIRTACCEL_TRY(check_reserved_intent(input.stage, context));
    return input.stage.caller().destroy(context);
}

Check trailing_bytes(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    for (const Probe& probe : make_probes(input.stage.capabilities(), never_given)) {
        Bytes longer = probe.payload;
        longer.push_back(std::byte{0});
        VIRTACCEL_TRY(expect_refusal(say(probe.name, " with a byte more in its payload"),
                                     caller.call_raw(probe.opcode, longer),
                                     Status::invalid_argument));
        Bytes frame = frame_of(probe.opcode, caller.next_request_id(), probe.payload);
        frame.push_back(std::byte{0});
        VIRTACCEL_TRY(expect_refusal(say(probe.name, " with a byte after its payload"),
                                     caller.send(frame, Caller::room_default),
                                     Status::invalid_argument));
    }
    wire::RequestHeader header = header_of(caller, info);
    header.payload_bytes = std::uint32_t{1};
    return expect_refusal("GET_DEVICE_INFO with a payload that does not come",
                          send_header(caller, header), Status::invalid_argument);
}

}  // namespace virtaccel::conformance::cases
