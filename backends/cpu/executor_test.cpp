#include "backends/cpu/executor.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/control_step.h"
#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "host/clock.h"
#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/event_pool.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backends::cpu {

namespace {

using backend::EventStatus;

constexpr EventStatus complete{.phase = EventPhase::complete};
constexpr EventStatus cancelled{.phase = EventPhase::cancelled};
constexpr EventStatus expired{.phase = EventPhase::failed, .error = Status::deadline_expired};

// Says that it has begun, and waits until it may end.
class Gate final : public Step {
  public:
    explicit Gate(bool opens = true) : opens_(opens) {}

    bool run(const Frame& /*frame*/, std::uint32_t /*part*/) noexcept override {
        begun.release();
        may_end.acquire();
        return opens_;
    }

    std::binary_semaphore begun{0};
    std::binary_semaphore may_end{0};

  private:
    bool opens_;
};

// Counts how often each part has run.
class Counter final : public Step {
  public:
    explicit Counter(std::uint32_t parts) : counts(parts) {}

    [[nodiscard]] std::uint32_t parts() const override {
        return static_cast<std::uint32_t>(counts.size());
    }

    bool run(const Frame& /*frame*/, std::uint32_t part) noexcept override {
        counts[part].fetch_add(1, std::memory_order_relaxed);
        return true;
    }

    std::vector<std::atomic<std::uint32_t>> counts;
};

template <class S, class... Args>
S& add_step(Program& program, Args... args) {
    auto step = std::make_unique<S>(args...);
    S& added = *step;
    program.steps.push_back(std::move(step));
    return added;
}

// Events of one executor.
class Submitter {
  public:
    explicit Submitter(std::uint32_t threads = 1)
        : executor_(std::make_unique<Executor>(threads)) {}

    backend::EventHandle submit(Program& program, std::uint64_t deadline_ns = 0) {
        Event& event = *events_.take();
        event.program = &program;
        event.deadline_ns = deadline_ns;
        const backend::EventHandle handle = events_.publish(event);
        executor_->submit(event, handle.word);
        return handle;
    }

    bool cancel(backend::EventHandle handle) {
        return executor_->cancel(backend::EventPool<Event>::at(handle), handle.word);
    }

    static EventStatus status(backend::EventHandle handle) {
        return *backend::EventPool<Event>::at(handle).cell.status(handle.word);
    }

    static EventStatus wait(backend::EventHandle handle) {
        while (status(handle).phase == EventPhase::pending) {
            std::this_thread::yield();
        }
        return status(handle);
    }

    void destroy(backend::EventHandle handle) { static_cast<void>(events_.destroy(handle)); }

    Executor& executor() { return *executor_; }

    void stop() { executor_.reset(); }

  private:
    backend::EventPool<Event> events_{host::heap()};
    std::unique_ptr<Executor> executor_;
};

TEST(Executor, runs_submissions_in_the_order_they_came) {
    Submitter submitter;
    Program first;
    auto& gate = add_step<Gate>(first);
    Program second;
    auto& counter = add_step<Counter>(second, 1U);
    const auto running = submitter.submit(first);
    const auto waiting = submitter.submit(second);
    gate.begun.acquire();
    EXPECT_EQ(Submitter::status(running).phase, EventPhase::pending);
    EXPECT_EQ(Submitter::status(waiting).phase, EventPhase::pending);
    EXPECT_EQ(counter.counts[0].load(), 0U);
    gate.may_end.release();
    EXPECT_EQ(Submitter::wait(waiting), complete);
    EXPECT_EQ(Submitter::status(running), complete);
    EXPECT_EQ(counter.counts[0].load(), 1U);
}

TEST(Executor, cancels_what_runs_at_the_end_of_its_step) {
    Submitter submitter;
    Program program;
    auto& gate = add_step<Gate>(program);
    auto& counter = add_step<Counter>(program, 1U);
    Program other;
    auto& untouched = add_step<Counter>(other, 1U);
    // The wait is bounded, so on a busy machine the answer may be no; then it completes.
    std::uint32_t completed = 0;
    for (int i = 0; i < 20; ++i) {
        const auto event = submitter.submit(program);
        gate.begun.acquire();
        std::thread opener{[&gate] { gate.may_end.release(); }};
        const bool is_cancelled = submitter.cancel(event);
        opener.join();
        EXPECT_EQ(Submitter::wait(event), is_cancelled ? cancelled : complete);
        completed += is_cancelled ? 0 : 1;
        submitter.destroy(event);
        // The wish does not reach what comes next.
        EXPECT_EQ(Submitter::wait(submitter.submit(other)), complete);
    }
    EXPECT_EQ(counter.counts[0].load(), completed);
    EXPECT_EQ(untouched.counts[0].load(), 20U);
}

TEST(Executor, takes_a_wish_back_that_comes_to_nothing) {
    Submitter submitter;
    Program program;
    auto& gate = add_step<Gate>(program);
    auto& counter = add_step<Counter>(program, 1U);
    const auto event = submitter.submit(program);
    gate.begun.acquire();
    EXPECT_FALSE(submitter.cancel(event));
    gate.may_end.release();
    EXPECT_EQ(Submitter::wait(event), complete);
    EXPECT_EQ(counter.counts[0].load(), 1U);
    EXPECT_FALSE(submitter.cancel(event));
}

TEST(Executor, withdraws_what_has_not_begun) {
    Submitter submitter;
    Program first;
    auto& gate = add_step<Gate>(first);
    Program second;
    auto& counter = add_step<Counter>(second, 1U);
    const auto running = submitter.submit(first);
    const auto doomed = submitter.submit(second);
    const auto last = submitter.submit(second);
    gate.begun.acquire();
    EXPECT_FALSE(submitter.cancel(running));
    EXPECT_TRUE(submitter.cancel(doomed));
    EXPECT_FALSE(submitter.cancel(doomed));
    EXPECT_EQ(Submitter::status(doomed), cancelled);
    // Its record serves the next event, while the first one still runs.
    submitter.destroy(doomed);
    const auto next = submitter.submit(second);
    EXPECT_EQ(next.object, doomed.object);
    gate.may_end.release();
    EXPECT_EQ(Submitter::wait(next), complete);
    EXPECT_EQ(Submitter::status(running), complete);
    EXPECT_EQ(Submitter::status(last), complete);
    EXPECT_EQ(counter.counts[0].load(), 2U);
    EXPECT_FALSE(submitter.cancel(last));
}

TEST(Executor, does_not_begin_what_is_too_late) {
    Submitter submitter;
    Program program;
    auto& counter = add_step<Counter>(program, 1U);
    EXPECT_EQ(Submitter::wait(submitter.submit(program, 1)), expired);
    EXPECT_EQ(counter.counts[0].load(), 0U);
}

TEST(Executor, stops_between_two_steps_when_the_time_is_up) {
    Submitter submitter;
    Program program;
    auto& gate = add_step<Gate>(program);
    auto& counter = add_step<Counter>(program, 1U);
    const std::uint64_t deadline_ns = host::now_ns() + 200'000'000;
    const auto event = submitter.submit(program, deadline_ns);
    // On a machine that is very busy it never begins, which is right too.
    while (!gate.begun.try_acquire() && Submitter::status(event).phase == EventPhase::pending) {
        std::this_thread::yield();
    }
    while (host::now_ns() <= deadline_ns) {
        std::this_thread::yield();
    }
    gate.may_end.release();
    EXPECT_EQ(Submitter::wait(event), expired);
    EXPECT_EQ(counter.counts[0].load(), 0U);
}

TEST(Executor, goes_where_a_step_points) {
    Submitter submitter;
    Program program;
    auto& call = add_step<Return>(program);  // any step that names the next one
    auto& skipped = add_step<Counter>(program, 1U);
    auto& counter = add_step<Counter>(program, 1U);
    call.go_to(2);
    EXPECT_EQ(Submitter::wait(submitter.submit(program)), complete);
    EXPECT_EQ(skipped.counts[0].load(), 0U);
    EXPECT_EQ(counter.counts[0].load(), 1U);
    call.go_to(3);
    EXPECT_EQ(Submitter::wait(submitter.submit(program)), complete);
    EXPECT_EQ(counter.counts[0].load(), 1U);
}

TEST(Executor, stops_rounds_without_end) {
    for (const std::uint32_t threads : {1U, 2U}) {
        Submitter submitter{threads};
        Program program;
        add_step<Counter>(program, 2U);
        add_step<Jump>(program).go_to(0);
        EXPECT_EQ(Submitter::wait(submitter.submit(program, host::now_ns() + 20'000'000)), expired);
        const auto event = submitter.submit(program);
        // On a machine that is very busy the answer may be no.
        while (!submitter.cancel(event)) {
            std::this_thread::yield();
        }
        EXPECT_EQ(Submitter::status(event), cancelled);
        static_cast<void>(submitter.submit(program));
        submitter.stop();
    }
}

TEST(Executor, ends_a_submission_whose_step_gives_up) {
    for (const std::uint32_t threads : {1U, 2U}) {
        Submitter submitter{threads};
        Program program;
        auto& gate = add_step<Gate>(program, false);
        auto& counter = add_step<Counter>(program, 2U);
        const auto event = submitter.submit(program);
        gate.may_end.release();
        EXPECT_EQ(Submitter::wait(event),
                  (EventStatus{.phase = EventPhase::failed, .error = Status::internal_error}));
        EXPECT_EQ(counter.counts[0].load(), 0U);
    }
}

TEST(Executor, runs_every_part_once_however_many_threads_there_are) {
    for (const std::uint32_t threads : {1U, 2U, 5U}) {
        Submitter submitter{threads};
        Program program;
        std::vector<Counter*> counters;
        counters.reserve(40);
        for (std::uint32_t i = 0; i < 40; ++i) {
            counters.push_back(&add_step<Counter>(program, 1 + (i * 7)));
        }
        constexpr std::uint32_t runs = 20;
        for (std::uint32_t run = 0; run < runs; ++run) {
            const auto event = submitter.submit(program);
            EXPECT_EQ(Submitter::wait(event), complete);
            submitter.destroy(event);
        }
        for (const Counter* counter : counters) {
            for (const auto& count : counter->counts) {
                EXPECT_EQ(count.load(), runs);
            }
        }
    }
}

TEST(Executor, notifies_after_every_end) {
    std::atomic<std::uint32_t> notified = 0;
    Submitter submitter;
    submitter.executor().set_notifier(
        {.state = &notified, .notify = [](void* state) {
             static_cast<std::atomic<std::uint32_t>*>(state)->fetch_add(1);
         }});
    Program blocked;
    auto& gate = add_step<Gate>(blocked);
    const auto running = submitter.submit(blocked);
    const auto doomed = submitter.submit(blocked);
    gate.begun.acquire();
    EXPECT_TRUE(submitter.cancel(doomed));
    EXPECT_EQ(notified.load(), 1U);
    gate.may_end.release();
    EXPECT_EQ(Submitter::wait(running), complete);
    submitter.stop();
    EXPECT_EQ(notified.load(), 2U);
}

TEST(Executor, stops_after_the_step_that_runs) {
    Submitter submitter{2};
    Program program;
    auto& gate = add_step<Gate>(program);
    auto& counter = add_step<Counter>(program, 4U);
    const auto event = submitter.submit(program);
    gate.begun.acquire();
    std::thread opener{[&gate] { gate.may_end.release(); }};
    submitter.stop();
    opener.join();
    // The step that ran has ended; whether the next one began is a matter of time.
    EXPECT_NE(Submitter::status(event).phase, EventPhase::pending);
    EXPECT_FALSE(gate.may_end.try_acquire());
    EXPECT_LE(counter.counts[0].load(), 1U);
}

}  // namespace

}  // namespace virtaccel::backends::cpu
