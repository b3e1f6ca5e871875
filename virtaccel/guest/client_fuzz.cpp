// A client whose device is hostile: whatever it answers, and whatever it writes into the used ring
// and into the memory of requests at whatever time, each request ends exactly once, and what came
// of it does not change afterwards.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/hostile_answer.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace {

namespace queue = virtaccel::queue;
namespace wire = virtaccel::wire;

using virtaccel::Piece;
using virtaccel::PieceList;
using virtaccel::Status;
using virtaccel::guest::Chain;
using virtaccel::guest::Client;
using virtaccel::guest::FailureKind;
using virtaccel::guest::Handle;
using virtaccel::guest::Outcome;
using virtaccel::guest::testing::hostile_answer;
using virtaccel::guest::testing::rig_config;
using virtaccel::guest::testing::rig_identity;
using virtaccel::testing::Choices;
using wire::Opcode;

constexpr std::uint32_t ring_size = 16;
constexpr std::uint32_t pieces_max = 6;
constexpr std::size_t bulk_bytes = 200;
constexpr std::uint32_t slot_count = 9;
constexpr std::uint32_t handles_max = 16;

// A chain, and what its device knows of the request that it last carried.
struct Slot {
    Chain chain;
    bool is_posted = false;
    Opcode opcode = Opcode::get_device_info;
    std::uint16_t head = 0;
    wire::RequestHeader header;
    std::vector<Piece> writable;
};

template <class KindTag>
using Handles = std::vector<Handle<KindTag>>;

Chain make_chain() {
    auto chain = Chain::make(virtaccel::host::heap(), Chain::bytes_for_write(bulk_bytes));
    VIRTACCEL_CHECK(chain &&
                    chain->reserve_pieces(virtaccel::host::heap(), pieces_max) == Status::ok);
    return *std::move(chain);
}

class Fuzz {
  public:
    explicit Fuzz(Choices choices) : choices_(choices) {
        for (Slot& slot : slots_) {
            slot.chain = make_chain();
        }
        adopt_all();
    }

    Fuzz(const Fuzz&) = delete;
    Fuzz& operator=(const Fuzz&) = delete;

    ~Fuzz() {
        reset(rig_config());
        while (next()) {
        }
        VIRTACCEL_CHECK(client_.in_flight() == 0 && !client_.needs_reset());
    }

    void run() {
        while (!choices_.done()) {
            step();
            VIRTACCEL_CHECK(client_.in_flight() ==
                            std::ranges::count(slots_, true, &Slot::is_posted));
        }
    }

  private:
    void step() {
        switch (choices_.below(16)) {
            case 0:
                return device_.use({.id = choices_.below(ring_size + 2), .bytes = choices_.byte()});
            case 1:
                return device_.use({.id = static_cast<std::uint32_t>(choices_.number(4)),
                                    .bytes = static_cast<std::uint32_t>(choices_.number(4))});
            case 2:
                return ring_.publish_used_index(static_cast<std::uint16_t>(choices_.number(2)));
            case 3:
                return scribble(any_slot());
            case 4:
                return reset(config());
            case 5:
                return client_.require_recovery();
            case 6:
            case 7:
            case 8:
            case 9:
                return answer(any_slot());
            case 10:
            case 11:
            case 12:
                return static_cast<void>(next());
            default:
                return post(any_slot());
        }
    }

    Slot& any_slot() { return slots_.at(choices_.below(slot_count)); }

    // One handle of each kind that no device gave.
    void adopt_all() {
        std::get<0>(handles_).push_back(client_.adopt(virtaccel::ContextId{11}));
        std::get<1>(handles_).push_back(client_.adopt(virtaccel::BufferId{12}));
        std::get<2>(handles_).push_back(client_.adopt(virtaccel::ProgramId{13}));
        std::get<3>(handles_).push_back(client_.adopt(virtaccel::QueueId{14}));
        std::get<4>(handles_).push_back(client_.adopt(virtaccel::EventId{15}));
    }

    template <class KindTag>
    Handle<KindTag>& any() {
        auto& handles = std::get<Handles<KindTag>>(handles_);
        return handles[choices_.below(static_cast<std::uint32_t>(handles.size()))];
    }

    template <class KindTag>
    void keep(Handle<KindTag> handle) {
        auto& handles = std::get<Handles<KindTag>>(handles_);
        if (handles.size() < handles_max) {
            handles.push_back(std::move(handle));
        } else {
            handles[choices_.below(handles_max)] = std::move(handle);
        }
    }

    // What the guest asks.
    void post(Slot& slot) {
        constexpr auto opcodes = std::apply(
            [](const auto&... row) { return std::array{row.opcode...}; }, wire::commands);
        const Opcode opcode = choices_.one_of(opcodes);
        const bool open = !client_.needs_reset() && !slot.is_posted;
        const auto posted = send(slot.chain, opcode);
        if (!posted) {
            const auto kind = posted.error().kind;
            VIRTACCEL_CHECK(kind == FailureKind::backpressure || kind == FailureKind::not_sent ||
                            kind == FailureKind::invalidated ||
                            kind == FailureKind::recovery_required);
            VIRTACCEL_CHECK(slot.chain.in_flight() == slot.is_posted);
            return;
        }
        VIRTACCEL_CHECK(open && slot.chain.in_flight());
        slot.is_posted = true;
        slot.opcode = opcode;
        look_at_request(slot);
        client_.kick();
    }

    Outcome<void> send(Chain& chain, Opcode opcode) {
        switch (opcode) {
            case Opcode::get_device_info:
                return client_.get_device_info(chain);
            case Opcode::create_context:
                return client_.create_context(chain);
            case Opcode::destroy_context:
                return client_.release(chain, any<virtaccel::ContextKind>());
            case Opcode::allocate_buffer:
                return client_.allocate_buffer(
                    chain, any<virtaccel::ContextKind>(),
                    {.bytes = choices_.number(3), .usage = virtaccel::Usage{choices_.byte()}});
            case Opcode::free_buffer:
                return client_.release(chain, any<virtaccel::BufferKind>());
            case Opcode::write_buffer:
                return send_write(chain);
            case Opcode::read_buffer:
                return send_read(chain);
            case Opcode::load_program:
                return client_.load_program(
                    chain, any<virtaccel::ContextKind>(),
                    {.format = 1,
                     .artifact = std::span{bulk_}.first(choices_.byte() % bulk_bytes)});
            case Opcode::unload_program:
                return client_.release(chain, any<virtaccel::ProgramKind>());
            case Opcode::create_queue:
                return client_.create_queue(chain, any<virtaccel::ContextKind>());
            case Opcode::destroy_queue:
                return client_.release(chain, any<virtaccel::QueueKind>());
            case Opcode::submit:
                return send_submission(chain);
            case Opcode::poll_event:
                return client_.poll_event(chain, any<virtaccel::EventKind>());
            case Opcode::cancel_event:
                return client_.cancel_event(chain, any<virtaccel::EventKind>());
            default:
                return client_.release(chain, any<virtaccel::EventKind>());
        }
    }

    // Some of the bulk bytes, in up to three pieces.
    PieceList some_pieces() {
        std::span<std::byte> left{bulk_};
        const std::size_t count = 1 + choices_.below(3);
        for (std::size_t i = 0; i < count; ++i) {
            const auto part = left.first(choices_.byte() % left.size());
            pieces_.at(i) = {.data = part.data(), .size = part.size()};
            left = left.subspan(part.size());
        }
        return PieceList::of(std::span{pieces_}.first(count));
    }

    Outcome<void> send_write(Chain& chain) {
        const auto& buffer = any<virtaccel::BufferKind>();
        const std::uint64_t offset = choices_.number(1);
        if (choices_.one_in(2)) {
            return client_.write_prepared(chain, buffer, offset, some_pieces());
        }
        return client_.write_buffer(chain, buffer, offset,
                                    std::span{bulk_}.first(choices_.byte() % bulk_bytes));
    }

    Outcome<void> send_read(Chain& chain) {
        const auto& buffer = any<virtaccel::BufferKind>();
        const std::uint64_t offset = choices_.number(1);
        if (choices_.one_in(2)) {
            return client_.read_prepared(chain, buffer, offset, some_pieces());
        }
        return client_.read_buffer(chain, buffer, {.offset = offset, .bytes = choices_.byte()});
    }

    Outcome<void> send_submission(Chain& chain) {
        std::array<virtaccel::guest::Binding, 7> bindings;
        const std::size_t count = choices_.below(bindings.size() + 1);
        for (auto& binding : std::span{bindings}.first(count)) {
            binding = {.slot = choices_.byte(),
                       .access = static_cast<virtaccel::Access>(choices_.below(5)),
                       .buffer = &any<virtaccel::BufferKind>(),
                       .range = {.offset = choices_.byte(), .bytes = choices_.byte()}};
        }
        return client_.submit(chain, {.queue = any<virtaccel::QueueKind>(),
                                      .program = any<virtaccel::ProgramKind>(),
                                      .bindings = std::span{bindings}.first(count)});
    }

    // The device finds the request that was just posted where the driver has put it.
    void look_at_request(Slot& slot) {
        const auto last = static_cast<std::uint16_t>(ring_.available_index() - 1);
        slot.head = ring_.load_available(last);
        slot.writable.clear();
        auto at = ring_.load_descriptor(slot.head);
        std::memcpy(&slot.header, piece_of(at).data, sizeof slot.header);
        while (true) {
            if ((at.flags & queue::descriptor_write) != 0) {
                slot.writable.push_back(piece_of(at));
            }
            if ((at.flags & queue::descriptor_next) == 0) {
                return;
            }
            at = ring_.load_descriptor(at.next);
        }
    }

    static Piece piece_of(const queue::Descriptor& at) {
        return {.data = std::bit_cast<std::byte*>(static_cast<std::uintptr_t>(at.address)),
                .size = at.bytes};
    }

    void answer(const Slot& slot) {
        if (!slot.writable.empty()) {
            device_.use(
                {.id = slot.head,
                 .bytes = hostile_answer(choices_, slot.header, slot.writable, rig_identity())});
        }
    }

    // Writes where the device has ever been allowed to.
    void scribble(const Slot& slot) {
        const auto value = static_cast<std::byte>(choices_.byte());
        for (const Piece& piece : slot.writable) {
            std::ranges::fill(std::span{piece.data, piece.size}, value);
        }
    }

    // Takes one completed chain, and what came of it.
    bool next() {
        const Chain* const chain = client_.next();
        if (chain == nullptr) {
            return false;
        }
        const auto slot =
            std::ranges::find_if(slots_, [&](const Slot& one) { return &one.chain == chain; });
        VIRTACCEL_CHECK(slot != slots_.end() && slot->is_posted && !chain->in_flight());
        slot->is_posted = false;
        take_result(*slot);
        return true;
    }

    void take_result(Slot& slot) {
        [&]<std::size_t... row>(std::index_sequence<row...>) {
            (take_if<
                 std::tuple_element_t<row, std::remove_const_t<decltype(wire::commands)>>::opcode>(
                 slot),
             ...);
        }(std::make_index_sequence<wire::command_count>{});
    }

    template <Opcode op>
    void take_if(Slot& slot) {
        if (slot.opcode != op) {
            return;
        }
        const auto failure = slot.chain.failure();
        auto result = client_.result<op>(slot.chain);
        VIRTACCEL_CHECK(!failure || failure->opcode == op);
        if constexpr (op != Opcode::get_device_info && op != Opcode::read_buffer) {
            scribble(slot);
            const auto again = client_.result<op>(slot.chain);
            VIRTACCEL_CHECK(result.has_value() == again.has_value());
            keep_result<op>(std::move(result), again);
        }
    }

    template <Opcode op, class Result>
    void keep_result(Result result, const Result& again) {
        if constexpr (virtaccel::guest::detail::is_release<op>) {
            if (!result && result.error().handle) {
                keep(std::move(result.error().handle));
            }
        } else if constexpr (op == Opcode::submit) {
            if (result) {
                VIRTACCEL_CHECK(result->event && result->event.id() == again->event.id() &&
                                result->status == again->status);
                keep(std::move(result->event));
            }
        } else if constexpr (op == Opcode::poll_event) {
            VIRTACCEL_CHECK(!result || *result == *again);
        } else if constexpr (!std::is_void_v<typename Result::value_type>) {
            if (result) {
                VIRTACCEL_CHECK(*result && result->id() == again->id());
                keep(*std::move(result));
            }
        }
    }

    wire::Config config() {
        wire::Config config = rig_config();
        if (choices_.one_in(3)) {
            config.request_bytes_max = static_cast<std::uint32_t>(choices_.number(1)) + 90;
            config.response_bytes_max = static_cast<std::uint32_t>(choices_.number(1)) + 90;
            config.chain_descriptors_max = static_cast<std::uint16_t>(choices_.below(8));
        }
        return config;
    }

    void reset(const wire::Config& config) {
        client_.begin_reset();
        VIRTACCEL_CHECK(client_.needs_reset());
        driver_.reset();
        device_ = queue::testing::RawDevice{ring_};
        const Status status = client_.finish_reset(config);
        VIRTACCEL_CHECK(client_.needs_reset() == (status != Status::ok));
        adopt_all_again();
    }

    // Old handles stay among the new ones, for some time.
    void adopt_all_again() {
        std::apply([](auto&... handles) { ((handles.size() > 4 ? handles.clear() : void()), ...); },
                   handles_);
        adopt_all();
    }

    Choices choices_;
    queue::testing::GuestRam ram_{virtaccel::host::heap(), 1};
    queue::RingMemory ring_ = queue::ring_at(ram_.bytes().data(), queue::lay_out_ring(ring_size));
    queue::DriverRing driver_{virtaccel::host::heap(), {.chain_descriptors_max = pieces_max}};
    queue::testing::RawDevice device_{ring_};
    std::array<std::byte, bulk_bytes> bulk_{};
    std::array<Piece, 3> pieces_;
    std::array<Slot, slot_count> slots_;
    Client client_ = start_client();
    std::tuple<Handles<virtaccel::ContextKind>, Handles<virtaccel::BufferKind>,
               Handles<virtaccel::ProgramKind>, Handles<virtaccel::QueueKind>,
               Handles<virtaccel::EventKind>>
        handles_;

    Client start_client() {
        VIRTACCEL_CHECK(driver_.start(ring_).has_value());
        auto client = Client::make(driver_, rig_config(), virtaccel::host::heap());
        VIRTACCEL_CHECK(client.has_value());
        return *std::move(client);
    }
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Fuzz{Choices{{data, bytes}}}.run();
    return 0;
}
