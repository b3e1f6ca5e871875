#pragma once
// One life of a guest with a device whose backend goes wrong, and what has to hold after every
// command of it: the guest, the device, the audit and the backend agree about what there is, the
// device is lost exactly if its backend is, and the caller did nothing wrong. The one thing to
// know: a life tries a step again that failed, so that with two faults the third try has to
// succeed, and a life that was told of a loss resets the device and begins anew.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/faults/hands.h"
#include "tests/faults/world.h"
#include "virtaccel/base/status.h"
#include "virtaccel/guest/requests.h"

namespace virtaccel::faults {

// How a life ends.
enum class Ending : std::uint8_t {
    release,  // everything is released, one after the other
    reset,    // the device is reset with everything on it, an event and a load in flight
    drop,     // the program ends and leaves it to destructors, in an order in which objects park
};

class Life {
  public:
    // Both outlive it.
    Life(World& world, Hands& hands) : world_(&world), hands_(&hands) {}

    // Leads the life to its end, through as many resets as it takes, then a whole one that ends
    // with releases. What did not hold, as a sentence, or nothing.
    [[nodiscard]] std::string lead(Ending ending);

  private:
    // Each is true if the life goes on: nothing is wrong and nothing is lost.
    bool populate();
    bool compute();
    bool run_once();
    bool cancel_one();
    bool read_back();
    bool release_all();
    void live(Ending ending);
    void drop_all();
    void reset();

    template <class Act>
    bool attempt(std::string_view what, Act act);
    bool make(Thing thing);
    bool release(Thing thing);
    [[nodiscard]] std::optional<guest::EventStatus> poll_to_end(Thing event);

    void check(std::string_view after);
    void check_counts(std::string_view after);
    void check_loss(std::string_view after);
    void check_bytes(std::string_view after);
    void check_end();
    void blame(std::string_view after, std::string_view what);
    [[nodiscard]] bool goes_on() const;
    [[nodiscard]] bool is_scripted_error(Status status) const;
    // What the audit has of the things a device holds.
    [[nodiscard]] std::uint64_t audited() const;

    World* world_;
    Hands* hands_;
    std::string finding_;
    // The device could not give back what the guest was not to have, so that it has to be discarded
    // although its backend goes on.
    bool unproven_ = false;
};

}  // namespace virtaccel::faults
