#pragma once
// All sequences of choices, one after the other, for a world that cannot be copied: each is played
// from the start. The one thing to know: how many choices there are, and of how many things, may
// depend on the choices before.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace virtaccel::worlds {

class Choices {
  public:
    // One of `count` (at least one) things, from 0 on.
    [[nodiscard]] std::uint32_t among(std::uint32_t count) {
        if (at_ == made_.size()) {
            made_.push_back({.taken = 0, .count = count});
        }
        return made_[at_++].taken;
    }

    // Goes on to the next sequence; false if that was the last.
    [[nodiscard]] bool advance() {
        at_ = 0;
        while (!made_.empty() && made_.back().taken + 1 == made_.back().count) {
            made_.pop_back();
        }
        if (made_.empty()) {
            return false;
        }
        ++made_.back().taken;
        return true;
    }

  private:
    struct Choice {
        std::uint32_t taken = 0;
        std::uint32_t count = 0;
    };

    std::vector<Choice> made_;
    std::size_t at_ = 0;
};

}  // namespace virtaccel::worlds
