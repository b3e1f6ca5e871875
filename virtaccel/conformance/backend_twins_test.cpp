// Broken twins of the reference backend, each differing from it in one rule, and the case that has
// to name the difference.

#include "virtaccel/conformance/testing/backend_twins.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_cases.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/reference.h"

namespace virtaccel::conformance::testing {

namespace {

using backend::Artifact;
using backend::LoadedProgram;
using backend::PreparedHandle;

// What becomes of the standard cases on a fresh T.
template <class T>
Results run_on() {
    auto maker = [] { return make_twin<T>(mock::reference_identity.limits); };
    const auto subject = reference_subject(host::heap(), backend::factory_from(maker));
    Results results;
    for (const BackendCase& row : standard_backend_cases()) {
        results.push_back(run_backend_case(subject, row));
    }
    return results;
}

// Whether the case fails on T, and says why.
template <class T>
::testing::AssertionResult names(std::string_view name) {
    const Results results = run_on<T>();
    const auto found = std::ranges::find(results, name, &CaseResult::name);
    if (found == results.end() || found->outcome != Outcome::failed || found->reason.empty()) {
        return ::testing::AssertionFailure() << name << " does not fail";
    }
    return ::testing::AssertionSuccess();
}

TEST(BackendTwins, pass_every_case_when_they_differ_in_nothing) {
    for (const CaseResult& result : run_on<Forwarding>()) {
        EXPECT_EQ(result.outcome, Outcome::passed) << result.name << ": " << result.reason;
    }
}

// ---- metadata.stable-valid

struct AllowsNoEvents : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        identity.limits.events_per_context = 0;
        return identity;
    }
};

struct HasNoName : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] std::string_view name() const { return {}; }
};

TEST(BackendTwins, with_metadata_that_is_not_stable_or_not_valid_are_named) {
    EXPECT_TRUE(names<ForgetsItsLimits>("metadata.stable-valid"));
    EXPECT_TRUE(names<AllowsNoEvents>("metadata.stable-valid"));
    EXPECT_TRUE(names<HasNoName>("metadata.stable-valid"));
}

// ---- intent.reserved-flags

template <CapabilityBit bit>
struct Advertises : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        identity.capabilities = identity.capabilities | bit;
        return identity;
    }
};

TEST(BackendTwins, that_advertise_a_reserved_intent_are_named) {
    EXPECT_TRUE(names<Advertises<CapabilityBit::external_memory>>("intent.reserved-flags"));
    EXPECT_TRUE(names<Advertises<CapabilityBit::secure_contexts>>("intent.reserved-flags"));
}

// ---- memory.*

constexpr auto hides_from_host = [](Allocation& made) { made.properties.host_visible = false; };
constexpr auto is_not_bound = [](Allocation& made) { made.properties.direct_binding = false; };
constexpr auto costs_nothing = [](Allocation& made) { made.backing_bytes = 0; };
constexpr auto is_crooked = [](Allocation& made) { made.alignment = 3; };

// Memory as its last owner left it.
struct ShowsOldBytes : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        Bytes old(1, std::byte{0x77});
        const auto pieces = cut(old);
        Reader source{PieceList::of(pieces)};
        if (made) {
            EXPECT_EQ(write(made->buffer, request.bytes - 1, source), Status::ok);
        }
        return made;
    }
};

TEST(BackendTwins, with_memory_that_is_not_what_they_say_are_named) {
    EXPECT_TRUE(names<Reports<hides_from_host>>("memory.host"));
    EXPECT_TRUE(names<Reports<is_far_away>>("memory.device"));
    EXPECT_TRUE(names<Reports<is_not_bound>>("memory.shared"));
    for (const auto* const name : {"memory.host", "memory.device", "memory.shared"}) {
        EXPECT_TRUE(names<Reports<costs_nothing>>(name));
        EXPECT_TRUE(names<Reports<is_crooked>>(name));
        EXPECT_TRUE(names<Reports<allows_all>>(name));
        EXPECT_TRUE(names<ShowsOldBytes>(name));
    }
}

// ---- buffer.segmented-transfer-bounds

struct WritesOneByteOnly : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        Reader part = source.first(1);
        return Forwarding::write(buffer, offset, part);
    }
};

struct IsOneByteOff : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
        return Forwarding::read(buffer, offset == 0 ? 0 : offset - 1, target);
    }

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        return Forwarding::write(buffer, offset == 0 ? 0 : offset - 1, source);
    }
};

// Transfers whole words, as careless hardware would.
struct RoundsUp : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        bytes_ = request.bytes;
        return Forwarding::allocate(context, request);
    }

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        const std::uint64_t end = offset + source.remaining();
        const Status status = Forwarding::write(buffer, offset, source);
        Bytes zero(1);
        const auto pieces = cut(zero);
        Reader padding{PieceList::of(pieces)};
        if (end % 8 != 0 && end < bytes_) {
            EXPECT_EQ(Forwarding::write(buffer, end, padding), Status::ok);
        }
        return status;
    }

  private:
    std::uint64_t bytes_ = 0;
};

TEST(BackendTwins, that_transfer_other_bytes_are_named) {
    EXPECT_TRUE(names<WritesOneByteOnly>("buffer.segmented-transfer-bounds"));
    EXPECT_TRUE(names<IsOneByteOff>("buffer.segmented-transfer-bounds"));
    EXPECT_TRUE(names<RoundsUp>("buffer.segmented-transfer-bounds"));
}

// ---- buffer.transfer-permissions

TEST(BackendTwins, with_wider_or_uncounted_permissions_are_named) {
    EXPECT_TRUE(names<Reports<allows_all>>("buffer.transfer-permissions"));
    EXPECT_TRUE(names<Books<counts_no_transfers>>("buffer.transfer-permissions"));
}

// ---- program.segmented-artifact-bounds

struct ReadsEightBytesOfArtifact : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        Artifact part = artifact;
        part.payload = artifact.payload.first(8);
        return Forwarding::prepare(part);
    }
};

struct CompletesHalfArtifacts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        Artifact whole = artifact;
        Bytes bytes = reference_sample().artifact;
        const auto pieces = cut(bytes);
        whole.payload = Reader{PieceList::of(pieces)};
        return Forwarding::prepare(whole);
    }
};

struct KeepsMoreThanAllowed : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        auto loaded = Forwarding::load(context, prepared);
        if (loaded) {
            loaded->resident_bytes += 1;
        }
        return loaded;
    }
};

TEST(BackendTwins, that_read_artifacts_carelessly_are_named) {
    EXPECT_TRUE(names<ReadsEightBytesOfArtifact>("program.segmented-artifact-bounds"));
    EXPECT_TRUE(names<CompletesHalfArtifacts>("program.segmented-artifact-bounds"));
    EXPECT_TRUE(names<KeepsMoreThanAllowed>("program.segmented-artifact-bounds"));
}

// ---- submission.binding-validation

constexpr auto stages = [](Diagnostics& books) { books.staged_bytes = books.staged_count = 1; };
constexpr auto counts_no_bindings = [](Diagnostics& books) { books.direct_bindings = 0; };

TEST(BackendTwins, that_bind_otherwise_are_named) {
    EXPECT_TRUE(names<Binds<by_order>>("submission.binding-validation"));
    EXPECT_TRUE(names<Binds<the_first_two>>("submission.binding-validation"));
    EXPECT_TRUE(names<Binds<from_the_start>>("submission.binding-validation"));
    EXPECT_TRUE(names<Books<stages>>("submission.binding-validation"));
    EXPECT_TRUE(names<Books<counts_no_bindings>>("submission.binding-validation"));
}

// ---- submission.context-isolation

// Gives one buffer to everyone who asks for the same usage, whatever the context.
struct SharesBuffers : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto& [made, users] = shared_[request.usage.bits];
        if (users == 0 || made.descriptor != request) {
            const auto fresh = Forwarding::allocate(context, request);
            if (!fresh) {
                return fresh;
            }
            made = *fresh;
            users = 0;
        }
        ++users;
        return made;
    }

    [[nodiscard]] ReleaseOutcome free(BufferHandle buffer) {
        for (auto& [usage, entry] : shared_) {
            if (entry.first.buffer == buffer && entry.second > 1) {
                --entry.second;
                return ReleaseOutcome::released();
            }
        }
        std::erase_if(shared_,
                      [&](const auto& item) { return item.second.first.buffer == buffer; });
        return Forwarding::free(buffer);
    }

  private:
    std::map<std::uint32_t, std::pair<Allocation, int>> shared_;
};

TEST(BackendTwins, that_share_memory_between_contexts_are_named) {
    EXPECT_TRUE(names<SharesBuffers>("submission.context-isolation"));
}

// ---- event.pending-release-terminal-stability

// A completed event fails when it is looked at again.
struct ChangesItsMind : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<EventStatus> poll(EventHandle event) {
        const auto status = Forwarding::poll(event);
        if (status && status->phase == EventPhase::complete && ++seen_ > 1) {
            return EventStatus{.phase = EventPhase::failed, .error = Status::internal_error};
        }
        return status;
    }

  private:
    int seen_ = 0;
};

struct KeepsItsEvents : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle) {
        return ReleaseOutcome::rejected(Status::busy);
    }
};

// Says that the work is done before it is.
struct Boasts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<EventStatus> poll(EventHandle) {
        return EventStatus{.phase = EventPhase::complete};
    }
};

TEST(BackendTwins, whose_events_are_not_stable_are_named) {
    EXPECT_TRUE(names<ChangesItsMind>("event.pending-release-terminal-stability"));
    EXPECT_TRUE(names<KeepsItsEvents>("event.pending-release-terminal-stability"));
    EXPECT_TRUE(names<Boasts>("event.pending-release-terminal-stability"));
}

// ---- timeout.finite-admission

TEST(BackendTwins, that_do_not_admit_finite_timeouts_are_named) {
    EXPECT_TRUE(names<RefusesTimeouts<Status::unsupported>>("timeout.finite-admission"));
    EXPECT_TRUE(names<RefusesTimeouts<Status::deadline_expired>>("timeout.finite-admission"));
    EXPECT_TRUE(names<WrapsTimeouts>("timeout.finite-admission"));
}

// ---- event.cancellation-races

// Notes the wish to cancel what is pending, and goes on.
struct PromisesToCancel : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status cancel(EventHandle event) {
        const auto status = Forwarding::poll(event);
        return status->phase == EventPhase::pending ? Status::ok : Status::busy;
    }
};

// Cancels, and says that it came too late.
struct DeniesItCancelled : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status cancel(EventHandle event) {
        (void)Forwarding::cancel(event);
        return Status::busy;
    }
};

struct CannotCancel : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status cancel(EventHandle) { return Status::unsupported; }
};

TEST(BackendTwins, whose_cancellation_has_two_results_are_named) {
    EXPECT_TRUE(names<OnlySaysItCancelled>("event.cancellation-races"));
    EXPECT_TRUE(names<PromisesToCancel>("event.cancellation-races"));
    EXPECT_TRUE(names<CancelsWhatHasEnded>("event.cancellation-races"));
    EXPECT_TRUE(names<DeniesItCancelled>("event.cancellation-races"));
    EXPECT_TRUE(names<CannotCancel>("event.cancellation-races"));
}

// ---- accounting.resource-lifecycle

struct LeaksBuffers : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] ReleaseOutcome free(BufferHandle) { return ReleaseOutcome::released(); }
};

struct LeaksEvents : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] ReleaseOutcome destroy_event(EventHandle event) {
        return poll(event)->phase == EventPhase::pending ? ReleaseOutcome::rejected(Status::busy)
                                                         : ReleaseOutcome::released();
    }
};

struct LosesItsContexts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] ReleaseOutcome destroy_context(ContextHandle context) {
        (void)Forwarding::destroy_context(context);
        return ReleaseOutcome::lost();
    }
};

constexpr auto retains_nothing = [](Diagnostics& books) { books.retained_bytes = 0; };
constexpr auto is_unsure = [](Diagnostics& books) { books.indeterminate_resources = 1; };

TEST(BackendTwins, whose_books_do_not_add_up_are_named) {
    EXPECT_TRUE(names<LeaksBuffers>("accounting.resource-lifecycle"));
    EXPECT_TRUE(names<LeaksEvents>("accounting.resource-lifecycle"));
    EXPECT_TRUE(names<LosesItsContexts>("accounting.resource-lifecycle"));
    EXPECT_TRUE(names<Books<retains_nothing>>("accounting.resource-lifecycle"));
    EXPECT_TRUE(names<Books<is_unsure>>("accounting.resource-lifecycle"));
}

}  // namespace

}  // namespace virtaccel::conformance::testing
