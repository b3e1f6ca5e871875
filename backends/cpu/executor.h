#pragma once
// Where submissions run: one leader thread that takes them in order, and helpers that share the
// parts of its steps. The one thing to know: the leader never waits for a helper that has not begun
// a part, so a busy core costs a helper's share and no more.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/event_pool.h"

namespace virtaccel::backends::cpu {

// A submission and what became of it. Pooled: the fields are written before the event is queued,
// and read by the leader after it has claimed the cell.
struct Event {
    backend::EventCell cell;
    Program* program = nullptr;
    std::uint64_t deadline_ns = 0;  // of host::now_ns(); zero for none
    BoundRange* ranges = nullptr;   // one for each slot of the program; the backend's to free
    std::size_t ranges_capacity = 0;
    // The executor's: a place in its queue.
    std::uint64_t use = 0;
    Event* next = nullptr;
    Event* previous = nullptr;
    bool is_queued = false;
};

class Executor {
  public:
    // Starts `threads` threads. Throws what std::thread throws.
    explicit Executor(std::uint32_t threads);
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    // Waits for the step that is running, not for the rest of its submission.
    ~Executor();

    void set_notifier(backend::Notifier notifier);

    // Queues a published event whose handle has the word `use`.
    void submit(Event& event, std::uint64_t use);

    // Ends an event that has not begun. False if it has, or is decided.
    [[nodiscard]] bool withdraw(Event& event, std::uint64_t use, backend::EventStatus status);

    // Ends an event that has not begun, or that runs and comes to the end of a step soon. False if
    // it is decided otherwise, or goes on.
    [[nodiscard]] bool cancel(Event& event, std::uint64_t use);

    // Nanoseconds that submissions have run.
    [[nodiscard]] std::uint64_t execution_ns() const {
        return execution_ns_.load(std::memory_order_relaxed);
    }

  private:
    // From which end of a step's parts a thread takes the next one. Steps read what the step before
    // wrote about there, so the leader takes them from the front and helpers from the back: most of
    // what a thread reads is then in its own cache.
    enum class End : std::uint8_t { front, back };

    // A step being shared: `generation:32 | behind the last part left:16 | first part left:16`.
    static constexpr std::uint64_t part_mask = 0xffffU;

    void lead();
    void help();
    [[nodiscard]] Event* take();
    [[nodiscard]] Event* pop();
    void unlink(Event& event);
    void run(Event& event, std::uint64_t use);
    [[nodiscard]] backend::EventStatus run_steps(const Program& program, std::uint64_t deadline_ns);
    [[nodiscard]] bool ask_to_stop(const Event& event, std::uint64_t use);
    [[nodiscard]] bool run_step(Step& step, const Frame& frame);
    [[nodiscard]] bool share(Step& step, const Frame& frame);
    bool run_part(End end);
    void begin_sharing();
    void stop();

    backend::Notifier notifier_;
    std::atomic<std::uint64_t> execution_ns_ = 0;
    std::atomic<bool> is_stopping_ = false;

    // The queue of submissions.
    std::mutex mutex_;
    std::condition_variable arrived_;
    Event* first_ = nullptr;
    Event* last_ = nullptr;
    bool leader_sleeps_ = false;
    std::atomic<std::uint32_t> queued_ = 0;
    // What runs, or ran last. Whoever takes the wish to stop it back, or fulfils it, does so by an
    // exchange.
    const Event* running_ = nullptr;
    std::atomic<bool> shall_stop_ = false;

    // The step being shared. `step_` and `frame_` change only while no part of it is claimed.
    std::atomic<std::uint64_t> ticket_ = 0;
    std::atomic<std::uint32_t> parts_done_ = 0;
    std::atomic<bool> has_failed_ = false;
    Step* step_ = nullptr;
    Frame frame_;
    std::atomic<bool> is_sharing_ = false;
    std::mutex helpers_mutex_;
    std::condition_variable helpers_wanted_;
    std::uint32_t helpers_asleep_ = 0;

    std::vector<std::thread> threads_;
};

}  // namespace virtaccel::backends::cpu
