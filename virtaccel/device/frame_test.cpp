// Steps 2 to 6 of spec §5, whatever the command: the header, the lengths, the capacity, the state.
#include "virtaccel/device/frame.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

using testing::DeviceRig;
using testing::Ending;
using testing::Operation;
using testing::PopulatedRig;
using testing::untouched;

class FrameTest : public PopulatedRig {};

TEST_F(FrameTest, says_nothing_without_room_for_two_headers) {
    auto& info = request<Opcode::get_device_info>({});
    for (std::size_t capacity = 0; capacity < 16; ++capacity) {
        EXPECT_TRUE(send(info, capacity).is_silent());
    }
    for (info.size = 0; info.size < 16; ++info.size) {
        EXPECT_TRUE(send(info).is_silent());
    }
}

TEST_F(FrameTest, answers_get_device_info_with_the_backends_identity) {
    const auto reply = call<Opcode::get_device_info>();
    EXPECT_EQ(reply.used_bytes, 92U);
    const auto info = reply.as<wire::DeviceInfo>();
    EXPECT_EQ(info.uuid.bytes, backend->shown.uuid);
    EXPECT_EQ(info.contexts_max, backend->shown.limits.contexts);
    EXPECT_EQ(info.artifact_bytes_max, backend->shown.limits.artifact_bytes);
    EXPECT_EQ(info.reserved, 0);
    EXPECT_EQ(device().identity(), backend->shown);
}

// Two faults in one header; the earlier check answers.
TEST_F(FrameTest, checks_the_header_in_the_protocols_order) {
    auto& request = this->request<Opcode::get_device_info>({});
    request.header.request_id = 0;
    request.size = testing::rig_request_bytes + 1;
    EXPECT_TRUE(send(request).refuses(Status::resource_limit)) << "size, then payload_bytes";
    request.size = 16;
    request.header.payload_bytes = 1;
    request.header.flags = 1;
    EXPECT_TRUE(send(request).refuses(Status::invalid_argument)) << "payload_bytes, then flags";
    request.header.payload_bytes = 0;
    EXPECT_TRUE(send(request).refuses(Status::invalid_argument)) << "request_id, then flags";
    request.header.request_id = 9;
    request.header.opcode = 0x7777;
    EXPECT_TRUE(send(request).refuses(Status::unsupported)) << "flags";
    request.header.flags = 0;
    EXPECT_TRUE(send(request).refuses(Status::unsupported)) << "opcode";
    request.append(std::array{untouched});
    EXPECT_TRUE(send(request).refuses(Status::unsupported)) << "opcode, then its payload";
    request.header.opcode = static_cast<std::uint16_t>(Opcode::get_device_info);
    EXPECT_TRUE(send(request).refuses(Status::invalid_argument)) << "payload";
    EXPECT_TRUE(send(request, 20).refuses(Status::invalid_argument)) << "payload, then capacity";
}

TEST_F(FrameTest, echoes_a_request_id_of_zero) {
    auto& request = this->request<Opcode::get_device_info>({});
    request.header.request_id = 0;
    const auto reply = send(request);
    EXPECT_TRUE(reply.refuses(Status::invalid_argument));
    EXPECT_EQ(reply.request_id, 0U);
}

TEST_F(FrameTest, takes_the_largest_frame_and_no_larger) {
    wire::WriteBuffer record;
    record.buffer_id = buffer(context_id, 1U << 17U);
    record.bytes = testing::rig_request_bytes - 40;
    std::vector<std::byte> data(testing::rig_request_bytes - 39);
    const auto reply = call<Opcode::write_buffer>(record, std::span{data}.first(data.size() - 1));
    EXPECT_EQ(reply.status, Status::ok);
    record.bytes = record.bytes + 1;
    EXPECT_TRUE(call<Opcode::write_buffer>(record, data).refuses(Status::resource_limit));
}

TEST_F(FrameTest, refuses_every_opcode_that_is_not_assigned) {
    auto& request = this->request<Opcode::get_device_info>({});
    for (std::uint32_t opcode = 0; opcode <= 0xffff; ++opcode) {
        request.header.opcode = static_cast<std::uint16_t>(opcode);
        const bool assigned = wire::opcode_name(static_cast<std::uint16_t>(opcode)) != "UNKNOWN";
        if (!assigned) {
            ASSERT_TRUE(send(request).refuses(Status::unsupported)) << opcode;
        }
    }
}

// Sends `request` with every capacity from a header up to one byte less than it needs.
void expect_silence_below(DeviceRig& rig, testing::Request& request, std::size_t needed) {
    const auto before = rig.backend->calls();
    for (std::size_t capacity = 16; capacity < needed; ++capacity) {
        ASSERT_TRUE(rig.send(request, capacity).is_silent()) << request.header.opcode;
    }
    ASSERT_EQ(rig.backend->calls(), before) << "short capacity comes before the backend";
}

TEST_F(FrameTest, is_silent_and_changes_nothing_when_the_answer_has_no_room) {
    expect_silence_below(*this, request<Opcode::get_device_info>({}), 92);
    expect_silence_below(*this, request<Opcode::create_context>({}), 24);
    expect_silence_below(*this, request<Opcode::allocate_buffer>(allocation(context_id)), 24);
    expect_silence_below(*this,
                         request<Opcode::load_program>(artifact(context_id), artifact_bytes()), 24);
    expect_silence_below(*this, request<Opcode::create_queue>({context_id, 0U, 0U}), 24);
    const std::array bindings{binding(buffer_id)};
    expect_silence_below(*this,
                         request<Opcode::submit>(submission(queue_id, program_id, 1),
                                                 std::as_bytes(std::span{bindings})),
                         24);
    expect_silence_below(*this, request<Opcode::poll_event>({one_event()}), 24);
    wire::ReadBuffer read;
    read.buffer_id = buffer(context_id);
    read.bytes = 100;
    expect_silence_below(*this, request<Opcode::read_buffer>(read), 116);
    const auto holdings = device().holdings();
    EXPECT_EQ(holdings.contexts, 1U);
    EXPECT_EQ(holdings.buffers, 2U);
    EXPECT_EQ(holdings.events, 1U);
}

TEST_F(FrameTest, puts_short_capacity_before_lost_devices_and_stale_objects) {
    EXPECT_TRUE(call<Opcode::poll_event>({EventId{99}}, {}, 23).is_silent());
    backend->next(Operation::free, Ending::lost());
    EXPECT_TRUE(call<Opcode::free_buffer>({buffer_id}).refuses(Status::device_lost));
    EXPECT_TRUE(call<Opcode::get_device_info>({}, {}, 91).is_silent());
    EXPECT_TRUE(call<Opcode::get_device_info>({}, {}, 92).refuses(Status::device_lost));
}

TEST_F(FrameTest, answers_every_well_formed_command_of_a_lost_device_alike) {
    backend->next(Operation::create_context, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(call<Opcode::create_context>().refuses(Status::device_lost));
    const auto calls = backend->calls();
    const auto lost = Status::device_lost;
    EXPECT_TRUE(call<Opcode::get_device_info>().refuses(lost));
    EXPECT_TRUE(call<Opcode::create_context>().refuses(lost));
    EXPECT_TRUE(call<Opcode::destroy_context>({ContextId{5}}).refuses(lost));
    EXPECT_TRUE(call<Opcode::allocate_buffer>(allocation({5})).refuses(lost));
    EXPECT_TRUE(call<Opcode::free_buffer>({BufferId{5}}).refuses(lost));
    EXPECT_TRUE(call<Opcode::cancel_event>({EventId{5}}).refuses(lost));
    EXPECT_TRUE(call<Opcode::poll_event>({EventId{5}}).refuses(lost));
    EXPECT_TRUE(submit({5}, {5}, std::array{binding({5})}).refuses(lost));
    EXPECT_TRUE(call<Opcode::load_program>(artifact({5}), artifact_bytes()).refuses(lost));
    EXPECT_TRUE(call<Opcode::create_queue>({ContextId{5}, 0U, 0U}).refuses(lost));
    EXPECT_TRUE(call<Opcode::poll_event>({EventId{0}}).refuses(Status::invalid_argument))
        << "the payload comes before the state";
    EXPECT_EQ(backend->calls(), calls);
}

// H3: the same answer however the request and the response are cut.
class CutTest : public PopulatedRig {
  public:
    // Serves `bytes` cut at `cuts` into a response cut into pieces of `piece_bytes`, with spare
    // room.
    std::vector<std::byte> serve_cut(const std::vector<std::byte>& bytes,
                                     std::vector<std::size_t> cuts, std::size_t piece_bytes) {
        cuts.push_back(bytes.size());
        std::vector<std::byte> request_room;
        const auto readable = spread(request_room, bytes, cuts);
        std::vector<std::byte> space(4096, untouched);
        std::vector<std::size_t> ends;
        for (std::size_t i = 1; i <= 16; ++i) {
            ends.push_back(i * piece_bytes);
        }
        ends.push_back(space.size());
        std::vector<std::byte> response_room;
        const auto writable = spread(response_room, space, ends);
        const auto served = device().serve(PieceList::of(readable), PieceList::of(writable));
        auto next = space.begin();
        for (const Piece& piece : writable) {
            next = std::copy_n(piece.data, piece.size, next);
            std::fill_n(piece.data, piece.size, untouched);
        }
        const auto is_untouched = [](std::byte byte) { return byte == untouched; };
        EXPECT_TRUE(std::ranges::all_of(response_room, is_untouched)) << "between two pieces";
        EXPECT_TRUE(std::ranges::all_of(std::span{space}.subspan(served.used_bytes), is_untouched));
        space.resize(served.used_bytes);
        return space;
    }

    // `bytes` in pieces that end at `ends`, laid into `room` with a gap after each: whoever reads
    // over the end of one does not find the next.
    static std::vector<Piece> spread(std::vector<std::byte>& room, std::span<const std::byte> bytes,
                                     std::span<const std::size_t> ends) {
        constexpr std::size_t gap = 128;
        room.assign(bytes.size() + ends.size() * gap, untouched);
        std::vector<Piece> pieces;
        std::size_t start = 0;
        for (const auto end : ends) {
            std::byte* const at = room.data() + start + pieces.size() * gap;
            std::ranges::copy(bytes.subspan(start, end - start), at);
            pieces.push_back({at, end - start});
            start = end;
        }
        return pieces;
    }

    void expect_one_answer(const testing::Request& request) {
        const std::vector bytes(request.bytes.begin(),
                                request.bytes.begin() + static_cast<std::ptrdiff_t>(request.size));
        const auto whole = serve_cut(bytes, {}, 128);
        EXPECT_GE(whole.size(), 16U);
        for (const std::size_t piece_bytes : {8U, 15U, 16U, 17U, 20U, 23U, 24U}) {
            EXPECT_EQ(serve_cut(bytes, {}, piece_bytes), whole) << piece_bytes;
        }
        for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
            EXPECT_EQ(serve_cut(bytes, {cut}, 1), whole);
            EXPECT_EQ(serve_cut(bytes, {cut}, 3), whole);
        }
        std::vector<std::size_t> everywhere;
        for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
            everywhere.push_back(cut);
        }
        EXPECT_EQ(serve_cut(bytes, everywhere, 1), whole);
    }

    template <Opcode op>
    void expect_one_answer_to(const wire::RequestOf<op>& record,
                              std::span<const std::byte> tail = {}) {
        auto& request = this->request<op>(record, tail);
        (void)request.frame();
        expect_one_answer(request);
    }
};

TEST_F(CutTest, gives_one_answer_however_the_frame_is_cut) {
    expect_one_answer_to<Opcode::get_device_info>({});
    expect_one_answer_to<Opcode::poll_event>({one_event()});
    expect_one_answer_to<Opcode::destroy_queue>({queue_id});
    const auto other = buffer(context_id);
    const std::array data{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
    expect_one_answer_to<Opcode::write_buffer>({other, 7U, data.size()}, data);
    expect_one_answer_to<Opcode::read_buffer>({other, 5U, 60U});
    wire::ReadBuffer read;
    read.buffer_id = other;
    read.offset = 7;
    read.bytes = data.size();
    const auto reply = call<Opcode::read_buffer>(read);
    EXPECT_TRUE(std::ranges::equal(std::span{reply.payload}.first(data.size()), data));
    std::array twice{binding(buffer_id), binding(buffer_id)};
    expect_one_answer_to<Opcode::submit>(submission(queue_id, program_id, 2),
                                         std::as_bytes(std::span{twice}));
    auto refused = allocation(context_id);
    refused.alignment = 3;
    expect_one_answer_to<Opcode::allocate_buffer>(refused);
}

TEST_F(CutTest, submits_bindings_that_lie_in_many_pieces) {
    const std::array bindings{binding(buffer_id, 9), binding(buffer_id, 3, {64, 32})};
    auto& request = this->request<Opcode::submit>(submission(queue_id, program_id, 2),
                                                  std::as_bytes(std::span{bindings}));
    const auto frame = request.frame();
    std::vector<std::size_t> cuts;
    for (std::size_t cut = 1; cut < frame.size(); ++cut) {
        cuts.push_back(cut);
    }
    EXPECT_EQ(serve_cut({frame.begin(), frame.end()}, cuts, 1).size(), 24U);
    ASSERT_EQ(backend->bindings().size(), 2U);
    EXPECT_EQ(backend->bindings()[0].slot, 3U);
    EXPECT_EQ(backend->bindings()[0].range, (ByteRange{64, 32}));
    EXPECT_EQ(backend->bindings()[1].slot, 9U);
}

// A lease that ends when a test says so.
class LeaseTest : public PopulatedRig {
  public:
    Served serve_leased(testing::Request& request, std::uint32_t read_epoch,
                        std::uint32_t write_epoch) {
        const auto frame = request.frame();
        const Piece readable{const_cast<std::byte*>(frame.data()), frame.size()};
        const Piece writable{response().data(), response().size()};
        response().fill(untouched);
        return device().serve(PieceList::of({&readable, 1}, {&live, read_epoch}),
                              PieceList::of({&writable, 1}, {&live, write_epoch}));
    }

    [[nodiscard]] bool response_is_untouched() {
        return std::ranges::all_of(response(), [](auto byte) { return byte == untouched; });
    }

    std::uint32_t live = 5;
};

TEST_F(LeaseTest, touches_nothing_once_the_lease_has_ended) {
    auto& create = request<Opcode::create_context>({});
    const auto before = backend->calls();
    EXPECT_EQ(serve_leased(create, 4, 4).used_bytes, 0U);
    EXPECT_EQ(backend->calls(), before);
    const std::array bindings{binding(buffer_id)};
    auto& submit = request<Opcode::submit>(submission(queue_id, program_id, 1),
                                           std::as_bytes(std::span{bindings}));
    EXPECT_EQ(serve_leased(submit, 4, 4).used_bytes, 0U);
    EXPECT_EQ(backend->calls(), before);
    EXPECT_TRUE(response_is_untouched());
    EXPECT_FALSE(device().needs_reset());
}

// VQ-020: the guest cannot be told of a change, so the device stops.
TEST_F(LeaseTest, needs_a_reset_after_a_change_it_could_not_report) {
    EXPECT_EQ(serve_leased(request<Opcode::create_context>({}), 5, 4).used_bytes, 0U);
    EXPECT_TRUE(response_is_untouched());
    EXPECT_TRUE(device().needs_reset());
    EXPECT_FALSE(device().discard_required());
    EXPECT_TRUE(call<Opcode::get_device_info>().refuses(Status::device_lost));
    const auto report = device().reset();
    EXPECT_FALSE(report.discard);
    EXPECT_EQ(report.released.objects, 5U) << "the one that was not reported, too";
    EXPECT_FALSE(device().needs_reset());
    EXPECT_EQ(backend->live(), 0U);
}

TEST_F(LeaseTest, needs_no_reset_when_nothing_had_changed) {
    EXPECT_EQ(serve_leased(request<Opcode::get_device_info>({}), 5, 4).used_bytes, 0U);
    EXPECT_EQ(serve_leased(request<Opcode::poll_event>({one_event()}), 5, 4).used_bytes, 0U);
    EXPECT_EQ(serve_leased(request<Opcode::free_buffer>({BufferId{3}}), 5, 4).used_bytes, 0U);
    const auto other = buffer(context_id);
    EXPECT_EQ(serve_leased(request<Opcode::read_buffer>({other, 0U, 4U}), 5, 4).used_bytes, 0U);
    EXPECT_TRUE(response_is_untouched());
    EXPECT_FALSE(device().needs_reset());
}

}  // namespace
}  // namespace virtaccel::device
