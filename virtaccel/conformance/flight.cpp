#include "virtaccel/conformance/flight.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>

#include "virtaccel/base/result.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance {

void Flights::launch(const Bytes& frame, std::size_t capacity) {
    const auto request = ring_->room(frame.size());
    std::ranges::copy(frame, request.begin());
    const auto response = ring_->room(capacity);
    const queue::AddressMap map = ring_->addresses();
    const auto link = [&map](std::span<std::byte> bytes, std::uint16_t flags) {
        return queue::testing::Link{
            .address = map.address + (std::bit_cast<std::uintptr_t>(bytes.data()) - map.host),
            .bytes = static_cast<std::uint32_t>(bytes.size()),
            .flags = flags};
    };
    const std::array links{link(request, 0), link(response, queue::descriptor_write)};
    const auto header = wire::load<wire::RequestHeader>(frame.data());
    const std::uint16_t head = ring_->driver().lay(next_descriptor_, links);
    next_descriptor_ = static_cast<std::uint16_t>((head + 2U) % ring_->driver().ring().size);
    flights_.push_back(
        {.head = head, .request_id = header.request_id, .response = response, .reply = {}});
    ring_->driver().offer(head);
}

Check Flights::collect() {
    while (const auto used = ring_->driver().next_used()) {
        // The latest first: a head is used again by a later flight.
        auto latest_first = std::views::reverse(flights_);
        const auto found = std::ranges::find_if(latest_first, [&](const Flight& flight) {
            return flight.head == used->id && !flight.reply;
        });
        VIRTACCEL_TRY(expect(found != latest_first.end(), "The device completes the chain (",
                             used->id, "), which is not under way."));
        found->reply = read_reply(found->response, used->bytes);
    }
    return {};
}

std::size_t Flights::under_way() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(flights_, [](const Flight& flight) { return !flight.reply; }));
}

Check Flights::expect_all_ok() const {
    for (const Flight& flight : flights_) {
        VIRTACCEL_TRY(expect(flight.reply.has_value(), "The request (", flight.request_id,
                             ") is not answered."));
        VIRTACCEL_TRY(expect_ok(say("The request (", flight.request_id, ")"), *flight.reply));
        const std::uint64_t answered = flight.reply->header.request_id;
        VIRTACCEL_TRY(expect(answered == flight.request_id, "The chain of the request (",
                             flight.request_id, ") holds the answer to the request (", answered,
                             ")."));
    }
    return {};
}

}  // namespace virtaccel::conformance
