// Broken twins of a device that joins parts, each differing from it in one rule about them, and the
// case that has to name the difference.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/testing/device_twins.h"
#include "virtaccel/conformance/testing/tampering_device.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance {

namespace {

using testing::Answer;
using testing::header_bytes;
using testing::is;
using testing::Links;
using testing::names;
using testing::Says;
using testing::TamperingDevice;
using wire::Opcode;

constexpr auto ok = Status::ok;
constexpr auto incompatible = Status::incompatible;
constexpr auto invalid = Status::invalid_argument;
constexpr std::size_t payload_at = header_bytes + sizeof(wire::LoadProgram);

// What a request loads, if it does.
std::uint32_t format_of(const Links& links) {
    const Bytes bytes = links.request();
    if (!is(links, Opcode::load_program) || bytes.size() <= payload_at) {
        return 0;
    }
    return wire::load<wire::LoadProgram>(bytes.data() + header_bytes).format;
}

// Answers parts otherwise where they were answered with a status, or joins.
template <std::uint32_t format, Status from, Status to>
struct SaysOf : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (format_of(answer.links) == format && answer.is(from)) {
            answer.refuse(to);
        }
    }
};

template <Status from, Status to>
using SaysOfParts = SaysOf<parts::part_format, from, to>;
template <Status from, Status to>
using SaysOfJoins = SaysOf<parts::join_format, from, to>;

// Changes the first byte of each part.
struct TurnsABit : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (format_of(links) == parts::part_format) {
            links.readable.front().data[payload_at + parts::part_head_bytes] ^= std::byte{1};
        }
        return true;
    }
};

// Wants parts one after the other from the beginning.
struct WantsOrder : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    void after(Answer& answer) override {
        if (format_of(answer.links) != parts::part_format || !answer.is(ok)) {
            return;
        }
        const Bytes bytes = answer.links.request();
        const auto head = parts::decode_part(
            std::span{bytes}.subspan(payload_at).first<parts::part_head_bytes>());
        if (head.total_bytes > 2 && head.offset != next_) {
            answer.refuse(invalid);
        } else if (head.total_bytes > 2) {
            next_ = head.offset + bytes.size() - payload_at - parts::part_head_bytes;
        }
    }

  private:
    std::uint64_t next_ = 0;
};

// A device by another hand: a part is of a format that it does not take.
struct KnowsNoParts : TamperingDevice {
    using TamperingDevice::TamperingDevice;

    bool before(const Links& links) override {
        if (format_of(links) == parts::part_format) {
            const wire::le32 format = 1;
            std::memcpy(
                links.readable.front().data + header_bytes + offsetof(wire::LoadProgram, format),
                &format, sizeof format);
        }
        return true;
    }
};

TEST(PartsTwins, that_join_something_else_are_named) {
    EXPECT_TRUE(names<TurnsABit>("parts.run"));
    EXPECT_TRUE(names<WantsOrder>("parts.any-order"));
    EXPECT_TRUE(names<WantsOrder>("parts.come-again"));
    EXPECT_TRUE((names<SaysOfJoins<ok, Status::internal_error>>("parts.run")));
}

TEST(PartsTwins, that_join_what_is_not_there_are_named) {
    using Lenient = SaysOfJoins<invalid, ok>;
    EXPECT_TRUE(names<Lenient>("parts.missing"));
    EXPECT_TRUE(names<Lenient>("parts.come-again"));
    EXPECT_TRUE(names<Lenient>("parts.of-another-context"));
    EXPECT_TRUE(names<Lenient>("parts.after-reset"));
    EXPECT_TRUE(names<Lenient>("parts.malformed-join"));
    EXPECT_TRUE((names<SaysOfJoins<Status::unsupported, ok>>("parts.malformed-join")));
    EXPECT_TRUE((names<SaysOfJoins<invalid, Status::stale_object>>("parts.missing")));
}

TEST(PartsTwins, that_take_any_part_are_named) {
    EXPECT_TRUE((names<SaysOfParts<invalid, ok>>("parts.overlap")));
    EXPECT_TRUE((names<SaysOfParts<invalid, ok>>("parts.malformed")));
    EXPECT_TRUE((names<SaysOfParts<Status::out_of_bounds, invalid>>("parts.malformed")));
    EXPECT_TRUE((names<SaysOfParts<incompatible, invalid>>("parts.malformed")));
    EXPECT_TRUE((names<SaysOfParts<incompatible, invalid>>("parts.other-total")));
    EXPECT_TRUE((names<SaysOfParts<Status::resource_limit, ok>>("parts.limits")));
    EXPECT_TRUE((names<Says<Opcode::submit, incompatible, ok>>("parts.submitted")));
}

TEST(PartsTwins, that_know_no_parts_are_left_alone) {
    KnowsNoParts device{host::heap(),
                        {.state = nullptr, .make = testing::make_mock},
                        RingDeviceOptions{.queue_size = 64, .device = testing::device_options()}};
    std::size_t skipped = 0;
    for (const DeviceCase& row : device_cases()) {
        if (row.name.starts_with("parts.")) {
            const auto result = run_device_case(testing::subject_of(device), row);
            EXPECT_EQ(result.outcome, Outcome::skipped) << row.name << ": " << result.reason;
            ++skipped;
        }
    }
    EXPECT_GE(skipped, 12U);
}

}  // namespace

}  // namespace virtaccel::conformance
