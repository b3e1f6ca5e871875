#pragma once
// Bytes in pieces, shared with the other side: one reader, one writer. The other side may change
// such bytes at any time, so they are never looked at in place: they are copied out once and the
// copy is judged, or moved in bulk, one memcpy per piece, between the pieces and an allocation of
// ours.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace virtaccel {

// One contiguous run of shared bytes. `data` may be dereferenced only by Reader and Writer, and by
// a backend moving a whole piece.
struct Piece {
    std::byte* data = nullptr;
    std::size_t size = 0;
};

// The right to touch a set of pieces, which ends when the transport's epoch moves on (reset,
// revoked memory). A default lease never ends. `live` outlives the lease.
struct Lease {
    const std::uint32_t* live = nullptr;
    std::uint32_t epoch = 0;

    // Safe to call from any thread: the transport changes `*live` atomically.
    [[nodiscard]] bool holds() const {
        return live == nullptr || __atomic_load_n(live, __ATOMIC_RELAXED) == epoch;
    }
};

// A borrowed list of pieces, in order, and their total. Pieces of size zero are allowed here.
struct PieceList {
    std::span<const Piece> pieces;
    std::uint64_t bytes = 0;
    Lease lease;

    // The list of `pieces`, whose sizes must not sum past 2^64.
    [[nodiscard]] static PieceList of(std::span<const Piece> pieces, Lease lease = {}) {
        std::uint64_t bytes = 0;
        for (const Piece& piece : pieces) {
            bytes += piece.size;
        }
        return {.pieces = pieces, .bytes = bytes, .lease = lease};
    }
};

// The common walk of Reader and Writer: a position in a list of pieces.
class PieceCursor {
  public:
    PieceCursor() = default;

    // The lease is copied by members: copied whole, it would be loaded as one word just after it
    // was stored as two, and the processor waits for such.
    explicit PieceCursor(const PieceList& list)
        : next_(list.pieces.data()),
          end_(list.pieces.data() + list.pieces.size()),
          remaining_(list.bytes),
          lease_{.live = list.lease.live, .epoch = list.lease.epoch} {}

    // A cursor over the `bytes` bytes at `offset`, or as many of them as there are.
    PieceCursor(const PieceList& list, std::uint64_t offset, std::uint64_t bytes)
        : next_(list.pieces.data()),
          end_(list.pieces.data() + list.pieces.size()),
          remaining_(offset < list.bytes ? std::min(bytes, list.bytes - offset) : 0),
          lease_{.live = list.lease.live, .epoch = list.lease.epoch} {
        while (next_ != end_) {
            data_ = next_->data;
            size_ = next_->size;
            ++next_;
            if (offset < size_) {
                at_ = static_cast<std::size_t>(offset);
                return;
            }
            offset -= size_;
        }
        at_ = size_;
    }

    // Bytes not yet consumed.
    [[nodiscard]] std::uint64_t remaining() const { return remaining_; }

    // A cursor over the next `bytes` bytes only (at most `remaining()`); this one does not move.
    template <class Cursor>
    [[nodiscard]] Cursor limited_to(std::uint64_t bytes) const {
        Cursor part;
        static_cast<PieceCursor&>(part) = *this;
        part.remaining_ = std::min(bytes, remaining_);
        return part;
    }

    // Consumes `bytes` bytes, calling `visit(std::byte* run, std::size_t size)` for each contiguous
    // run. False, with nothing visited, if fewer remain or the lease has ended; false midway if it
    // ends between two runs.
    template <class Visit>
    bool each(std::uint64_t bytes, Visit&& visit) {
        if (bytes > remaining_) [[unlikely]] {
            return false;
        }
        while (bytes != 0) {
            if (at_ == size_) {
                if (next_ == end_) [[unlikely]] {
                    return false;
                }
                data_ = next_->data;
                size_ = next_->size;
                at_ = 0;
                ++next_;
                continue;
            }
            if (!lease_.holds()) [[unlikely]] {
                return false;
            }
            const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size_ - at_));
            visit(data_ + at_, run);
            at_ += run;
            bytes -= run;
            remaining_ -= run;
        }
        return true;
    }

    // Consumes `bytes` bytes without touching them; false if fewer remain.
    bool skip(std::uint64_t bytes) {
        return each(bytes, [](std::byte*, std::size_t) {});
    }

  private:
    const Piece* next_ = nullptr;
    const Piece* end_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t at_ = 0;
    std::uint64_t remaining_ = 0;
    Lease lease_;
};

// memcpy; runs of 16 to 64 bytes, which small transfers are made of, need no call.
inline void copy_run(std::byte* target, const std::byte* source, std::size_t size) {
    constexpr std::size_t block = 16;
    if (size < block || size > 4 * block) {
        std::memcpy(target, source, size);
        return;
    }
    // Two blocks from either end; they overlap where the run is shorter than all four.
    const std::size_t step = size > 2 * block ? block : 0;
    const std::size_t last = size - block;
    std::memcpy(target, source, block);
    std::memcpy(target + step, source + step, block);
    std::memcpy(target + last - step, source + last - step, block);
    std::memcpy(target + last, source + last, block);
}

// Reads the other side's bytes, each once.
class Reader : public PieceCursor {
  public:
    using PieceCursor::PieceCursor;

    // Copies the next `bytes` bytes to `target`; false, with nothing consumed, if fewer remain, and
    // false if the lease has ended.
    bool copy_to(void* target, std::size_t bytes) {
        auto* out = static_cast<std::byte*>(target);
        return each(bytes, [&out](const std::byte* run, std::size_t size) {
            copy_run(out, run, size);
            out += size;
        });
    }

    // A reader over the next `bytes` bytes only.
    [[nodiscard]] Reader first(std::uint64_t bytes) const { return limited_to<Reader>(bytes); }
};

// Writes bytes the other side will read.
class Writer : public PieceCursor {
  public:
    using PieceCursor::PieceCursor;

    // Copies `bytes` bytes from `source`; false as for Reader::copy_to.
    bool copy_from(const void* source, std::size_t bytes) {
        const auto* in = static_cast<const std::byte*>(source);
        return each(bytes, [&in](std::byte* run, std::size_t size) {
            copy_run(run, in, size);
            in += size;
        });
    }

    // A writer over the next `bytes` bytes only.
    [[nodiscard]] Writer first(std::uint64_t bytes) const { return limited_to<Writer>(bytes); }
};

}  // namespace virtaccel
