#pragma once
// A device behind a ring with somebody between it and its driver, who may change a request before
// the device sees it and an answer before the driver does. What broken devices are made of, so that
// the device cases can be shown to fail.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance::testing {

// A chain as it lies in the descriptor table, as far as it goes.
struct Links {
    std::uint16_t head = 0;
    std::vector<std::uint16_t> indices;
    std::vector<Piece> readable;
    std::vector<Piece> writable;

    [[nodiscard]] Bytes request() const {
        Bytes bytes;
        for (const Piece& piece : readable) {
            bytes.insert(bytes.end(), piece.data, piece.data + piece.size);
        }
        return bytes;
    }

    // Zeros if there is no header.
    [[nodiscard]] wire::RequestHeader header() const {
        const Bytes bytes = request();
        return bytes.size() < sizeof(wire::RequestHeader)
                   ? wire::RequestHeader{}
                   : wire::load<wire::RequestHeader>(bytes.data());
    }

    [[nodiscard]] std::size_t room_bytes() const {
        std::size_t bytes = 0;
        for (const Piece& piece : writable) {
            bytes += piece.size;
        }
        return bytes;
    }
};

// An answer on its way to the driver: its chain, and the used length, which may be changed.
struct Answer {
    Links links;
    std::uint32_t used_bytes = 0;

    // The byte at `offset` of the room; null past its end.
    [[nodiscard]] std::byte* at(std::size_t offset) const {
        for (const Piece& piece : links.writable) {
            if (offset < piece.size) {
                return piece.data + offset;
            }
            offset -= piece.size;
        }
        return nullptr;
    }

    void put(std::size_t offset, std::span<const std::byte> bytes) const {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            if (std::byte* const byte = at(offset + i)) {
                *byte = bytes[i];
            }
        }
    }

    [[nodiscard]] Status status() const {
        return used_bytes < 16 ? Status::internal_error
                               : static_cast<Status>(std::to_integer<unsigned>(*at(0)) |
                                                     std::to_integer<unsigned>(*at(1)) << 8U);
    }

    // This instead of what was answered.
    void reply(Status status, std::span<const std::byte> payload) {
        wire::ResponseHeader header;
        header.status = static_cast<std::uint16_t>(status);
        header.payload_bytes = static_cast<std::uint32_t>(payload.size());
        header.request_id = std::uint64_t{links.header().request_id};
        put(0, std::as_bytes(std::span{&header, 1}));
        put(sizeof header, payload);
        used_bytes = static_cast<std::uint32_t>(sizeof header + payload.size());
    }

    // A bare refusal instead of what was answered.
    void refuse(Status status) { reply(status, {}); }

    // The record at `offset` of the request's payload; zeros if the payload ends before its end.
    template <class Record>
    [[nodiscard]] Record asked(std::size_t offset = 0) const {
        const Bytes bytes = links.request();
        const std::size_t from = sizeof(wire::RequestHeader) + offset;
        return bytes.size() < from + sizeof(Record) ? Record{}
                                                    : wire::load<Record>(bytes.data() + from);
    }

    // Whether this was answered.
    [[nodiscard]] bool is(Status status) const {
        return used_bytes >= 16 && this->status() == status;
    }
};

class TamperingDevice : public RingDevice {
  public:
    using RingDevice::RingDevice;

    void kick() override {
        const queue::RingMemory& ring = driver().ring();
        const std::uint16_t end = ring.available_index();
        bool serve = true;
        for (; seen_available_ != end; ++seen_available_) {
            serve = before(links_of(ring.load_available(seen_available_))) && serve;
        }
        if (serve) {
            RingDevice::kick();
        }
        for (std::uint16_t at = seen_used_; at != ring.used_index(); ++at) {
            const queue::UsedEntry used = ring.load_used(at);
            Answer answer{.links = links_of(static_cast<std::uint16_t>(used.id)),
                          .used_bytes = used.bytes};
            after(answer);
            ring.store_used(at, {.id = used.id, .bytes = answer.used_bytes});
        }
        seen_used_ = ring.used_index();
    }

    [[nodiscard]] bool reset() override {
        const bool done = RingDevice::reset();
        seen_available_ = driver().ring().available_index();
        seen_used_ = driver().ring().used_index();
        return done;
    }

  protected:
    // A chain that the device is about to see; it sees none of this kick if this says false.
    virtual bool before(const Links& /*links*/) { return true; }

    // An answer that the driver is about to see.
    virtual void after(Answer& /*answer*/) {}

    [[nodiscard]] queue::Descriptor descriptor(std::uint16_t index) {
        return driver().ring().load_descriptor(index);
    }

    void replace(std::uint16_t index, const queue::Descriptor& descriptor) {
        driver().ring().store_descriptor(index, descriptor);
    }

    [[nodiscard]] Links links_of(std::uint16_t head) {
        const std::uint32_t size = driver().ring().size;
        Links links{.head = head, .indices = {}, .readable = {}, .writable = {}};
        for (std::uint32_t index = head; index < size && links.indices.size() < size;) {
            const queue::Descriptor at = descriptor(static_cast<std::uint16_t>(index));
            const Piece piece{
                .data = std::bit_cast<std::byte*>(static_cast<std::uintptr_t>(at.address)),
                .size = at.bytes};
            links.indices.push_back(static_cast<std::uint16_t>(index));
            ((at.flags & queue::descriptor_write) != 0 ? links.writable : links.readable)
                .push_back(piece);
            index = (at.flags & queue::descriptor_next) != 0 ? at.next : size;
        }
        return links;
    }

  private:
    std::uint16_t seen_available_ = 0;
    std::uint16_t seen_used_ = 0;
};

}  // namespace virtaccel::conformance::testing
