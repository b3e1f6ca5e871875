// Twins whose submissions, events, cancellations or ends are broken.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/testing/backend_twins.h"
#include "virtaccel/conformance/testing/further_twins.h"
#include "virtaccel/conformance/testing/run_further.h"
#include "virtaccel/mock/forwarding.h"

namespace virtaccel::conformance::testing {

namespace {

using backend::LoadedProgram;
using backend::PreparedHandle;

// ---- binding

constexpr auto with_any_access = [](Bindings& bindings) {
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        bindings[i].access = i == 0 ? Access::read : Access::write;
    }
};
constexpr auto with_any_length = [](Bindings& bindings) {
    std::uint64_t bytes = ~std::uint64_t{0};
    for (const backend::Binding& binding : bindings) {
        bytes = std::min(bytes, binding.range.bytes);
    }
    for (backend::Binding& binding : bindings) {
        binding.range.bytes = bytes;
    }
};

struct BooksRefusedSubmissions : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources += refused_;
        return books;
    }

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        refused_ += outcome.status == Status::ok ? 0 : 1;
        return outcome;
    }

  private:
    std::uint64_t refused_ = 0;
};

// Knows what fits, and calls what does not malformed.
struct CallsMisfitsMalformed : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        return outcome.status == Status::incompatible
                   ? SubmitOutcome::rejected(Status::invalid_argument)
                   : outcome;
    }
};

// ---- event, timeout

// Says of a pending event that it is gone, and keeps it.
struct ForgetsPendingEvents : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        const auto outcome = Forwarding::destroy_event(event);
        return outcome.status == Status::busy ? ReleaseOutcome::released() : outcome;
    }
};

struct RingsForNothing : Forwarding {
    using Forwarding::Forwarding;

    void set_notifier(backend::Notifier notifier) {
        notifier_ = notifier;
        Forwarding::set_notifier(notifier);
    }

    [[nodiscard]] Result<ContextHandle> create_context() {
        if (notifier_.notify != nullptr) {
            notifier_.notify(notifier_.state);
        }
        return Forwarding::create_context();
    }

  private:
    backend::Notifier notifier_;
};

struct KeepsItsBell : Forwarding {
    using Forwarding::Forwarding;

    void set_notifier(backend::Notifier notifier) {
        if (notifier.notify != nullptr) {
            Forwarding::set_notifier(notifier);
        }
    }
};

// The end of an event is another one when more work has come.
struct EndsWithTheLast : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        last_ = outcome.event;
        return outcome;
    }

    [[nodiscard]] Result<EventStatus> poll(EventHandle event) {
        const auto status = Forwarding::poll(event);
        const bool is_old = event != last_ && status && status->phase == EventPhase::complete;
        return is_old ? EventStatus{.phase = EventPhase::cancelled} : status;
    }

  private:
    EventHandle last_;
};

// ---- cancel

// Cancels what was submitted last as well.
struct CancelsItsNeighbours : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        events_.push_back(outcome.event);
        return outcome;
    }

    [[nodiscard]] Status cancel(EventHandle event) {
        for (const EventHandle each : events_) {
            if (each != event) {
                (void)Forwarding::cancel(each);
            }
        }
        return Forwarding::cancel(event);
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        const auto outcome = Forwarding::destroy_event(event);
        if (outcome.certainty == backend::Certainty::done) {
            std::erase(events_, event);
        }
        return outcome;
    }

  private:
    std::vector<EventHandle> events_;
};

struct CancelsTwice : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status cancel(EventHandle event) {
        const auto status = Forwarding::poll(event);
        return status && status->phase == EventPhase::cancelled ? Status::ok
                                                                : Forwarding::cancel(event);
    }
};

// Gives a cancelled event up before anyone asks for it.
struct DestroysWhatItCancels : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources -= cancelled_;
        return books;
    }

    [[nodiscard]] Status cancel(EventHandle event) {
        const Status status = Forwarding::cancel(event);
        cancelled_ += status == Status::ok ? 1 : 0;
        return status;
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        const auto state = Forwarding::poll(event);
        const auto outcome = Forwarding::destroy_event(event);
        cancelled_ -= state && state->phase == EventPhase::cancelled &&
                              outcome.certainty == backend::Certainty::done
                          ? 1
                          : 0;
        return outcome;
    }

  private:
    std::uint64_t cancelled_ = 0;
};

// A backend that cannot cancel, and pretends.
struct PretendsToCancel : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        identity.capabilities =
            identity.capabilities - Capabilities{CapabilityBit::event_cancellation};
        return identity;
    }
};

// ---- contexts, instances

// The end of any context is the end of the work that was submitted last.
struct EndsWorkWithAContext : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        last_ = outcome.certainty == backend::Certainty::done ? std::optional{outcome.event}
                                                              : std::nullopt;
        return outcome;
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        const auto outcome = Forwarding::destroy_event(event);
        if (last_ == event && outcome.certainty == backend::Certainty::done) {
            last_.reset();
        }
        return outcome;
    }

    [[nodiscard]] ReleaseOutcome destroy_context(ContextHandle context) {
        if (last_) {
            (void)Forwarding::cancel(*last_);
        }
        return Forwarding::destroy_context(context);
    }

  private:
    std::optional<EventHandle> last_;
};

// Knows how many events there are.
struct CountsEvents : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        events += outcome.status == Status::ok ? 1 : 0;
        return outcome;
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        const auto outcome = Forwarding::destroy_event(event);
        events -= outcome.certainty == backend::Certainty::done ? 1 : 0;
        return outcome;
    }

    int events = 0;
};

struct LoadsNothingBesideWork : CountsEvents {
    using CountsEvents::CountsEvents;

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        if (events != 0) {
            abandon(prepared);
            return fail(Status::busy);
        }
        return Forwarding::load(context, prepared);
    }
};

// All instances keep one count of their contexts.
struct SharesItsBooks : Forwarding {
    using Shared = std::uint64_t;

    SharesItsBooks(backend::AnyBackend inner, Shared* all) noexcept
        : Forwarding(std::move(inner)), all_(all) {}

    SharesItsBooks(const SharesItsBooks&) = delete;
    SharesItsBooks& operator=(const SharesItsBooks&) = delete;

    ~SharesItsBooks() { *all_ -= own_; }

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources += *all_ - own_;
        return books;
    }

    [[nodiscard]] Result<ContextHandle> create_context() {
        ++*all_;
        ++own_;
        return Forwarding::create_context();
    }

    [[nodiscard]] ReleaseOutcome destroy_context(ContextHandle context) {
        --*all_;
        --own_;
        return Forwarding::destroy_context(context);
    }

  private:
    Shared* all_;
    std::uint64_t own_ = 0;
};

// ---- reset, end, wear

struct KeepsContextsOfMany : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<ContextHandle> create_context() {
        ++live_;
        return Forwarding::create_context();
    }

    [[nodiscard]] ReleaseOutcome destroy_context(ContextHandle context) {
        return --live_ < 20 ? Forwarding::destroy_context(context) : ReleaseOutcome::released();
    }

  private:
    int live_ = 0;
};

struct LosesEventsOfMany : CountsEvents {
    using CountsEvents::CountsEvents;

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        const auto outcome = CountsEvents::destroy_event(event);
        return events < 35 ? outcome : ReleaseOutcome::lost();
    }
};

// What an instance held when it ended is in the books of the next one.
struct LeavesAMark : Forwarding {
    using Shared = std::uint64_t;

    LeavesAMark(backend::AnyBackend inner, Shared* left) noexcept
        : Forwarding(std::move(inner)), left_(left), mark_(std::exchange(*left, 0)) {}

    LeavesAMark(const LeavesAMark&) = delete;
    LeavesAMark& operator=(const LeavesAMark&) = delete;

    ~LeavesAMark() { *left_ = Forwarding::diagnostics().live_resources; }

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources += mark_;
        return books;
    }

  private:
    Shared* left_;
    std::uint64_t mark_;
};

// Loses a byte with every thousandth buffer.
struct WearsOutBuffers : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.retained_bytes += made_ / 1000;
        return books;
    }

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        ++made_;
        return Forwarding::allocate(context, request);
    }

  private:
    std::uint64_t made_ = 0;
};

struct RunsOutOfEvents : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        return ++made_ > 500 ? SubmitOutcome::rejected(Status::resource_limit)
                             : Forwarding::submit(submission);
    }

  private:
    int made_ = 0;
};

}  // namespace

std::vector<FurtherTwin> work_twins() {
    return {
        {"binds by order", failing_on<Binds<by_order>>},
        {"binds the first two", failing_on<Binds<the_first_two>>},
        {"binds with any access", failing_on<Binds<with_any_access>>},
        {"binds any length", failing_on<Binds<with_any_length>>},
        {"binds from the start", failing_on<Binds<from_the_start>>},
        {"books refused submissions", failing_on<BooksRefusedSubmissions>},
        {"calls misfits malformed", failing_on<CallsMisfitsMalformed>},
        {"forgets pending events", failing_on<ForgetsPendingEvents>},
        {"ends old events with the last", failing_on<EndsWithTheLast>},
        {"rings for nothing", failing_on<RingsForNothing>},
        {"keeps its bell", failing_on<KeepsItsBell>},
        {"supports no timeouts", failing_on<RefusesTimeouts<Status::unsupported>>},
        {"expires at once", failing_on<RefusesTimeouts<Status::deadline_expired>>},
        {"wraps timeouts", failing_on<WrapsTimeouts>},
        {"only says it cancelled", failing_on<OnlySaysItCancelled>},
        {"cancels its neighbours", failing_on<CancelsItsNeighbours>},
        {"cancels twice", failing_on<CancelsTwice>},
        {"cancels what has ended", failing_on<CancelsWhatHasEnded>},
        {"destroys what it cancels", failing_on<DestroysWhatItCancels>},
        {"cancels and does not say that it can", failing_on<PretendsToCancel>},
        {"ends work with a context", failing_on<EndsWorkWithAContext>},
        {"loads nothing beside work", failing_on<LoadsNothingBesideWork>},
        {"shares its books", failing_on<SharesItsBooks>},
        {"keeps contexts of many", failing_on<KeepsContextsOfMany>},
        {"loses events of many", failing_on<LosesEventsOfMany>},
        {"leaves a mark", failing_on<LeavesAMark>},
        {"wears out with its buffers", failing_on<WearsOutBuffers>},
        {"runs out of events", failing_on<RunsOutOfEvents>},
    };
}

}  // namespace virtaccel::conformance::testing
