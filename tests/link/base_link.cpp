// Uses what base offers, so that the link test sees what it needs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"

namespace virtaccel::link {

bool copy(std::span<const Piece> source, std::span<const Piece> target, std::size_t bytes);

bool copy(std::span<const Piece> source, std::span<const Piece> target, std::size_t bytes) {
    Reader reader{PieceList::of(source)};
    Writer writer{PieceList::of(target)};
    return reader.each(bytes, [&](const std::byte* run, std::size_t size) {
        VIRTACCEL_CHECK(writer.copy_from(run, size));
    });
}

Result<std::uint64_t> sum(std::span<const std::byte> bytes, const Memory& memory);

Result<std::uint64_t> sum(std::span<const std::byte> bytes, const Memory& memory) {
    Array<std::uint64_t> words(memory, bytes.size());
    if (words.empty()) {
        return fail(Status::out_of_memory);
    }
    const auto total = checked_add(words[0], std::uint64_t{bytes.size()});
    return total ? Result<std::uint64_t>{*total} : fail(Status::out_of_bounds);
}

std::string_view name(Status status);

std::string_view name(Status status) {
    return status_name(status);
}

}  // namespace virtaccel::link
