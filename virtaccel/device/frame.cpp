#include "virtaccel/device/frame.h"

#include <array>
#include <cstddef>

#include "virtaccel/base/bytes.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {

bool gather(const PieceList& readable, std::size_t offset, void* target, std::size_t size) {
    Reader reader(readable);
    return reader.skip(offset) && reader.copy_to(target, size);
}

bool scatter(const PieceList& writable, const std::array<wire::le64, 2>& header, const void* reply,
             std::size_t size) {
    Writer writer(writable);
    return writer.copy_from(header.data(), header_bytes) && writer.copy_from(reply, size);
}

}  // namespace virtaccel::device
