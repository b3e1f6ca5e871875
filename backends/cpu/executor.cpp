#include "backends/cpu/executor.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "backends/cpu/one_thread.h"
#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "host/clock.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backends::cpu {

namespace {

// How long an idle thread looks for work before it sleeps: longer than a guest takes to read its
// outputs and submit again, shorter than anybody would notice in a load average.
constexpr std::uint64_t spin_ns = 100'000;
// How long a caller that cancels waits for the end of a step.
constexpr std::uint64_t cancel_wait_ns = 2'000'000;
// How many looks are taken between two looks at the clock.
constexpr int looks_per_clock = 32;

constexpr backend::EventStatus expired{.phase = EventPhase::failed,
                                       .error = Status::deadline_expired};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// Looks until `done()`, for at most `limit_ns`. Where there is only one processor, others need it
// more.
template <class Done>
bool spin(std::uint64_t limit_ns, Done&& done) {
    static const bool alone = std::thread::hardware_concurrency() < 2;
    if (alone) {
        return done();
    }
    const std::uint64_t end = host::now_ns() + limit_ns;
    do {
        for (int i = 0; i < looks_per_clock; ++i) {
            if (done()) {
                return true;
            }
            relax();
        }
    } while (host::now_ns() < end);
    return false;
}

}  // namespace

Executor::Executor(std::uint32_t threads) {
    threads_.reserve(threads);
    try {
        threads_.emplace_back([this] { lead(); });
        for (std::uint32_t i = 1; i < threads; ++i) {
            threads_.emplace_back([this] { help(); });
        }
    } catch (...) {
        stop();
        throw;
    }
}

Executor::~Executor() {
    stop();
}

void Executor::stop() {
    is_stopping_.store(true, std::memory_order_release);
    {
        const std::scoped_lock lock{mutex_, helpers_mutex_};
        arrived_.notify_all();
        helpers_wanted_.notify_all();
    }
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void Executor::set_notifier(backend::Notifier notifier) {
    const std::scoped_lock lock{mutex_};
    notifier_ = notifier;
}

void Executor::submit(Event& event, std::uint64_t use) {
    bool wake = false;
    {
        const std::scoped_lock lock{mutex_};
        event.use = use;
        event.next = nullptr;
        event.previous = last_;
        event.is_queued = true;
        (last_ == nullptr ? first_ : last_->next) = &event;
        last_ = &event;
        queued_.fetch_add(1, std::memory_order_release);
        wake = leader_sleeps_;
    }
    if (wake) {
        arrived_.notify_one();
    }
}

bool Executor::withdraw(Event& event, std::uint64_t use, backend::EventStatus status) {
    backend::Notifier notifier;
    {
        const std::scoped_lock lock{mutex_};
        if (!event.cell.decide(use, status)) {
            return false;
        }
        VIRTACCEL_CHECK(event.is_queued && event.use == use);
        unlink(event);
        notifier = notifier_;
    }
    if (notifier.notify != nullptr) {
        notifier.notify(notifier.state);
    }
    return true;
}

bool Executor::cancel(Event& event, std::uint64_t use) {
    constexpr backend::EventStatus cancelled{.phase = EventPhase::cancelled};
    if (withdraw(event, use, cancelled)) {
        return true;
    }
    if (!ask_to_stop(event, use)) {
        return false;
    }
    const auto has_ended = [&event, use] {
        const auto status = event.cell.status(use);
        return !status || status->phase != EventPhase::pending;
    };
    const std::uint64_t end = host::now_ns() + cancel_wait_ns;
    while (!has_ended()) {
        if (host::now_ns() >= end && shall_stop_.exchange(false, std::memory_order_relaxed)) {
            return false;
        }
        // Past the end the wish has been heard: what is left is to write it down.
        std::this_thread::yield();
    }
    return event.cell.status(use) == cancelled;
}

// True if the event runs; then the wish stands until it is taken back.
bool Executor::ask_to_stop(const Event& event, std::uint64_t use) {
    const std::scoped_lock lock{mutex_};
    const auto status = event.cell.status(use);
    if (running_ != &event || !status || status->phase != EventPhase::pending) {
        return false;
    }
    shall_stop_.store(true, std::memory_order_relaxed);
    return true;
}

// With the mutex held.
void Executor::unlink(Event& event) {
    (event.previous == nullptr ? first_ : event.previous->next) = event.next;
    (event.next == nullptr ? last_ : event.next->previous) = event.previous;
    event.is_queued = false;
    queued_.fetch_sub(1, std::memory_order_relaxed);
}

// With the mutex held: the next event, claimed, or null.
Event* Executor::pop() {
    if (first_ == nullptr) {
        return nullptr;
    }
    Event& event = *first_;
    unlink(event);
    VIRTACCEL_CHECK(event.cell.claim(event.use));  // `withdraw` decides under the same mutex
    running_ = &event;
    shall_stop_.store(false, std::memory_order_relaxed);
    return &event;
}

// The next event, claimed; null when it is time to stop.
Event* Executor::take() {
    spin(spin_ns, [this] {
        return queued_.load(std::memory_order_acquire) != 0 ||
               is_stopping_.load(std::memory_order_relaxed);
    });
    std::unique_lock lock{mutex_};
    leader_sleeps_ = true;
    arrived_.wait(
        lock, [this] { return first_ != nullptr || is_stopping_.load(std::memory_order_relaxed); });
    leader_sleeps_ = false;
    return is_stopping_.load(std::memory_order_relaxed) ? nullptr : pop();
}

void Executor::lead() {
    use_one_thread();
    while (Event* const event = take()) {
        run(*event, event->use);
    }
}

void Executor::run(Event& event, std::uint64_t use) {
    const std::uint64_t start = host::now_ns();
    backend::EventStatus status = expired;
    if (event.deadline_ns == 0 || start < event.deadline_ns) {
        event.program->bind({event.ranges, event.program->slots.size()});
        status = run_steps(*event.program, event.deadline_ns);
    }
    const std::uint64_t end = host::now_ns();
    execution_ns_.fetch_add(end - start, std::memory_order_relaxed);
    const backend::Notifier notifier = notifier_;
    // From here on the event is its owner's.
    event.cell.finish(use, status);
    if (notifier.notify != nullptr) {
        notifier.notify(notifier.state);
    }
}

// How the submission ends. One that this executor's end cuts short is nobody's any more.
backend::EventStatus Executor::run_steps(const Program& program, std::uint64_t deadline_ns) {
    const Frame frame = program.frame();
    begin_sharing();
    backend::EventStatus status{.phase = EventPhase::complete};
    std::uint32_t position = 0;
    while (position < program.steps.size()) {
        Step& step = *program.steps[position];
        if (shall_stop_.load(std::memory_order_relaxed) &&
            shall_stop_.exchange(false, std::memory_order_relaxed)) {
            status = {.phase = EventPhase::cancelled};
            break;
        }
        if (is_stopping_.load(std::memory_order_relaxed) ||
            (deadline_ns != 0 && host::now_ns() >= deadline_ns)) {
            status = expired;
            break;
        }
        if (!run_step(step, frame)) {
            status = {.phase = EventPhase::failed, .error = step.failure()};
            break;
        }
        position = step.next(frame, position);
    }
    is_sharing_.store(false, std::memory_order_relaxed);
    return status;
}

bool Executor::run_step(Step& step, const Frame& frame) {
    const std::uint32_t parts = step.parts();
    if (parts > 1 && threads_.size() > 1) {
        return share(step, frame);
    }
    for (std::uint32_t part = 0; part < parts; ++part) {
        if (!step.run(frame, part)) {
            return false;
        }
    }
    return true;
}

void Executor::begin_sharing() {
    if (threads_.size() == 1) {
        return;
    }
    is_sharing_.store(true, std::memory_order_relaxed);
    const std::scoped_lock lock{helpers_mutex_};
    if (helpers_asleep_ != 0) {
        helpers_wanted_.notify_all();
    }
}

// Runs a step together with whichever helpers come.
bool Executor::share(Step& step, const Frame& frame) {
    const std::uint64_t parts = step.parts();
    VIRTACCEL_CHECK(parts <= part_mask);
    step_ = &step;
    frame_ = frame;
    parts_done_.store(0, std::memory_order_relaxed);
    has_failed_.store(false, std::memory_order_relaxed);
    const std::uint64_t generation = (ticket_.load(std::memory_order_relaxed) >> 32U) + 1;
    ticket_.store((generation << 32U) | (parts << 16U), std::memory_order_release);
    while (run_part(End::front)) {
    }
    while (parts_done_.load(std::memory_order_acquire) != parts) {
        relax();
    }
    return !has_failed_.load(std::memory_order_relaxed);
}

// Claims one part of the shared step and runs it; false if there is none left.
bool Executor::run_part(End end) {
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    std::uint64_t part = 0;
    std::uint64_t rest = 0;
    do {
        const std::uint64_t first = ticket & part_mask;
        const std::uint64_t behind = (ticket >> 16U) & part_mask;
        if (first >= behind) {
            return false;
        }
        part = end == End::front ? first : behind - 1;
        rest = end == End::front ? ticket + 1 : ticket - (std::uint64_t{1} << 16U);
    } while (!ticket_.compare_exchange_weak(ticket, rest, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
    if (!step_->run(frame_, static_cast<std::uint32_t>(part))) {
        has_failed_.store(true, std::memory_order_relaxed);
    }
    parts_done_.fetch_add(1, std::memory_order_release);
    return true;
}

void Executor::help() {
    use_one_thread();
    while (!is_stopping_.load(std::memory_order_acquire)) {
        const bool found = spin(spin_ns, [this] {
            return run_part(End::back) || is_stopping_.load(std::memory_order_relaxed);
        });
        if (found || is_sharing_.load(std::memory_order_relaxed)) {
            continue;
        }
        std::unique_lock lock{helpers_mutex_};
        ++helpers_asleep_;
        helpers_wanted_.wait(lock, [this] {
            return is_sharing_.load(std::memory_order_relaxed) ||
                   is_stopping_.load(std::memory_order_relaxed);
        });
        --helpers_asleep_;
    }
}

}  // namespace virtaccel::backends::cpu
