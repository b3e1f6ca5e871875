#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::BufferHandle;

namespace {

constexpr std::size_t size = 211;

// A buffer of `size` bytes that holds a pattern, in a context of its own.
struct Filled {
    backend::ContextHandle context;
    BufferHandle buffer;
    Bytes contents;
};

Checked<Filled> filled_buffer(const Direct& direct) {
    Filled filled;
    filled.contents = pattern_of(size, 1);
    VIRTACCEL_TRY_ASSIGN(filled.context, direct.context());
    VIRTACCEL_TRY_ASSIGN(filled.buffer, direct.buffer(filled.context, filled.contents));
    return filled;
}

Check give_up(const Direct& direct, const Filled& filled) {
    VIRTACCEL_TRY(direct.release(filled.buffer));
    return direct.release(filled.context);
}

// Writes to the buffer and to what it has to hold.
Check write_both(const Direct& direct, Filled& filled, std::size_t offset, const Bytes& bytes,
                 Cut where = {}) {
    std::ranges::copy(bytes, filled.contents.begin() + static_cast<std::ptrdiff_t>(offset));
    return direct.write(filled.buffer, offset, bytes, where);
}

template <std::size_t every>
Check writes_from_pieces(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Filled filled, filled_buffer(bench));
    VIRTACCEL_TRY(write_both(bench, filled, 0, pattern_of(size, 2), {.every = every}));
    VIRTACCEL_TRY(bench.expect_contents(filled.buffer, filled.contents, "A buffer"));
    VIRTACCEL_TRY(write_both(bench, filled, 19, pattern_of(100, 3), {.every = every, .first = 1}));
    VIRTACCEL_TRY(bench.expect_contents(filled.buffer, filled.contents, "A buffer"));
    return give_up(bench, filled);
}

template <std::size_t every>
Check reads_into_pieces(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Filled filled, filled_buffer(bench));
    VIRTACCEL_TRY_ASSIGN(const Bytes whole, bench.read(filled.buffer, 0, size, {.every = every}));
    VIRTACCEL_TRY(expect(whole == filled.contents, "A read into pieces of (", every,
                         ") bytes gives other bytes than were written."));
    VIRTACCEL_TRY_ASSIGN(const Bytes part, bench.read(filled.buffer, 23, 100, {.every = every}));
    VIRTACCEL_TRY(expect(std::ranges::equal(part, std::span{filled.contents}.subspan(23, 100)),
                         "A read of a part into pieces of (", every,
                         ") bytes gives other bytes than were written."));
    return give_up(bench, filled);
}

// One byte to every place, each time from a different source.
Check every_byte_can_be_written(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Filled filled, filled_buffer(bench));
    for (std::size_t at = 0; at < size; ++at) {
        VIRTACCEL_TRY(write_both(bench, filled, at, pattern_of(1, at + 40)));
    }
    VIRTACCEL_TRY(bench.expect_contents(filled.buffer, filled.contents, "A buffer"));
    return give_up(bench, filled);
}

Check every_byte_can_be_read(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Filled filled, filled_buffer(bench));
    for (std::size_t at = 0; at < size; ++at) {
        VIRTACCEL_TRY_ASSIGN(const Bytes found, bench.read(filled.buffer, at, 1));
        VIRTACCEL_TRY(expect(found[0] == filled.contents[at], "A read of the byte (", at,
                             ") gives another one."));
    }
    return give_up(bench, filled);
}

// A write up to the last byte, from everywhere.
Check every_end_can_be_written(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Filled filled, filled_buffer(bench));
    for (std::size_t bytes = 1; bytes <= size; bytes += 6) {
        VIRTACCEL_TRY(write_both(bench, filled, size - bytes, pattern_of(bytes, bytes)));
        VIRTACCEL_TRY(bench.expect_contents(filled.buffer, filled.contents, "A buffer"));
    }
    return give_up(bench, filled);
}

Check last_write_wins(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Filled filled, filled_buffer(bench));
    for (std::size_t at = 0; at + 32 <= size; at += 9) {
        VIRTACCEL_TRY(write_both(bench, filled, at, pattern_of(32, at)));
    }
    VIRTACCEL_TRY(bench.expect_contents(filled.buffer, filled.contents, "A buffer"));
    return give_up(bench, filled);
}

Check rest_stays(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Filled filled, filled_buffer(bench));
    for (const std::size_t bytes : {1U, 2U, 3U, 5U, 8U, 13U, 21U, 34U}) {
        VIRTACCEL_TRY(write_both(bench, filled, 61, pattern_of(bytes, bytes)));
        VIRTACCEL_TRY(
            bench.expect_contents(filled.buffer, filled.contents, "A buffer written in part"));
    }
    return give_up(bench, filled);
}

Check reading_changes_nothing(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Filled filled, filled_buffer(bench));
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY(bench.expect_contents(filled.buffer, filled.contents, "A buffer read again"));
    }
    return give_up(bench, filled);
}

Check neighbours_stay(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    std::vector<BufferHandle> buffers;
    for (std::size_t i = 0; i < 9; ++i) {
        VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, pattern_of(61 + i, i)));
        buffers.push_back(buffer);
    }
    for (std::size_t i = 0; i < buffers.size(); i += 2) {
        VIRTACCEL_TRY(bench.write(buffers[i], 0, pattern_of(61 + i, i + 50)));
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        VIRTACCEL_TRY(bench.expect_contents(buffers[i], pattern_of(61 + i, i % 2 == 0 ? i + 50 : i),
                                            "A buffer among others"));
        VIRTACCEL_TRY(bench.release(buffers[i]));
    }
    return bench.release(context);
}

Check freed_neighbours_stay_away(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Filled filled, filled_buffer(bench));
    for (std::size_t i = 0; i < 32; ++i) {
        VIRTACCEL_TRY_ASSIGN(const auto other,
                             bench.buffer(filled.context, pattern_of(1 + (i * 13), i)));
        VIRTACCEL_TRY(bench.release(other));
        VIRTACCEL_TRY(bench.expect_contents(filled.buffer, filled.contents,
                                            "A buffer after another was freed"));
    }
    return give_up(bench, filled);
}

// A lease that has ended: nobody may touch the pieces any more.
constexpr std::uint32_t epoch_now = 2;
constexpr Lease ended{.live = &epoch_now, .epoch = 1};

// A transfer whose lease has ended fails, is not counted as the loss of anything, and the buffer
// goes on.
Check expect_failure(std::string_view what, Status status) {
    return expect(status != Status::ok && status != Status::device_lost, what,
                  " pieces that may not be touched any more is answered with (", status,
                  "); it has to fail, and the device is not lost by it.");
}

Check write_without_a_lease_fails(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Filled filled, filled_buffer(bench));
    const auto before = bench.books();
    Bytes bytes = pattern_of(50, 9);
    const auto pieces = cut(bytes, {.every = 7});
    Reader source{PieceList::of(pieces, ended)};
    VIRTACCEL_TRY(expect_failure("A write from", bench.backend().write(filled.buffer, 20, source)));
    VIRTACCEL_TRY(bench.expect_books(before, "after a failed write"));
    // What the write was about is anything now; the rest is as it was.
    VIRTACCEL_TRY(write_both(bench, filled, 20, pattern_of(50, 10)));
    VIRTACCEL_TRY(
        bench.expect_contents(filled.buffer, filled.contents, "A buffer after a failed write"));
    return give_up(bench, filled);
}

Check read_without_a_lease_fails(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Filled filled, filled_buffer(bench));
    const auto before = bench.books();
    Bytes room(50, canary);
    const auto pieces = cut(room, {.every = 7});
    Writer target{PieceList::of(pieces, ended)};
    VIRTACCEL_TRY(expect_failure("A read into", bench.backend().read(filled.buffer, 20, target)));
    VIRTACCEL_TRY(expect(room == Bytes(50, canary), "A read writes to pieces without a lease."));
    VIRTACCEL_TRY(bench.expect_books(before, "after a failed read"));
    VIRTACCEL_TRY(
        bench.expect_contents(filled.buffer, filled.contents, "A buffer after a failed read"));
    return give_up(bench, filled);
}

// Guest memory is what it is: pieces at odd addresses, far apart.
Check pieces_lie_anywhere(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Filled filled, filled_buffer(bench));
    Bytes memory(size * 8, canary);
    std::vector<Piece> pieces;
    std::size_t taken = 0;
    for (std::size_t at = 3; taken < size; at += 29) {
        const std::size_t bytes = std::min<std::size_t>(1 + (at % 11), size - taken);
        pieces.push_back({.data = memory.data() + at, .size = bytes});
        taken += bytes;
    }
    // Backwards through the memory.
    std::ranges::reverse(pieces);
    Writer target{PieceList::of(pieces)};
    VIRTACCEL_TRY(expect_status("A read into pieces far apart",
                                bench.backend().read(filled.buffer, 0, target), Status::ok));
    const Bytes image = memory;
    VIRTACCEL_TRY(bench.write(filled.buffer, 0, Bytes(size)));
    Reader source{PieceList::of(pieces)};
    VIRTACCEL_TRY(expect_status("A write from pieces far apart",
                                bench.backend().write(filled.buffer, 0, source), Status::ok));
    VIRTACCEL_TRY(expect(memory == image, "A write changes guest memory."));
    VIRTACCEL_TRY(
        bench.expect_contents(filled.buffer, filled.contents, "A buffer read and written back"));
    return give_up(bench, filled);
}

Check holds_what_it_may(Bench& bench, Usage usage) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto made, bench.allocate(context, bench.request(64, usage)));
    if (usage.has(UsageBit::transfer_destination)) {
        VIRTACCEL_TRY(bench.write(made.buffer, 0, pattern_of(64, 4)));
    }
    if (usage.has(UsageBit::transfer_source)) {
        const bool written = usage.has(UsageBit::transfer_destination);
        VIRTACCEL_TRY(bench.expect_contents(made.buffer, written ? pattern_of(64, 4) : Bytes(64),
                                            "A buffer of few rights"));
    }
    VIRTACCEL_TRY(bench.release(made.buffer));
    return bench.release(context);
}

template <std::uint32_t bits>
Check keeps_its_rights(Bench& bench) {
    return holds_what_it_may(bench, Usage{bits});
}

constexpr auto source = static_cast<std::uint32_t>(UsageBit::transfer_source);
constexpr auto destination = static_cast<std::uint32_t>(UsageBit::transfer_destination);

constexpr std::array rules{
    Rule{"transfer.write-pieces-of-1-byte", "a write from single bytes", writes_from_pieces<1>},
    Rule{"transfer.write-pieces-of-3-bytes", "a write from odd pieces", writes_from_pieces<3>},
    Rule{"transfer.write-pieces-of-8-bytes", "a write from words", writes_from_pieces<8>},
    Rule{"transfer.write-pieces-of-64-bytes", "a write from lines", writes_from_pieces<64>},
    Rule{"transfer.write-pieces-of-65-bytes", "a write from more than lines",
         writes_from_pieces<65>},
    Rule{"transfer.write-one-piece", "a write from one piece", writes_from_pieces<size>},
    Rule{"transfer.read-pieces-of-1-byte", "a read into single bytes", reads_into_pieces<1>},
    Rule{"transfer.read-pieces-of-3-bytes", "a read into odd pieces", reads_into_pieces<3>},
    Rule{"transfer.read-pieces-of-8-bytes", "a read into words", reads_into_pieces<8>},
    Rule{"transfer.read-pieces-of-64-bytes", "a read into lines", reads_into_pieces<64>},
    Rule{"transfer.read-pieces-of-65-bytes", "a read into more than lines", reads_into_pieces<65>},
    Rule{"transfer.read-one-piece", "a read into one piece", reads_into_pieces<size>},
    Rule{"transfer.every-byte-can-be-written", "a write of one byte goes where it has to",
         every_byte_can_be_written},
    Rule{"transfer.every-byte-can-be-read", "a read of one byte gives that byte",
         every_byte_can_be_read},
    Rule{"transfer.every-end-can-be-written", "a write may end at the last byte",
         every_end_can_be_written},
    Rule{"transfer.last-write-wins", "of two writes to a byte the later one counts",
         last_write_wins},
    Rule{"transfer.rest-stays", "a write changes its range and nothing else", rest_stays},
    Rule{"transfer.reading-changes-nothing", "a read leaves the buffer as it is",
         reading_changes_nothing},
    Rule{"transfer.neighbours-stay", "a write to one buffer changes no other", neighbours_stay},
    Rule{"transfer.freed-neighbours-stay-away", "a freed buffer takes no other with it",
         freed_neighbours_stay_away},
    Rule{"transfer.pieces-lie-anywhere", "pieces at odd addresses and out of order are moved",
         pieces_lie_anywhere},
    Rule{"transfer.write-without-a-lease-fails", "a write whose pieces are revoked fails",
         write_without_a_lease_fails},
    Rule{"transfer.read-without-a-lease-fails", "a read whose pieces are revoked writes nothing",
         read_without_a_lease_fails},
    Rule{"rights.to-read-only", "a buffer that can only be read is made, and reads as zero",
         keeps_its_rights<source>},
    Rule{"rights.to-write-only", "a buffer that can only be written is made, and takes bytes",
         keeps_its_rights<destination>},
    Rule{"rights.to-read-and-write", "a buffer for transfers alone holds what is written",
         keeps_its_rights<(source | destination)>},
    Rule{"rights.to-everything", "a buffer for everything holds what is written",
         keeps_its_rights<usage_known.bits>},
};

}  // namespace

Rules transfer_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further
