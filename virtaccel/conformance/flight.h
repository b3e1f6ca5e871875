#pragma once
// Requests on their way through a ring that cases drive themselves, several at once. Internal to
// this folder.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

// One request in a chain of two descriptors.
struct Flight {
    std::uint16_t head = 0;
    std::uint64_t request_id = 0;
    std::span<std::byte> response;
    std::optional<Reply> reply;
};

// The requests that a case has under way. Nothing else uses the ring meanwhile.
class Flights {
  public:
    explicit Flights(RingAccess& ring) : ring_(&ring) {}

    // Offers a chain for `frame`, without telling the device. The ring has room for it.
    void launch(const Bytes& frame, std::size_t capacity);

    // Takes what has come back; the case ends at what was not under way or came back before.
    [[nodiscard]] Check collect();

    [[nodiscard]] std::vector<Flight>& all() { return flights_; }

    // How many have not come back.
    [[nodiscard]] std::size_t under_way() const;

    // Ends the case unless every request came back with OK and its own ID.
    [[nodiscard]] Check expect_all_ok() const;

  private:
    RingAccess* ring_;
    std::vector<Flight> flights_;
    std::uint16_t next_descriptor_ = 0;
};

}  // namespace virtaccel::conformance
