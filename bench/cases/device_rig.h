#pragma once
// The `device` layers: the device alone, fed with contiguous request bytes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "bench/cases/taken.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::bench {

class DeviceRig {
  public:
    // Room for the largest case: 1 MiB of data and its frame.
    static constexpr std::size_t frame_bytes = (1U << 20U) + 4096;

    explicit DeviceRig(backend::BackendFactory factory);

    [[nodiscard]] device::Endpoint& endpoint() { return endpoint_; }

    // Where the bytes that follow the fixed part of an `op` request stand.
    template <wire::Opcode op>
    [[nodiscard]] std::byte* tail() {
        return &request_[sizeof(wire::RequestHeader) + wire::fixed_bytes<wire::RequestOf<op>>];
    }

    // Writes one request, whose tail is already in place, to be sent by `send_again`.
    template <wire::Opcode op>
    void write(const wire::RequestOf<op>& record, std::size_t tail_bytes = 0) {
        constexpr std::size_t fixed = wire::fixed_bytes<wire::RequestOf<op>>;
        wire::RequestHeader header;
        header.opcode = static_cast<std::uint16_t>(op);
        header.payload_bytes = static_cast<std::uint32_t>(fixed + tail_bytes);
        header.request_id = std::uint64_t{1};
        std::memcpy(request_.data(), &header, sizeof header);
        if constexpr (!std::is_empty_v<wire::RequestOf<op>>) {
            std::memcpy(&request_[sizeof header], &record, sizeof record);
        }
        request_bytes_ = sizeof header + fixed + tail_bytes;
    }

    // Sends the request last written; ends the program unless it is answered OK.
    void send_again() {
        const auto served =
            endpoint_.device().serve(std::span{request_}.first(request_bytes_), response_);
        taken(served.used_bytes >= sizeof(wire::ResponseHeader) &&
              wire::load<wire::ResponseHeader>(response_.data()).status == 0);
    }

    template <wire::Opcode op>
    void send(const wire::RequestOf<op>& record, std::size_t tail_bytes = 0) {
        write<op>(record, tail_bytes);
        send_again();
    }

    // Sends one request that makes an object.
    template <wire::Opcode op>
    [[nodiscard]] auto make(const wire::RequestOf<op>& record, std::size_t tail_bytes = 0) {
        send<op>(record, tail_bytes);
        return wire::load<wire::ReplyOf<op>>(&response_[sizeof(wire::ResponseHeader)]);
    }

    [[nodiscard]] wire::Object<ContextKind> create_context();
    [[nodiscard]] wire::Object<BufferKind> allocate(wire::Object<ContextKind> context,
                                                    std::uint64_t bytes);
    [[nodiscard]] wire::Object<ProgramKind> load(wire::Object<ContextKind> context);
    [[nodiscard]] wire::Object<QueueKind> create_queue(wire::Object<ContextKind> context);

    void reset();

  private:
    device::Endpoint endpoint_;
    std::vector<std::byte> request_;
    std::vector<std::byte> response_;
    std::size_t request_bytes_ = 0;
    std::uint64_t seed_ = 1;
};

}  // namespace virtaccel::bench
