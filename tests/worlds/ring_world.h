#pragma once
// A split ring as a world: the driver's and the device's end on one ring, every order of their
// accesses to it, and the rules that must hold meanwhile. The one thing to know: what the rules
// need to remember is kept beside the ends, in `Notes`, and is never shown to them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/worlds/block.h"
#include "tests/worlds/exploration.h"
#include "tests/worlds/interner.h"
#include "tests/worlds/local_steps.h"
#include "tests/worlds/ring_ends.h"
#include "tests/worlds/watch.h"
#include "virtaccel/queue/ring_layout.h"

namespace virtaccel::worlds {

// When a store reaches the other end: at once; later, in order, as on x86; or later, and a relaxed
// store also after a later one. A release is never before an earlier store, a fence waits for all.
enum class Stores : std::uint8_t { at_once, in_order, in_any_order };

struct RingWorldOptions {
    std::uint32_t size = 2;
    // Where all indexes stand at the beginning.
    std::uint16_t first_index = 0;
    // Chains posted in all, and resets, at most.
    std::uint8_t chains = 2;
    std::uint8_t resets = 1;
    std::vector<Shape> shapes = {Shape::pair};
    Stores stores = Stores::at_once;
    // How many stores of an end may be on their way, at most 4; then the next one waits.
    std::size_t late_stores_max = 4;
    // Whether an end may be interrupted between two accesses to the descriptor table too.
    bool descriptors_apart = true;
    Flaw flaw = Flaw::none;
};

namespace ring_rules {
inline constexpr std::string_view foreign_part = "An end writes the other end's part of the ring.";
inline constexpr std::string_view skipped_index = "A published index is not the next one.";
inline constexpr std::string_view unknown_completion =
    "The device completes a chain that it does not hold.";
inline constexpr std::string_view wrong_length = "A used length is not the chain's.";
inline constexpr std::string_view broken_ring = "A ring between two good ends is called broken.";
inline constexpr std::string_view wrong_free = "The free list does not hold what is free.";
inline constexpr std::string_view wrong_flying = "The count of chains in flight is wrong.";
inline constexpr std::string_view wrong_post =
    "A chain is refused though it fits, or not though not.";
inline constexpr std::string_view wrong_completion = "A completion is lost, doubled or another's.";
inline constexpr std::string_view wrong_chain = "A chain is lost, doubled, late or mixed up.";
inline constexpr std::string_view refused_completion = "A held chain cannot be completed.";
inline constexpr std::string_view wrong_alarm = "There is more, says an end, and there is not.";
inline constexpr std::string_view lost_kick =
    "The device sleeps, a chain waits, and no kick is due.";
inline constexpr std::string_view lost_interrupt =
    "The driver sleeps, a completion waits, and no interrupt is due.";
inline constexpr std::string_view stale_touch =
    "A chain from before a reset is written or completed.";
}  // namespace ring_rules

class RingWorld {
  public:
    // Numbers for the two nodes, the ring's bytes, the stores on their way and the notes.
    using State = std::array<std::uint32_t, 5>;

    explicit RingWorld(const RingWorldOptions& options);

    [[nodiscard]] State first();
    void steps(const State& state, std::vector<Step<State>>& target);
    [[nodiscard]] bool is_finished(const State& state);
    [[nodiscard]] std::string describe(const State& state, std::uint32_t label);

    // How often the real code ran, both ends together.
    [[nodiscard]] std::uint64_t runs() const;

  private:
    static constexpr std::size_t chains_max = 8;
    static constexpr std::size_t stores_max = 4;

    enum class Fate : std::uint8_t { none, available, held, completed };
    // A reset: the driver asks, the device resets its end, the driver its own, which then lands.
    enum class Phase : std::uint8_t { running, wants_reset, resets, resumes };

    struct ChainNote {
        Shape shape = Shape::pair;
        std::uint8_t head = 0;
        Fate fate = Fate::none;
        friend bool operator==(const ChainNote&, const ChainNote&) = default;
    };

    // What one end owes and has been told. `saw` is what a call could see when it began.
    struct EndNotes {
        bool owes_notice = false;
        bool is_armed = false;
        bool sleeps = false;
        bool is_notified = false;
        std::uint8_t saw = 0;
    };

    struct Notes {
        std::array<ChainNote, chains_max> chains{};
        // Serials in the order of their completion, since the last reset.
        std::array<std::uint8_t, chains_max> completions{};
        std::uint8_t posted = 0;     // serials count from 0
        std::uint8_t popped = 0;     // the next serial that the device finds
        std::uint8_t epoch = 0;      // the first serial since the last reset
        std::uint8_t completed = 0;  // since the last reset
        std::uint8_t taken = 0;      // since the last reset
        std::uint8_t resets = 0;
        std::uint8_t stale = 0;  // chains of ended epochs that the device's user remembers
        Phase phase = Phase::running;
        std::array<EndNotes, 2> ends{};  // the driver's, the device's
    };

    // A store that the other end does not see yet.
    struct OnItsWay {
        std::uint64_t word = 0;
        std::uint8_t offset = 0;
        std::uint8_t bytes = 0;
        bool is_release = false;
        std::array<std::uint8_t, 5> unused{};
        friend bool operator==(const OnItsWay&, const OnItsWay&) = default;
    };

    struct Queue {
        std::array<OnItsWay, stores_max> stores{};
        std::uint64_t count = 0;
        friend bool operator==(const Queue&, const Queue&) = default;
    };

    static constexpr std::size_t ring_bytes_max = 128;
    using RingBytes = std::array<std::uint8_t, ring_bytes_max>;

    // A state taken apart.
    struct Scene {
        std::array<Node, 2> nodes{};
        RingBytes ring{};
        std::array<Queue, 2> queues{};
        Notes notes{};
        std::string_view broken{};
    };

    [[nodiscard]] Scene open(const State& state) const;
    [[nodiscard]] State close(const Scene& scene);
    [[nodiscard]] State close(const Scene& scene, const Scene& from, const State& state);

    // What an end sees, its own stores on their way included.
    [[nodiscard]] std::uint64_t load(const Scene& scene, Side side, std::uint64_t offset,
                                     std::size_t bytes) const;
    [[nodiscard]] bool may_land(const Queue& queue, std::size_t which) const;
    void land(Scene& scene, Side side, std::size_t which) const;

    [[nodiscard]] std::vector<Operation> choices(const Scene& scene, Side side) const;
    void begin(Scene& scene, Side side, Operation operation);
    // Goes on to the next access that the other end could notice; false if it has to wait.
    bool go_on(Scene& scene, Side side);
    [[nodiscard]] bool is_quiet(const Access& access) const;
    [[nodiscard]] bool do_access(Scene& scene, Side side, const Access& access);

    static void expect(Scene& scene, bool holds, std::string_view rule);
    void on_store(Scene& scene, Side side, const Access& access) const;
    void on_post(Scene& scene, std::uint16_t index, std::uint8_t shape) const;
    void on_complete(Scene& scene, std::uint16_t index, Operation operation) const;
    void on_driver_over(Scene& scene, Operation operation, const Answer& answer) const;
    void on_device_over(Scene& scene, Operation operation, const Answer& answer) const;
    void on_taken(Scene& scene, const Answer& answer) const;
    void on_popped(Scene& scene, const Answer& answer) const;
    void on_device_reset(Scene& scene) const;
    void expect_no_lost_wakeup(Scene& scene) const;

    [[nodiscard]] std::uint16_t base(const Notes& notes) const {
        return notes.resets == 0 ? options_.first_index : std::uint16_t{0};
    }

    // Chains that the device holds, in the order in which it found them; the serial of one.
    [[nodiscard]] static std::uint8_t held(const Notes& notes);
    [[nodiscard]] static std::size_t held_at(const Notes& notes, std::size_t which);
    [[nodiscard]] std::uint8_t taken_descriptors(const Notes& notes) const;

    [[nodiscard]] LocalSteps& steps_of(Side side) { return *ends_[static_cast<std::size_t>(side)]; }

    [[nodiscard]] const LocalSteps& steps_of(Side side) const {
        return *ends_[static_cast<std::size_t>(side)];
    }

    [[nodiscard]] bool is_idle(const Scene& scene, Side side) const {
        return steps_of(side).operation_at(scene.nodes[static_cast<std::size_t>(side)]).act ==
               Act::none;
    }

    RingWorldOptions options_;
    queue::RingLayout layout_;
    std::unique_ptr<Ram> ram_;
    Block ring_block_;
    std::byte* ring_ = nullptr;
    std::array<std::unique_ptr<LocalSteps>, 2> ends_;
    Scene start_;
    ValueInterner<RingBytes> rings_;
    ValueInterner<std::array<Queue, 2>> queues_;
    ValueInterner<Notes> notes_;
};

}  // namespace virtaccel::worlds
