// Holds the schema against spec/vectors/frames.json, which is derived from the protocol text
// without looking at the schema.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::wire {
namespace {

using Bytes = std::vector<std::byte>;
using Json = nlohmann::json;

Bytes from_hex(const std::string& hex) {
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

const Json& vectors() {
    static const Json document = Json::parse(std::ifstream(VIRTACCEL_VECTORS "/frames.json"));
    return document;
}

FrameLimits limits() {
    const Json& given = vectors()["limits"];
    return {.request_bytes_max = given["max_request_bytes"],
            .response_bytes_max = given["max_response_bytes"],
            .bindings_max = given["max_bindings"],
            .buffer_bytes_max = given["max_buffer_bytes"],
            .artifact_bytes_max = given["max_artifact_bytes"],
            .capabilities = Capabilities{given["capabilities"].get<std::uint64_t>()}};
}

// What follows SUBMIT's fixed part, judged as spec §5 orders it.
Status judge_bindings(std::span<const std::byte> tail, const Around& around) {
    std::set<std::uint32_t> slots;
    for (std::size_t at = 0; at < tail.size(); at += sizeof(Binding)) {
        const auto binding = load<Binding>(&tail[at]);
        if (const Status status = validate(binding, around); status != Status::ok) {
            return status;
        }
        slots.insert(binding.slot);
    }
    return slots.size() == tail.size() / sizeof(Binding) ? Status::ok : Status::invalid_argument;
}

template <class Row>
Status judge_payload(const Row& row, std::span<const std::byte> payload,
                     const FrameLimits& frame_limits) {
    using Request = typename Row::Request;
    constexpr std::size_t fixed = fixed_bytes<Request>;
    const bool tailed = row.request_tail != Tail::none;
    if (tailed ? payload.size() < fixed : payload.size() != fixed) {
        return Status::invalid_argument;
    }
    const auto tail = payload.subspan(fixed);
    const Around around{.limits = frame_limits, .tail_bytes = tail.size()};
    if constexpr (!std::is_empty_v<Request>) {
        const auto record = load<Request>(payload.data());
        if (const Status status = validate(record, around); status != Status::ok) {
            return status;
        }
        if constexpr (std::is_same_v<Request, Submit>) {
            if (const Status status = judge_bindings(tail, around); status != Status::ok) {
                return status;
            }
            return first_failure(record, around, Schema<Submit>::checks_after_tail);
        }
    }
    return Status::ok;
}

Status judge_request(std::span<const std::byte> frame) {
    const FrameLimits frame_limits = limits();
    const auto header = load<RequestHeader>(frame.data());
    const auto payload = frame.subspan(sizeof header);
    const Around around{.limits = frame_limits, .tail_bytes = payload.size()};
    Status status = validate(header, around);
    if (status != Status::ok) {
        return status;
    }
    if (command_index(header.opcode) == command_count) {
        return Status::unsupported;
    }
    std::apply(
        [&](const auto&... row) {
            ((static_cast<std::uint16_t>(row.opcode) == header.opcode
                  ? void(status = judge_payload(row, payload, frame_limits))
                  : void()),
             ...);
        },
        commands);
    return status;
}

// Compares the named fields of R with what the vector says, and re-encodes.
template <class R>
void compare_fields(std::span<const std::byte> payload, const Json& fields) {
    ASSERT_GE(payload.size(), sizeof(R));
    const auto record = load<R>(payload.data());
    std::apply(
        [&](const auto&... field) {
            const auto one = [&](const auto& f) {
                SCOPED_TRACE(f.name);
                ASSERT_TRUE(fields.contains(f.name));
                const Json& expected = fields[std::string(f.name)];
                const auto bytes = encode(record);
                const auto* at = &bytes[offset_of(f.member)];
                if (expected.is_string()) {
                    const Bytes wanted = from_hex(expected);
                    ASSERT_EQ(wanted.size(), f.size);
                    EXPECT_EQ(std::memcmp(at, wanted.data(), f.size), 0);
                    return;
                }
                std::uint64_t value = 0;
                for (std::size_t i = f.size; i-- > 0;) {
                    value = (value << 8U) | static_cast<std::uint64_t>(at[i]);
                }
                EXPECT_EQ(value, expected.get<std::uint64_t>());
            };
            (one(field), ...);
        },
        Schema<R>::fields);
    EXPECT_EQ(std::tuple_size_v<std::remove_cvref_t<decltype(Schema<R>::fields)>>, fields.size());
    EXPECT_TRUE(std::ranges::equal(encode(record), payload.first(sizeof(R))));
}

void compare_record(const std::string& name, std::span<const std::byte> payload,
                    const Json& fields) {
    const auto matches = [&]<class R>() {
        if (Schema<R>::name == name) {
            compare_fields<R>(payload, fields);
            return true;
        }
        return false;
    };
    EXPECT_TRUE(matches.operator()<Config>() || matches.operator()<DeviceInfo>() ||
                matches.operator()<CreateContext>() || matches.operator()<Object<EventKind>>() ||
                matches.operator()<AllocateBuffer>() || matches.operator()<WriteBuffer>() ||
                matches.operator()<LoadProgram>() || matches.operator()<CreateQueue>() ||
                matches.operator()<Submit>() || matches.operator()<EventState>())
        << name;
}

Status status_called(const std::string& name) {
    const auto* row = std::ranges::find(status_rows, name, &StatusRow::name);
    return row == std::end(status_rows) ? static_cast<Status>(0xbad) : row->status;
}

TEST(GoldenVectors, cover_a_request_and_a_response_of_every_command) {
    std::set<std::string> seen;
    for (const Json& frame : vectors()["frames"]) {
        if (frame["status"] == "OK" && !frame["command"].is_null()) {
            seen.insert(frame["command"].get<std::string>() + frame["kind"].get<std::string>());
        }
    }
    EXPECT_EQ(seen.size(), 2 * command_count);
}

TEST(GoldenVectors, agree_with_every_field_of_every_record) {
    for (const Json& frame : vectors()["frames"]) {
        if (frame["record"].is_null()) {
            continue;
        }
        SCOPED_TRACE(frame["name"]);
        const Bytes bytes = from_hex(frame["hex"]);
        const std::size_t header = frame["kind"] == "config" ? 0 : sizeof(RequestHeader);
        compare_record(frame["record"], std::span{bytes}.subspan(header), frame["fields"]);
    }
}

TEST(GoldenVectors, are_judged_with_the_status_that_the_protocol_demands) {
    int judged = 0;
    for (const Json& frame : vectors()["frames"]) {
        if (frame["kind"] != "request") {
            continue;
        }
        SCOPED_TRACE(frame["name"]);
        EXPECT_EQ(status_name(judge_request(from_hex(frame["hex"]))),
                  frame["status"].get<std::string>());
        ++judged;
    }
    EXPECT_GT(judged, 90);
}

TEST(GoldenVectors, carry_response_headers_that_count_their_payload) {
    for (const Json& frame : vectors()["frames"]) {
        if (frame["kind"] != "response") {
            continue;
        }
        SCOPED_TRACE(frame["name"]);
        const Bytes bytes = from_hex(frame["hex"]);
        const auto header = load<ResponseHeader>(bytes.data());
        const FrameLimits unlimited;
        EXPECT_EQ(
            validate(header, {.limits = unlimited, .tail_bytes = bytes.size() - sizeof header}),
            Status::ok);
        EXPECT_EQ(static_cast<Status>(std::uint16_t{header.status}),
                  status_called(frame["status"]));
        EXPECT_EQ(header.request_id, 7U);
    }
}

TEST(Config, refuses_each_field_out_of_its_range) {
    const FrameLimits unlimited;
    const Around around{.limits = unlimited};
    Config good;
    good.chain_descriptors_max = 16;
    good.request_bytes_max = 97;
    good.response_bytes_max = 92;
    EXPECT_EQ(validate(good, around), Status::ok);
    const auto refused = [&](auto member, auto value) {
        Config bad = good;
        bad.*member = value;
        EXPECT_EQ(validate(bad, around), Status::incompatible);
    };
    refused(&Config::protocol_major, std::uint16_t{2});
    refused(&Config::command_queue_count, std::uint16_t{2});
    refused(&Config::chain_descriptors_max, std::uint16_t{1});
    refused(&Config::chain_descriptors_max, std::uint16_t{257});
    refused(&Config::request_bytes_max, 96U);
    refused(&Config::request_bytes_max, (16U << 20U) + 1);
    refused(&Config::response_bytes_max, 91U);
    refused(&Config::response_bytes_max, (16U << 20U) + 1);
    Config largest = good;
    largest.request_bytes_max = 16U << 20U;
    largest.response_bytes_max = 16U << 20U;
    EXPECT_EQ(validate(largest, around), Status::ok);
    Config newer = good;
    newer.protocol_minor = std::uint16_t{9};
    EXPECT_EQ(validate(newer, around), Status::ok) << "any minor version speaks 1.0";
}

TEST(DeviceInfo, refuses_zero_limits_reserved_bits_and_missing_memory) {
    const DeviceIdentity good{.capabilities = CapabilityBit::host_visible_memory,
                              .limits = {.contexts = 1,
                                         .buffers_per_context = 1,
                                         .programs_per_context = 1,
                                         .queues_per_context = 1,
                                         .events_per_context = 1,
                                         .bindings_per_submission = 1,
                                         .buffer_bytes = 1,
                                         .artifact_bytes = 1}};
    const FrameLimits unlimited;
    const auto judge = [&](const DeviceInfo& info) {
        return validate(info, Around{.limits = unlimited});
    };
    EXPECT_EQ(judge(to_record(good)), Status::ok);
    EXPECT_EQ(to_identity(to_record(good)), good);
    const auto refused = [&](auto member, auto value) {
        DeviceInfo bad = to_record(good);
        bad.*member = value;
        EXPECT_NE(judge(bad), Status::ok);
    };
    refused(&DeviceInfo::reserved, std::uint16_t{1});
    refused(&DeviceInfo::capabilities, std::uint64_t{1U | 8U});
    refused(&DeviceInfo::capabilities, std::uint64_t{1U | 16U});
    refused(&DeviceInfo::capabilities, std::uint64_t{4});
    for (const auto member :
         {&DeviceInfo::contexts_max, &DeviceInfo::buffers_per_context_max,
          &DeviceInfo::programs_per_context_max, &DeviceInfo::queues_per_context_max,
          &DeviceInfo::events_per_context_max, &DeviceInfo::bindings_per_submission_max}) {
        refused(member, 0U);
    }
    refused(&DeviceInfo::bindings_per_submission_max, 4097U);
    refused(&DeviceInfo::buffer_bytes_max, std::uint64_t{0});
    refused(&DeviceInfo::artifact_bytes_max, std::uint64_t{0});
    DeviceInfo without_memory = to_record(good);
    without_memory.capabilities = std::uint64_t{0};
    EXPECT_EQ(judge(without_memory), Status::incompatible);
    DeviceInfo later = to_record(good);
    later.capabilities = std::uint64_t{1U | (1ULL << 40U)};
    later.accelerator_class = std::uint16_t{77};
    EXPECT_EQ(judge(later), Status::ok) << "unknown bits and classes stay representable";
}

TEST(EventState, pairs_an_error_with_failed_and_with_nothing_else) {
    const FrameLimits unlimited;
    const auto judge = [&](std::uint16_t state, std::uint16_t error, std::uint32_t reserved) {
        EventState record;
        record.state = state;
        record.error = error;
        record.reserved = reserved;
        const Status status = validate(record, Around{.limits = unlimited});
        EXPECT_TRUE(status == Status::ok || status == Status::invalid_argument);
        return status == Status::ok;
    };
    EXPECT_TRUE(judge(0, 0, 0) && judge(1, 0, 0) && judge(2, 9, 0) && judge(3, 0, 0));
    EXPECT_FALSE(judge(0, 1, 0) || judge(1, 1, 0) || judge(2, 0, 0) || judge(3, 1, 0));
    EXPECT_FALSE(judge(4, 0, 0) || judge(0, 0, 1));
}

TEST(ReadBuffer, fills_a_response_to_the_last_byte_and_no_further) {
    FrameLimits narrow;
    narrow.response_bytes_max = 100;
    ReadBuffer record;
    record.buffer_id.raw = std::uint64_t{1};
    record.bytes = std::uint64_t{84};
    EXPECT_EQ(validate(record, Around{.limits = narrow}), Status::ok);
    record.bytes = std::uint64_t{85};
    EXPECT_EQ(validate(record, Around{.limits = narrow}), Status::resource_limit);
}

TEST(Records, without_a_check_are_right) {
    const FrameLimits limits;
    EXPECT_EQ(first_failure(Config{}, Around{.limits = limits}, std::tuple{}), Status::ok);
}

TEST(Commands, are_found_by_opcode_and_by_nothing_else) {
    std::size_t found = 0;
    for (std::uint32_t opcode = 0; opcode <= 0xffff; ++opcode) {
        const std::size_t index = command_index(static_cast<std::uint16_t>(opcode));
        if (index < command_count) {
            ++found;
            EXPECT_NE(opcode_name(static_cast<std::uint16_t>(opcode)), "UNKNOWN");
        }
    }
    EXPECT_EQ(found, command_count);
    EXPECT_EQ(opcode_name(0x0504), "UNKNOWN");
}

TEST(Decode, refuses_a_length_that_is_not_the_records) {
    const std::array<std::byte, 9> bytes{};
    const std::span all{bytes};
    EXPECT_TRUE(decode<CreateContext>(all.first(8)).has_value());
    EXPECT_EQ(decode<CreateContext>(all.first(7)).error(), Status::invalid_argument);
    EXPECT_EQ(decode<CreateContext>(all).error(), Status::invalid_argument);
}

}  // namespace
}  // namespace virtaccel::wire
