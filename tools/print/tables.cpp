#include "tools/print/tables.h"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tools/print/records.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::print {
namespace {

constexpr std::string_view warning =
    "Printed from virtaccel/wire by tools/print; do not edit, run `./run print`.";

std::string upper(std::string_view text) {
    std::string result;
    for (const char c : text) {
        result += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return result;
}

std::string joined(const std::vector<std::string>& words) {
    std::string result;
    for (const std::string& word : words) {
        result += (result.empty() ? "" : ", ") + word;
    }
    return result;
}

std::string width_of(const FieldData& field) {
    return field.count == 1 ? fmt::format("{}", field.width)
                            : fmt::format("{}×{}", field.count, field.width);
}

// Reads and writes share one layout and differ in one check, so both are shown.
std::string title_of(const RecordData& record) {
    const bool is_read = record.name == "transfer_buffer" &&
                         record.checks.back().says.find("response") != std::string::npos;
    if (record.name != "transfer_buffer") {
        return record.name;
    }
    return record.name + (is_read ? " (READ_BUFFER)" : " (WRITE_BUFFER)");
}

std::string payload_text(const std::string& record, const std::string& tail) {
    if (record.empty()) {
        return tail == "none" ? "empty" : tail;
    }
    return tail == "none" ? record : record + " + " + tail;
}

struct Constant {
    std::string_view name;
    std::uint64_t value = 0;
};

constexpr Constant constants[] = {
    {"PROTOCOL_MAJOR", protocol::version_major},
    {"PROTOCOL_MINOR", protocol::version_minor},
    {"COMMAND_QUEUE", 0},
    {"COMMAND_QUEUE_COUNT", protocol::command_queues},
    {"CHAIN_DESCRIPTORS_MIN", protocol::chain_descriptors_min},
    {"CHAIN_DESCRIPTORS_MAX", protocol::chain_descriptors_max},
    {"REQUEST_BYTES_MIN", protocol::request_bytes_min},
    {"RESPONSE_BYTES_MIN", protocol::response_bytes_min},
    {"FRAME_BYTES_MAX", protocol::frame_bytes_max},
    {"BINDINGS_MAX", protocol::bindings_max},
    {"CAPABILITY_HOST_VISIBLE", static_cast<std::uint64_t>(CapabilityBit::host_visible_memory)},
    {"CAPABILITY_DEVICE_LOCAL", static_cast<std::uint64_t>(CapabilityBit::device_local_memory)},
    {"CAPABILITY_CANCELLATION", static_cast<std::uint64_t>(CapabilityBit::event_cancellation)},
    {"CAPABILITY_SHARED", static_cast<std::uint64_t>(CapabilityBit::shared_memory)},
    {"CLASS_OTHER", static_cast<std::uint64_t>(AcceleratorClass::other)},
    {"CLASS_NPU", static_cast<std::uint64_t>(AcceleratorClass::npu)},
    {"CLASS_GPU", static_cast<std::uint64_t>(AcceleratorClass::gpu)},
    {"CLASS_DSP", static_cast<std::uint64_t>(AcceleratorClass::dsp)},
    {"DOMAIN_HOST", static_cast<std::uint64_t>(MemoryDomain::host)},
    {"DOMAIN_DEVICE", static_cast<std::uint64_t>(MemoryDomain::device)},
    {"DOMAIN_SHARED", static_cast<std::uint64_t>(MemoryDomain::shared)},
    {"USAGE_TRANSFER_SOURCE", static_cast<std::uint64_t>(UsageBit::transfer_source)},
    {"USAGE_TRANSFER_DESTINATION", static_cast<std::uint64_t>(UsageBit::transfer_destination)},
    {"USAGE_PROGRAM_INPUT", static_cast<std::uint64_t>(UsageBit::program_input)},
    {"USAGE_PROGRAM_OUTPUT", static_cast<std::uint64_t>(UsageBit::program_output)},
    {"USAGE_MUTABLE_STATE", static_cast<std::uint64_t>(UsageBit::mutable_state)},
    {"ACCESS_READ", static_cast<std::uint64_t>(Access::read)},
    {"ACCESS_WRITE", static_cast<std::uint64_t>(Access::write)},
    {"ACCESS_READ_WRITE", static_cast<std::uint64_t>(Access::read_write)},
    {"EVENT_PENDING", static_cast<std::uint64_t>(EventPhase::pending)},
    {"EVENT_COMPLETE", static_cast<std::uint64_t>(EventPhase::complete)},
    {"EVENT_FAILED", static_cast<std::uint64_t>(EventPhase::failed)},
    {"EVENT_CANCELLED", static_cast<std::uint64_t>(EventPhase::cancelled)},
};

std::string c_type(const FieldData& field) {
    if (field.width == 1) {
        return "__u8";
    }
    return fmt::format("__le{}", field.width * 8);
}

std::string c_struct(const RecordData& record) {
    std::string text = fmt::format("/* {} */\nstruct virtaccel_{} {{\n", record.doc, record.name);
    for (const FieldData& field : record.fields) {
        const std::string array = field.count == 1 ? "" : fmt::format("[{}]", field.count);
        text += fmt::format("\t{} {}{};\n", c_type(field), field.name, array);
    }
    return text + "} __attribute__((packed));\n\n";
}

// One of the records that share a layout is enough for a layout.
std::vector<RecordData> distinct_records() {
    std::vector<RecordData> distinct;
    for (const RecordData& record : records()) {
        if (distinct.empty() || distinct.back().name != record.name) {
            distinct.push_back(record);
        }
    }
    return distinct;
}

std::string json_field(const FieldData& field) {
    return fmt::format(R"(        {{"name": "{}", "offset": {}, "width": {}, "count": {}}})",
                       field.name, field.offset, field.width, field.count);
}

}  // namespace

std::string records_page() {
    std::string text = fmt::format(
        "# Records\n\n{}\n\nAll integers are unsigned little-endian; nothing is aligned or padded. "
        "Checks are made in the order shown, and the first that fails answers.\n",
        warning);
    for (const RecordData& record : records()) {
        text += fmt::format(
            "\n## {}\n\n{} {} bytes.\n\n| offset | field | width | meaning |\n"
            "|---|---|---|---|\n",
            title_of(record), record.doc, record.bytes);
        for (const FieldData& field : record.fields) {
            text += fmt::format("| {} | {} | {} | {} |\n", field.offset, field.name,
                                width_of(field), field.doc);
        }
        text += "\nChecks:\n\n";
        std::size_t number = 0;
        for (const CheckData& check : record.checks) {
            text += fmt::format("{}. {}: {}\n", ++number, joined(check.fields), check.says);
        }
    }
    return text;
}

std::string commands_page() {
    std::string text = fmt::format(
        "# Commands, statuses and constants\n\n{}\n\n| opcode | command | request | OK response | "
        "writable bytes needed |\n|---|---|---|---|---|\n",
        warning);
    for (const CommandData& command : commands()) {
        const bool reads = command.reply_tail != "none";
        text += fmt::format("| {:#06x} | {} | {} | {} | {}{} |\n", command.opcode, command.name,
                            payload_text(command.request, command.request_tail),
                            payload_text(command.reply, command.reply_tail), command.reply_bytes,
                            reads ? " + bytes" : "");
    }
    text += "\n## Refusals\n\nEvery command may answer:\n\n";
    for (const RefusalData& refusal : common_refusals()) {
        text += fmt::format("- {}: {}\n", refusal.status, refusal.when);
    }
    for (const CommandData& command : commands()) {
        text += fmt::format("\n{}: {}\n\n", command.name, command.doc);
        for (const RefusalData& refusal : command.refusals) {
            text += fmt::format("- {}: {}\n", refusal.status, refusal.when);
        }
    }
    text += "\n## Statuses\n\n| value | name | meaning |\n|---|---|---|\n";
    for (const StatusRow& row : status_rows) {
        text += fmt::format("| {} | {} | {} |\n", static_cast<unsigned>(row.status), row.name,
                            row.meaning);
    }
    text += "\n## Constants\n\n| name | value |\n|---|---|\n";
    for (const Constant& constant : constants) {
        text += fmt::format("| {} | {:#x} |\n", constant.name, constant.value);
    }
    return text;
}

std::string layout_json() {
    std::string records_text;
    for (const RecordData& record : distinct_records()) {
        std::string fields;
        for (const FieldData& field : record.fields) {
            fields += (fields.empty() ? "" : ",\n") + json_field(field);
        }
        records_text +=
            fmt::format("{}    {{\"name\": \"{}\", \"bytes\": {}, \"fields\": [\n{}]}}",
                        records_text.empty() ? "" : ",\n", record.name, record.bytes, fields);
    }
    std::string commands_text;
    for (const CommandData& command : commands()) {
        commands_text +=
            fmt::format(R"({}    {{"opcode": {}, "name": "{}", "request": "{}", )"
                        R"("request_tail": "{}", "reply": "{}", "reply_tail": "{}"}})",
                        commands_text.empty() ? "" : ",\n", command.opcode, command.name,
                        command.request, command.request_tail, command.reply, command.reply_tail);
    }
    std::string statuses;
    for (const StatusRow& row : status_rows) {
        statuses += fmt::format("{}    \"{}\": {}", statuses.empty() ? "" : ",\n", row.name,
                                static_cast<unsigned>(row.status));
    }
    return fmt::format(
        "{{\n  \"records\": [\n{}\n  ],\n  \"commands\": [\n{}\n  ],\n"
        "  \"statuses\": {{\n{}\n  }}\n}}\n",
        records_text, commands_text, statuses);
}

std::string c_header() {
    std::string text = fmt::format(
        "/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n/* {} */\n"
        "#ifndef VIRTACCEL_WIRE_H\n#define VIRTACCEL_WIRE_H\n\n#include <linux/types.h>\n\n",
        warning);
    for (const Constant& constant : constants) {
        text += fmt::format("#define VIRTACCEL_{} {:#x}\n", constant.name, constant.value);
    }
    text += '\n';
    for (const CommandData& command : commands()) {
        text += fmt::format("#define VIRTACCEL_OP_{} {:#06x}\n", command.name, command.opcode);
    }
    text += '\n';
    for (const StatusRow& row : status_rows) {
        text += fmt::format("#define VIRTACCEL_STATUS_{} {}\n", row.name,
                            static_cast<unsigned>(row.status));
    }
    text += '\n';
    for (const RecordData& record : distinct_records()) {
        text += fmt::format("#define VIRTACCEL_{}_BYTES {}\n", upper(record.name), record.bytes);
    }
    text += '\n';
    for (const RecordData& record : distinct_records()) {
        text += c_struct(record);
    }
    return text + "#endif /* VIRTACCEL_WIRE_H */\n";
}

const std::vector<Document>& documents() {
    static const std::vector<Document> all{
        {.file = "records.md", .text = records_page},
        {.file = "commands.md", .text = commands_page},
        {.file = "layout.json", .text = layout_json},
        {.file = "virtaccel_wire.h", .text = c_header},
    };
    return all;
}

}  // namespace virtaccel::print
