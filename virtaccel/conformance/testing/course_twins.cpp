// More twins that are wrong in the course of work, or only after a while.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/testing/backend_twins.h"
#include "virtaccel/conformance/testing/further_twins.h"
#include "virtaccel/conformance/testing/run_further.h"
#include "virtaccel/mock/forwarding.h"

namespace virtaccel::conformance::testing {

namespace {

using backend::Artifact;
using backend::LoadedProgram;
using backend::PreparedHandle;
using backend::ProgramHandle;
using backend::QueueHandle;

// ---- programs

// What is prepared spoils when a context comes or a program runs.
struct DraftsSpoil : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<ContextHandle> create_context() {
        fresh_.clear();
        return Forwarding::create_context();
    }

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        fresh_.clear();
        return Forwarding::submit(submission);
    }

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        auto prepared = Forwarding::prepare(artifact);
        if (prepared) {
            fresh_.push_back(*prepared);
        }
        return prepared;
    }

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        if (std::erase(fresh_, prepared) == 0) {
            abandon(prepared);
            return fail(Status::incompatible);
        }
        return Forwarding::load(context, prepared);
    }

  private:
    std::vector<PreparedHandle> fresh_;
};

// Loads what was prepared first before anything else.
struct LoadsInOrder : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        auto prepared = Forwarding::prepare(artifact);
        if (prepared) {
            drafts_.push_back(*prepared);
        }
        return prepared;
    }

    void abandon(PreparedHandle prepared) {
        std::erase(drafts_, prepared);
        Forwarding::abandon(prepared);
    }

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        if (drafts_.front() != prepared) {
            abandon(prepared);
            return fail(Status::busy);
        }
        std::erase(drafts_, prepared);
        return Forwarding::load(context, prepared);
    }

  private:
    std::vector<PreparedHandle> drafts_;
};

// The end of one program is the end of all that were loaded before.
struct UnloadsTwins : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        auto made = Forwarding::load(context, prepared);
        if (made) {
            usable_.push_back(made->program);
        }
        return made;
    }

    [[nodiscard]] ReleaseOutcome unload(ProgramHandle program) {
        usable_.clear();
        return Forwarding::unload(program);
    }

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        return std::ranges::find(usable_, submission.program) == usable_.end()
                   ? SubmitOutcome::rejected(Status::stale_object)
                   : Forwarding::submit(submission);
    }

  private:
    std::vector<ProgramHandle> usable_;
};

// ---- events

// Knows its events, oldest first.
struct ListsEvents : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        if (outcome.certainty == backend::Certainty::done) {
            events.push_back(outcome.event);
        }
        return outcome;
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        const auto outcome = Forwarding::destroy_event(event);
        if (outcome.certainty == backend::Certainty::done) {
            std::erase(events, event);
        }
        return outcome;
    }

    std::vector<EventHandle> events;
};

struct DestroysInOrder : ListsEvents {
    using ListsEvents::ListsEvents;

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        return events.front() == event ? ListsEvents::destroy_event(event)
                                       : ReleaseOutcome::rejected(Status::busy);
    }
};

struct BooksEventsTwice : ListsEvents {
    using ListsEvents::ListsEvents;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources += events.size();
        return books;
    }
};

struct MakesNoQueuesBesideWork : ListsEvents {
    using ListsEvents::ListsEvents;

    [[nodiscard]] Result<QueueHandle> create_queue(ContextHandle context) {
        return events.empty() ? Forwarding::create_queue(context) : fail(Status::busy);
    }
};

struct ReadsNothingBesideWork : ListsEvents {
    using ListsEvents::ListsEvents;

    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
        return events.empty() ? Forwarding::read(buffer, offset, target) : Status::busy;
    }
};

// After ten polls of one event, the event is something else.
struct TiresOfPolls : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<EventStatus> poll(EventHandle event) {
        polls_ = event == last_ ? polls_ + 1 : 1;
        last_ = event;
        return polls_ > 10
                   ? EventStatus{.phase = EventPhase::failed, .error = Status::internal_error}
                   : Forwarding::poll(event);
    }

  private:
    EventHandle last_;
    int polls_ = 0;
};

// Counts the polls of an event among what is live.
struct BooksPolls : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources += polls_ / 4;
        return books;
    }

    [[nodiscard]] Result<EventStatus> poll(EventHandle event) {
        ++polls_;
        return Forwarding::poll(event);
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        polls_ = 0;
        return Forwarding::destroy_event(event);
    }

  private:
    std::uint64_t polls_ = 0;
};

// Says at once that the work is done, and does it when nobody asks any more.
struct WorksAtTheRelease : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<EventStatus> poll(EventHandle /*event*/) {
        return EventStatus{.phase = EventPhase::complete};
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        for (int i = 0; i < 2; ++i) {
            (void)Forwarding::poll(event);
        }
        return Forwarding::destroy_event(event);
    }
};

// The third submission overwrites the first byte of what it reads.
struct OverwritesItsThirdInput : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        if (outcome.status == Status::ok && ++submissions_ == 3) {
            input_ = submission.bindings.front().buffer;
        }
        return outcome;
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        if (input_.object != nullptr) {
            (void)put(*this, std::exchange(input_, {}), 0, std::byte{0x55});
        }
        return Forwarding::destroy_event(event);
    }

  private:
    int submissions_ = 0;
    BufferHandle input_;
};

// ---- instances, wear

// One instance works at a time.
struct WorksAlone : Forwarding {
    using Shared = const void*;  // whose work it is

    WorksAlone(backend::AnyBackend inner, Shared* worker) noexcept
        : Forwarding(std::move(inner)), worker_(worker) {}

    WorksAlone(const WorksAlone&) = delete;
    WorksAlone& operator=(const WorksAlone&) = delete;

    ~WorksAlone() { rest(); }

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        if (*worker_ != nullptr && *worker_ != this) {
            return SubmitOutcome::rejected(Status::busy);
        }
        *worker_ = this;
        return Forwarding::submit(submission);
    }

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        rest();
        return Forwarding::destroy_event(event);
    }

  private:
    void rest() { *worker_ = *worker_ == this ? nullptr : *worker_; }

    Shared* worker_;
};

// Holds on to something when a call has been made often enough.
struct WearsOut : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources += contexts_ / 1000 + artifacts_ / 1000 + loads_ / 60;
        return books;
    }

    [[nodiscard]] Result<ContextHandle> create_context() {
        ++contexts_;
        return Forwarding::create_context();
    }

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        ++artifacts_;
        return Forwarding::prepare(artifact);
    }

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        ++loads_;
        return Forwarding::load(context, prepared);
    }

  private:
    std::uint64_t contexts_ = 0;
    std::uint64_t artifacts_ = 0;
    std::uint64_t loads_ = 0;
};

}  // namespace

std::vector<FurtherTwin> course_twins() {
    return {
        {"lets what is prepared spoil", failing_on<DraftsSpoil>},
        {"loads in order", failing_on<LoadsInOrder>},
        {"unloads twins", failing_on<UnloadsTwins>},
        {"destroys in order", failing_on<DestroysInOrder>},
        {"books events twice", failing_on<BooksEventsTwice>},
        {"makes no queues beside work", failing_on<MakesNoQueuesBesideWork>},
        {"reads nothing beside work", failing_on<ReadsNothingBesideWork>},
        {"tires of polls", failing_on<TiresOfPolls>},
        {"books polls", failing_on<BooksPolls>},
        {"works at the release", failing_on<WorksAtTheRelease>},
        {"overwrites its third input", failing_on<OverwritesItsThirdInput>},
        {"works alone", failing_on<WorksAlone>},
        {"wears out", failing_on<WearsOut>},
    };
}

}  // namespace virtaccel::conformance::testing
