#pragma once
// One end of a ring, run up to its next access to shared words. The one thing to know: a call is
// run again from its start for every access; accesses that happened already are answered from the
// record, and the first new one ends the run by an exception.

#include <cstddef>
#include <cstdint>
#include <span>

namespace virtaccel::worlds {

enum class AccessKind : std::uint8_t { load, store, fence, notify };

// What an end is about to do. `offset` counts from the start of the ring.
struct Access {
    AccessKind kind = AccessKind::load;
    bool is_release = false;
    std::uint8_t offset = 0;
    std::uint8_t bytes = 0;
    std::uint64_t word = 0;
};

// Thrown where the record ends.
struct Paused {};

// What a call has done so far: how many accesses, and what its loads gave.
class Recorder {
  public:
    Recorder(const std::byte* ring, std::uint32_t accesses, std::span<const std::uint64_t> loads)
        : ring_(ring), left_(accesses), loads_(loads) {}

    // Answers from the record, or pauses.
    std::uint64_t pass(const Access& access);

    [[nodiscard]] std::uint8_t offset_of(const std::byte* at) const {
        return static_cast<std::uint8_t>(at - ring_);
    }

    // The access at which the run paused.
    [[nodiscard]] const Access& next() const { return next_; }

  private:
    const std::byte* ring_;
    std::uint32_t left_;
    std::span<const std::uint64_t> loads_;
    Access next_;
};

// From its making to its end, accesses go to `recorder`; without one they happen at once.
class Watching {
  public:
    explicit Watching(Recorder& recorder);
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;
    ~Watching();
};

// What an end calls to wake the other.
void watched_notify(void* state);

}  // namespace virtaccel::worlds
