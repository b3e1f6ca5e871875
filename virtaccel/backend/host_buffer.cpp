#include "virtaccel/backend/host_buffer.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"

namespace virtaccel::backend {

namespace {

constexpr std::uint64_t unit = HostBuffers::alignment_min;

// A size that blocks are pooled in: which one it is, and how many bytes it has.
struct SizeClass {
    std::size_t index = 0;
    std::uint64_t bytes = 0;
};

// The smallest class that holds `bytes` (1 to pooled_bytes_max): 1, 2, 3, 4 units, then four for
// each doubling: 5, 6, 7, 8, 10, 12, 14, 16, 20 and so on.
constexpr SizeClass class_of(std::uint64_t bytes) {
    const std::uint64_t last_unit = (bytes - 1) / unit;
    if (last_unit < 4) {
        return {.index = static_cast<std::size_t>(last_unit), .bytes = (last_unit + 1) * unit};
    }
    const auto shift = static_cast<std::uint64_t>(std::bit_width(last_unit)) - 3;
    const std::uint64_t quarter = last_unit >> shift;
    return {.index = static_cast<std::size_t>((4 * shift) + quarter),
            .bytes = ((quarter + 1) << shift) * unit};
}

static_assert(class_of(1).bytes == unit && class_of(4 * unit).index == 3);
static_assert(class_of(8 * unit).bytes == 8 * unit && class_of((8 * unit) + 1).bytes == 10 * unit);
static_assert(class_of(HostBuffers::pooled_bytes_max).index == 51);

bool is_pooled(std::uint64_t bytes, std::uint64_t alignment) {
    return bytes <= HostBuffers::pooled_bytes_max && alignment <= unit;
}

// The bytes of the block that such a buffer gets, or nothing if no address space has so many.
std::optional<std::uint64_t> block_bytes(std::uint64_t bytes, std::uint64_t alignment) {
    if (is_pooled(bytes, alignment)) {
        return class_of(bytes).bytes;
    }
    const auto rounded = checked_align_up(bytes, unit);
    if (!rounded || *rounded > std::numeric_limits<std::size_t>::max() / 2) {
        return std::nullopt;
    }
    return rounded;
}

}  // namespace

HostBuffers::~HostBuffers() {
    records_.each([this](const HostBuffer& buffer) {
        if (buffer.data != nullptr) {
            release_block(buffer);
        }
    });
    drop_cache();
}

Result<Allocation> HostBuffers::allocate(const BufferRequest& request) {
    VIRTACCEL_CHECK(request.bytes != 0 && is_power_of_two(request.alignment));
    if (request.alignment > alignment_max) {
        return fail(Status::resource_limit);
    }
    const auto backing_bytes = block_bytes(request.bytes, request.alignment);
    HostBuffer* const buffer = backing_bytes ? records_.take() : nullptr;
    if (buffer == nullptr) {
        return fail(Status::out_of_memory);
    }
    *buffer = {.bytes = request.bytes,
               .backing_bytes = *backing_bytes,
               .alignment = std::max(request.alignment, alignment_min)};
    buffer->data = take_block(*buffer);
    if (buffer->data == nullptr) {
        records_.give(buffer);
        return fail(Status::out_of_memory);
    }
    std::memset(buffer->data, 0, static_cast<std::size_t>(*backing_bytes));
    ++live_;
    backing_bytes_ += *backing_bytes;
    return Allocation{.buffer = {.object = buffer},
                      .descriptor = request,
                      .backing_bytes = buffer->backing_bytes,
                      .alignment = buffer->alignment,
                      .properties = options_.properties};
}

ReleaseOutcome HostBuffers::free(BufferHandle buffer) {
    HostBuffer& record = at(buffer);
    give_block(record);
    --live_;
    backing_bytes_ -= record.backing_bytes;
    record.data = nullptr;
    records_.give(&record);
    return ReleaseOutcome::released();
}

Status HostBuffers::write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
    const HostBuffer& record = at(buffer);
    const auto bytes = source.remaining();
    VIRTACCEL_CHECK(fits({.offset = offset, .bytes = bytes}, record.bytes));
    if (!source.copy_to(record.data + offset, static_cast<std::size_t>(bytes))) {
        return Status::internal_error;
    }
    transferred_bytes_ += bytes;
    return Status::ok;
}

Status HostBuffers::read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
    const HostBuffer& record = at(buffer);
    const auto bytes = target.remaining();
    VIRTACCEL_CHECK(fits({.offset = offset, .bytes = bytes}, record.bytes));
    if (!target.copy_from(record.data + offset, static_cast<std::size_t>(bytes))) {
        return Status::internal_error;
    }
    transferred_bytes_ += bytes;
    return Status::ok;
}

// A block for `buffer`, kept or new; null if the memory refuses even with nothing kept.
std::byte* HostBuffers::take_block(HostBuffer& buffer) {
    if (is_pooled(buffer.bytes, buffer.alignment)) {
        FreeBlock*& first = free_[class_of(buffer.bytes).index];
        if (first != nullptr) {
            FreeBlock* const block = first;
            first = block->next;
            cached_bytes_ -= buffer.backing_bytes;
            return reinterpret_cast<std::byte*>(block);
        }
    }
    const auto bytes = static_cast<std::size_t>(buffer.backing_bytes);
    const auto alignment = static_cast<std::size_t>(buffer.alignment);
    void* block = memory_.allocate(memory_.state, bytes, alignment);
    if (block == nullptr && cached_bytes_ != 0) {
        drop_cache();
        block = memory_.allocate(memory_.state, bytes, alignment);
    }
    return static_cast<std::byte*>(block);
}

void HostBuffers::give_block(const HostBuffer& buffer) {
    if (is_pooled(buffer.bytes, buffer.alignment) &&
        buffer.backing_bytes <= options_.cached_bytes_max - cached_bytes_) {
        FreeBlock*& first = free_[class_of(buffer.bytes).index];
        first = std::construct_at(reinterpret_cast<FreeBlock*>(buffer.data), FreeBlock{first});
        cached_bytes_ += buffer.backing_bytes;
        return;
    }
    release_block(buffer);
}

void HostBuffers::release_block(const HostBuffer& buffer) {
    memory_.release(memory_.state, buffer.data, static_cast<std::size_t>(buffer.backing_bytes),
                    static_cast<std::size_t>(buffer.alignment));
}

void HostBuffers::drop_cache() {
    for (std::size_t index = 0; index < free_.size(); ++index) {
        // The inverse of class_of: the bytes of this class.
        const std::size_t shift = index < 8 ? 0 : (index / 4) - 1;
        const std::size_t units = (index + 1 - (4 * shift)) << shift;
        while (free_[index] != nullptr) {
            FreeBlock* const block = free_[index];
            free_[index] = block->next;
            memory_.release(memory_.state, block, units * unit, unit);
        }
    }
    cached_bytes_ = 0;
}

}  // namespace virtaccel::backend
