#pragma once
// Buffers in the host's own memory, as backends share them: zeroed, aligned, contiguous, and honest
// about what they cost. The one thing to know: blocks up to 1 MiB are kept for the next buffer of
// their size (within a limit) and zeroed when they are handed out, so nothing of an earlier owner
// is ever visible and a steady flow of buffers does not allocate.

#include <array>
#include <cstddef>
#include <cstdint>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/pool.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"

namespace virtaccel::backend {

// One buffer's storage. `data` is aligned to `alignment`, and null in a record that nobody has; the
// bytes from `bytes` to `backing_bytes` are there, zeroed, and nobody's.
struct HostBuffer {
    std::byte* data = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t backing_bytes = 0;
    std::uint64_t alignment = 0;
};

// What a set of host buffers is like. `properties` is what every allocation reports: a backend
// whose accelerator is the host itself says that its memory is all three.
struct HostBufferOptions {
    MemoryProperties properties{.host_visible = true, .device_local = true, .direct_binding = true};
    std::uint64_t cached_bytes_max = std::uint64_t{16} << 20U;
};

// The buffer part of a backend. For one thread; the bytes of a buffer may be used from any.
class HostBuffers {
  public:
    // Every block is aligned to this and a multiple of it, so that a kernel may use whole vectors.
    static constexpr std::uint64_t alignment_min = 64;
    // The largest alignment a guest gets: a huge page.
    static constexpr std::uint64_t alignment_max = std::uint64_t{2} << 20U;
    // The largest block that is kept when its buffer is freed.
    static constexpr std::uint64_t pooled_bytes_max = std::uint64_t{1} << 20U;

    explicit HostBuffers(const Memory& memory, const HostBufferOptions& options = {})
        : memory_(memory), options_(options), records_(memory) {}

    HostBuffers(const HostBuffers&) = delete;
    HostBuffers& operator=(const HostBuffers&) = delete;

    // Gives back everything, live buffers too: a backend may be dropped with all that it holds.
    ~HostBuffers();

    // A zeroed buffer. RESOURCE_LIMIT above `alignment_max`, OUT_OF_MEMORY if the memory refuses.
    [[nodiscard]] Result<Allocation> allocate(const BufferRequest& request);

    // Always succeeds.
    [[nodiscard]] ReleaseOutcome free(BufferHandle buffer);

    // Moves all of `source` to `offset`, one memcpy per piece; the range lies in the buffer.
    // INTERNAL_ERROR if the source's lease ends meanwhile, when nobody is left to hear it.
    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source);

    // Fills all of `target` from `offset`; otherwise as `write`.
    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target);

    // The buffer behind a live handle.
    [[nodiscard]] static HostBuffer& at(BufferHandle buffer) {
        return *static_cast<HostBuffer*>(buffer.object);
    }

    // Live buffers, what they cost, and what is kept for later ones.
    [[nodiscard]] std::uint64_t live() const { return live_; }

    [[nodiscard]] std::uint64_t backing_bytes() const { return backing_bytes_; }

    [[nodiscard]] std::uint64_t cached_bytes() const { return cached_bytes_; }

    // Bytes moved by `write` and `read` so far.
    [[nodiscard]] std::uint64_t transferred_bytes() const { return transferred_bytes_; }

  private:
    // A block of the pool while nobody has it; its first bytes hold the link.
    struct FreeBlock {
        FreeBlock* next = nullptr;
    };

    // Four sizes for each doubling from 64 bytes on, so that at most a fifth of a block is unused.
    static constexpr std::size_t size_classes = 52;

    [[nodiscard]] std::byte* take_block(HostBuffer& buffer);
    void give_block(const HostBuffer& buffer);
    void release_block(const HostBuffer& buffer);
    void drop_cache();

    Memory memory_;
    HostBufferOptions options_;
    Pool<HostBuffer> records_;
    std::array<FreeBlock*, size_classes> free_{};
    std::uint64_t cached_bytes_ = 0;
    std::uint64_t live_ = 0;
    std::uint64_t backing_bytes_ = 0;
    std::uint64_t transferred_bytes_ = 0;
};

}  // namespace virtaccel::backend
