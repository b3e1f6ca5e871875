#include "tools/virtaccel/probe/request.h"

#include <algorithm>
#include <cstdint>

#include "virtaccel/wire/records.h"

namespace virtaccel::cli::probe {

Bytes Request::frame(std::uint64_t request_id) const {
    const wire::RequestHeader header{
        .opcode = opcode_,
        .flags = flags_,
        .payload_bytes = payload_bytes_.value_or(static_cast<std::uint32_t>(payload_.size())),
        .request_id = carried_id(request_id)};
    Bytes frame = bytes_of(header);
    frame.insert(frame.end(), payload_.begin(), payload_.end());
    frame.resize(std::min(frame.size(), frame_bytes_.value_or(frame.size())));
    return frame;
}

}  // namespace virtaccel::cli::probe
