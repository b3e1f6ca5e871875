#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/fault_tables.h"
#include "virtaccel/conformance/device_rules/faults.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

constexpr std::size_t id_bytes = 8;

template <Opcode op, class Kind>
Draft naming(Id<Kind> id, std::size_t answer_bytes = 0) {
    return draft_of<op>({.object_id = id.raw != 0 ? id : Id<Kind>{never_given}}, answer_bytes);
}

Draft good_load(Stage& stage, const Cast& cast) {
    if (stage.has_sample()) {
        Draft draft = draft_of<Opcode::load_program>({}, id_bytes);
        draft.payload = stage.load_payload(cast.scene.context, stage.sample().artifact);
        return draft;
    }
    const Bytes artifact(24, std::byte{1});
    wire::LoadProgram load;
    load.context_id = cast.scene.context;
    load.format = 1;
    load.payload_bytes = artifact.size();
    load.resident_bytes = 1;
    return draft_of<Opcode::load_program>(load, id_bytes, artifact);
}

constexpr std::uint64_t moved_bytes = 4;

Draft good_write(Stage& /*stage*/, const Cast& cast) {
    wire::WriteBuffer write;
    write.buffer_id = cast.buffer;
    write.bytes = moved_bytes;
    return draft_of<Opcode::write_buffer>(write, 0, Bytes(moved_bytes));
}

Draft good_read(Stage& /*stage*/, const Cast& cast) {
    wire::ReadBuffer read;
    read.buffer_id = cast.buffer;
    read.bytes = moved_bytes;
    return draft_of<Opcode::read_buffer>(read, moved_bytes);
}

Draft good_submit(Stage& stage, const Cast& cast) {
    std::vector<wire::Binding> bindings;
    if (cast.has_program()) {
        bindings = stage.bindings_of(cast.scene);
    } else {
        wire::Binding binding;
        binding.buffer_id = cast.buffer;
        binding.bytes = moved_bytes;
        binding.access = 1;
        bindings.push_back(binding);
    }
    wire::Submit submit;
    submit.queue_id = cast.scene.queue;
    submit.program_id = cast.has_program() ? cast.scene.program : ProgramId{never_given};
    submit.binding_count = static_cast<std::uint32_t>(bindings.size());
    return draft_of<Opcode::submit>(submit, id_bytes, std::as_bytes(std::span{bindings}));
}

Draft good_info(Stage& /*stage*/, const Cast& /*cast*/) {
    return draft_of<Opcode::get_device_info>({}, sizeof(wire::DeviceInfo));
}

constexpr std::array context_id{IdField{Kind::context}};
constexpr std::array buffer_id{IdField{Kind::buffer}};
constexpr std::array program_id{IdField{Kind::program}};
constexpr std::array queue_id{IdField{Kind::queue}};
constexpr std::array event_id{IdField{Kind::event}};
constexpr std::array submit_ids{
    IdField{Kind::queue, 0},
    IdField{Kind::program, 8},
    IdField{Kind::buffer, sizeof(wire::Submit)},
};

constexpr std::array all_commands{
    CommandRules{"frame", good_info, tables::frame},
    CommandRules{"get-device-info", good_info, tables::device_info},
    CommandRules{"create-context",
                 [](Stage&, const Cast&) { return draft_of<Opcode::create_context>({}, id_bytes); },
                 tables::create_context},
    CommandRules{
        "destroy-context",
        [](Stage&, const Cast& c) { return naming<Opcode::destroy_context>(c.scene.context); },
        tables::release, context_id},
    CommandRules{"allocate-buffer",
                 [](Stage& s, const Cast& c) {
                     return draft_of<Opcode::allocate_buffer>(
                         s.buffer_request(c.scene.context, cast_buffer_bytes, usage_known),
                         id_bytes);
                 },
                 tables::allocate_buffer, context_id},
    CommandRules{"free-buffer",
                 [](Stage&, const Cast& c) { return naming<Opcode::free_buffer>(c.buffer); },
                 tables::release, buffer_id},
    CommandRules{"write-buffer", good_write, tables::write_buffer, buffer_id},
    CommandRules{"read-buffer", good_read, tables::read_buffer, buffer_id},
    CommandRules{"load-program", good_load, tables::load_program, context_id},
    CommandRules{
        "unload-program",
        [](Stage&, const Cast& c) { return naming<Opcode::unload_program>(c.scene.program); },
        tables::release, program_id},
    CommandRules{"create-queue",
                 [](Stage&, const Cast& c) {
                     wire::CreateQueue queue;
                     queue.context_id = c.scene.context;
                     return draft_of<Opcode::create_queue>(queue, id_bytes);
                 },
                 tables::create_queue, context_id},
    CommandRules{"destroy-queue",
                 [](Stage&, const Cast& c) { return naming<Opcode::destroy_queue>(c.scene.queue); },
                 tables::release, queue_id},
    CommandRules{"submit", good_submit, tables::submit, submit_ids},
    CommandRules{"poll-event",
                 [](Stage&, const Cast& c) {
                     return naming<Opcode::poll_event>(c.event, sizeof(wire::EventState));
                 },
                 tables::poll_event, event_id},
    CommandRules{"cancel-event",
                 [](Stage&, const Cast& c) { return naming<Opcode::cancel_event>(c.event); },
                 tables::cancel_event, event_id},
    CommandRules{"destroy-event",
                 [](Stage&, const Cast& c) { return naming<Opcode::destroy_event>(c.event); },
                 tables::release, event_id},
};
static_assert(all_commands.size() == wire::command_count + 1);

}  // namespace

std::span<const CommandRules> command_rules() {
    return all_commands;
}

std::span<const Fault> frame_faults() {
    return tables::frame().subspan(1);
}

}  // namespace virtaccel::conformance::rules
