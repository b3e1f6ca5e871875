#pragma once
// Random worlds and random actions, from a seed and nothing else. The one thing to know: most
// actions are right, so that there is something to go wrong with; the rest are wrong in one way
// each.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>

#include "virtaccel/base/panic.h"
#include "virtaccel/model/action.h"
#include "virtaccel/model/fault.h"
#include "virtaccel/model/model.h"
#include "virtaccel/model/trial.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {

class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}

    // A world that a device can be made of.
    [[nodiscard]] World world();

    // What could come next, given what is there.
    [[nodiscard]] Action next(const Trial& trial);

  private:
    [[nodiscard]] Action create_context(const Trial& trial);
    [[nodiscard]] Action allocate(const Trial& trial);
    [[nodiscard]] Action transfer(const Trial& trial);
    [[nodiscard]] Action load(const Trial& trial);
    [[nodiscard]] Action create_queue(const Trial& trial);
    [[nodiscard]] Action submit(const Trial& trial);
    [[nodiscard]] Action on_event(const Trial& trial);
    [[nodiscard]] Action end_event(const Trial& trial);
    [[nodiscard]] Action end_load(const Trial& trial);
    [[nodiscard]] Action release(const Trial& trial);
    [[nodiscard]] Action fault(const Trial& trial);

    // A request that leads to the backend's call that fails now.
    [[nodiscard]] Action meet_fault(const Trial& trial);

    // Makes a request wrong in one way.
    void spoil(Action& action);

    // A number below `end`, which is not zero.
    [[nodiscard]] std::uint64_t below(std::uint64_t end) {
        VIRTACCEL_CHECK(end != 0);
        return random_() % end;
    }

    [[nodiscard]] bool one_in(std::uint64_t count) { return below(count) == 0; }

    // One of `choices`, which are not none.
    [[nodiscard]] std::uint64_t any(std::initializer_list<std::uint64_t> choices);

    // An object of that kind, mostly a live one (of that context, if one is given).
    [[nodiscard]] Atom object(const Trial& trial, Kind kind,
                              std::optional<std::uint64_t> context = std::nullopt);
    // The context of what an atom names, if it is live.
    [[nodiscard]] static std::optional<std::uint64_t> context_of(const Trial& trial,
                                                                 const Atom& atom);
    // A name never given.
    [[nodiscard]] std::string fresh(char letter);

    std::mt19937_64 random_;
    std::uint64_t names_ = 0;
    bool after_fault_ = false;  // what comes next may meet it
    Call faulty_call_ = Call::create_context;
};

}  // namespace virtaccel::model
