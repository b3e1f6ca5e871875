// Twins that are wrong about themselves, their buffers, their copies or their programs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/testing/backend_twins.h"
#include "virtaccel/conformance/testing/further_twins.h"
#include "virtaccel/conformance/testing/run_further.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/reference_artifact.h"

namespace virtaccel::conformance::testing {

namespace {

using backend::Artifact;
using backend::LoadedProgram;
using backend::PreparedHandle;
using backend::QueueHandle;

// ---- metadata

// An identity that differs in what `change` does to it.
template <auto change>
struct Identifies : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        change(identity);
        return identity;
    }
};

template <auto limit>
constexpr auto is_zero = [](DeviceIdentity& identity) { identity.limits.*limit = 0; };
constexpr auto binds_5000 = [](DeviceIdentity& identity) {
    identity.limits.bindings_per_submission = 5000;
};
constexpr auto is_secure = [](DeviceIdentity& identity) {
    identity.capabilities = identity.capabilities | CapabilityBit::secure_contexts;
};
constexpr auto has_no_memory = [](DeviceIdentity& identity) {
    identity.capabilities = CapabilityBit::event_cancellation;
};

struct RenamesItself : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] std::string_view name() const {
        return diagnostics().live_resources != 0 ? "busy" : Forwarding::name();
    }
};

struct IsSomebodyElseEachTime : Forwarding {
    using Shared = std::uint8_t;  // how many instances there were

    IsSomebodyElseEachTime(backend::AnyBackend inner, Shared* made) noexcept
        : Forwarding(std::move(inner)), serial_(++*made) {}

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        identity.uuid[0] = serial_;
        return identity;
    }

  private:
    std::uint8_t serial_;
};

struct HasTwoNames : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] std::string_view name() const { return "two names"; }
};

struct DescribesItselfInTwoLines : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] std::string_view description() const { return "one\ntwo"; }
};

struct ChangesWhenItRefuses : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        identity.device_id += refused_;
        return identity;
    }

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        auto prepared = Forwarding::prepare(artifact);
        refused_ += prepared ? 0 : 1;
        return prepared;
    }

  private:
    std::uint32_t refused_ = 0;
};

// ---- limits

struct HasHalfItsContexts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<ContextHandle> create_context() {
        if (live_ >= identity().limits.contexts / 2) {
            return fail(Status::resource_limit);
        }
        ++live_;
        return Forwarding::create_context();
    }

    [[nodiscard]] ReleaseOutcome destroy_context(ContextHandle context) {
        --live_;
        return Forwarding::destroy_context(context);
    }

  private:
    std::uint32_t live_ = 0;
};

struct RunsOutOfQueues : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<QueueHandle> create_queue(ContextHandle context) {
        if (++made_ > 20) {
            return fail(Status::resource_limit);
        }
        return Forwarding::create_queue(context);
    }

  private:
    std::uint32_t made_ = 0;
};

struct HasRoomForFivePrograms : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        if (live_ == 5) {
            abandon(prepared);
            return fail(Status::resource_limit);
        }
        ++live_;
        return Forwarding::load(context, prepared);
    }

    [[nodiscard]] ReleaseOutcome unload(backend::ProgramHandle program) {
        --live_;
        return Forwarding::unload(program);
    }

  private:
    int live_ = 0;
};

// Looks at no more than eight bindings.
struct LooksAtEightBindings : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        return submission.bindings.size() > 8 ? SubmitOutcome::rejected(Status::resource_limit)
                                              : Forwarding::submit(submission);
    }
};

struct TakesLargeArtifactsUnseen : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        if (artifact.payload.remaining() < 1000) {
            return Forwarding::prepare(artifact);
        }
        Artifact whole = artifact;
        Bytes bytes = reference_sample().artifact;
        const auto pieces = cut(bytes);
        whole.payload = Reader{PieceList::of(pieces)};
        return Forwarding::prepare(whole);
    }
};

// ---- report, alignment

constexpr auto doubles_its_costs = [](Allocation& made) { made.backing_bytes *= 2; };
constexpr auto says_64_at_most = [](Allocation& made) {
    made.alignment = std::min<std::uint64_t>(made.alignment, 64);
};

struct ChangesItsMemory : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        if (made && request.domain == MemoryDomain::host) {
            made->properties.device_local = ++made_ % 2 == 0;
        }
        return made;
    }

  private:
    int made_ = 0;
};

struct BooksRefusedBuffers : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources += refused_;
        return books;
    }

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        refused_ += made ? 0 : 1;
        return made;
    }

  private:
    std::uint64_t refused_ = 0;
};

// ---- zero, transfer

// The last byte of a buffer is there again in the next one of its size.
struct KeepsLastBytes : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        if (made && freed_.contains(request.bytes)) {
            (void)put(*this, made->buffer, request.bytes - 1, std::byte{0x77});
        }
        if (made) {
            sizes_[made->buffer.object] = request.bytes;
        }
        return made;
    }

    [[nodiscard]] ReleaseOutcome free(BufferHandle buffer) {
        freed_[sizes_[buffer.object]] = true;
        return Forwarding::free(buffer);
    }

  private:
    std::map<void*, std::uint64_t> sizes_;
    std::map<std::uint64_t, bool> freed_;
};

// The first byte of a buffer is there when any other follows it.
struct KeepsFirstBytes : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        if (made && has_freed_) {
            (void)put(*this, made->buffer, 0, std::byte{0x77});
        }
        return made;
    }

    [[nodiscard]] ReleaseOutcome free(BufferHandle buffer) {
        has_freed_ = true;
        return Forwarding::free(buffer);
    }

  private:
    bool has_freed_ = false;
};

// The first sixty runs of what is left of a transfer.
template <class Cursor>
std::vector<Piece> sixty_runs(Cursor cursor) {
    std::vector<Piece> runs;
    cursor.each(cursor.remaining(), [&](std::byte* data, std::size_t size) {
        if (runs.size() < 60) {
            runs.push_back({.data = data, .size = size});
        }
    });
    return runs;
}

struct ReadsFromSixtyPieces : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        const auto runs = sixty_runs(source);
        Reader part{PieceList::of(runs)};
        source.skip(source.remaining());
        return Forwarding::write(buffer, offset, part);
    }
};

struct WritesToSixtyPieces : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
        const auto runs = sixty_runs(target);
        Writer part{PieceList::of(runs)};
        target.skip(target.remaining());
        return Forwarding::read(buffer, offset, part);
    }
};

// A byte at an odd place is not worth a copy of its own.
struct SkipsSingleBytes : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        if (source.remaining() == 1 && offset % 2 == 1) {
            source.skip(1);
            return Status::ok;
        }
        return Forwarding::write(buffer, offset, source);
    }
};

struct IgnoresLeases : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        (void)Forwarding::write(buffer, offset, source);
        return Status::ok;
    }

    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
        (void)Forwarding::read(buffer, offset, target);
        return Status::ok;
    }
};

// Reads a long range once more over itself, one byte on.
struct ReadsAreWrites : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
        const bool is_long = target.remaining() > 200;
        const Status status = Forwarding::read(buffer, offset, target);
        if (is_long) {
            (void)put(*this, buffer, offset, std::byte{0x77});
        }
        return status;
    }
};

// ---- copy

constexpr auto stages = [](Diagnostics& books) { books.staged_bytes = books.direct_bindings; };
constexpr auto counts_bindings_as_transfers = [](Diagnostics& books) {
    books.explicit_transfer_bytes += books.direct_bindings * 100;
};
constexpr auto starts_anew = [](Diagnostics& books) {
    books.explicit_transfer_bytes = books.live_resources == 0 ? 0 : books.explicit_transfer_bytes;
};

struct CountsRefusedBindings : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.direct_bindings += refused_;
        return books;
    }

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const auto outcome = Forwarding::submit(submission);
        refused_ += outcome.status == Status::ok ? 0 : submission.bindings.size();
        return outcome;
    }

  private:
    std::uint64_t refused_ = 0;
};

// ---- artifact, load

struct WantsItsArtifactInOnePiece : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        return artifact.format == mock::reference_format && sixty_runs(artifact.payload).size() > 1
                   ? fail(Status::invalid_argument)
                   : Forwarding::prepare(artifact);
    }
};

struct DoesNotLookAtTargets : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        Artifact changed = artifact;
        changed.target = mock::reference_target;
        return Forwarding::prepare(changed);
    }
};

struct RefusesInSilence : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        Artifact changed = artifact;
        changed.refusals = {};
        return Forwarding::prepare(changed);
    }
};

struct CompletesArtifacts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        Artifact whole = artifact;
        Bytes bytes = reference_sample().artifact;
        const auto pieces = cut(bytes);
        if (artifact.payload.remaining() < bytes.size()) {
            whole.payload = Reader{PieceList::of(pieces)};
        }
        return Forwarding::prepare(whole);
    }
};

// Looks at what it was shown in place once more when it loads.
struct KeepsThePlace : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        kept_ = artifact;
        return Forwarding::prepare(artifact);
    }

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        if (kept_.stable.empty()) {
            return Forwarding::load(context, prepared);
        }
        Forwarding::abandon(prepared);
        const Piece piece{.data = const_cast<std::byte*>(kept_.stable.data()),
                          .size = kept_.stable.size()};
        kept_.payload = Reader{PieceList::of({&piece, 1})};
        const auto again = Forwarding::prepare(std::exchange(kept_, {}));
        return again ? Forwarding::load(context, *again) : fail(again.error());
    }

  private:
    Artifact kept_;
};

struct CallsEverythingMalformed : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        auto prepared = Forwarding::prepare(artifact);
        return prepared ? prepared : fail(Status::invalid_argument);
    }
};

struct TalksToItself : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        artifact.refusals("preparing");
        return Forwarding::prepare(artifact);
    }
};

// What is prepared is in the books until it is loaded; what is abandoned stays there.
struct BooksDrafts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.live_resources += drafts_;
        return books;
    }

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        auto prepared = Forwarding::prepare(artifact);
        drafts_ += prepared ? 1 : 0;
        return prepared;
    }

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        --drafts_;
        return Forwarding::load(context, prepared);
    }

  private:
    std::uint64_t drafts_ = 0;
};

struct KeepsAnythingBetween : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        auto loaded = Forwarding::load(context, prepared);
        if (loaded) {
            loaded->resident_bytes -= ++loads_ % 8;
        }
        return loaded;
    }

  private:
    std::uint64_t loads_ = 0;
};

struct SaysThatProgramsCostNothing : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<LoadedProgram> load(ContextHandle context, PreparedHandle prepared) {
        auto loaded = Forwarding::load(context, prepared);
        if (loaded) {
            loaded->resident_bytes = 0;
        }
        return loaded;
    }
};

}  // namespace

std::vector<FurtherTwin> object_twins() {
    return {
        {"advertises no contexts", failing_on<Identifies<is_zero<&DeviceLimits::contexts>>>},
        {"advertises no buffers",
         failing_on<Identifies<is_zero<&DeviceLimits::buffers_per_context>>>},
        {"advertises no programs",
         failing_on<Identifies<is_zero<&DeviceLimits::programs_per_context>>>},
        {"advertises no queues",
         failing_on<Identifies<is_zero<&DeviceLimits::queues_per_context>>>},
        {"advertises no events",
         failing_on<Identifies<is_zero<&DeviceLimits::events_per_context>>>},
        {"advertises no bindings",
         failing_on<Identifies<is_zero<&DeviceLimits::bindings_per_submission>>>},
        {"advertises buffers of no bytes",
         failing_on<Identifies<is_zero<&DeviceLimits::buffer_bytes>>>},
        {"advertises artifacts of no bytes",
         failing_on<Identifies<is_zero<&DeviceLimits::artifact_bytes>>>},
        {"advertises 5000 bindings", failing_on<Identifies<binds_5000>>},
        {"advertises secure contexts", failing_on<Identifies<is_secure>>},
        {"advertises no memory", failing_on<Identifies<has_no_memory>>},
        {"forgets its limits", failing_on<ForgetsItsLimits>},
        {"renames itself", failing_on<RenamesItself>},
        {"is somebody else each time", failing_on<IsSomebodyElseEachTime>},
        {"has two names", failing_on<HasTwoNames>},
        {"describes itself in two lines", failing_on<DescribesItselfInTwoLines>},
        {"changes when it refuses", failing_on<ChangesWhenItRefuses>},
        {"has half its contexts", failing_on<HasHalfItsContexts>},
        {"runs out of queues", failing_on<RunsOutOfQueues>},
        {"has room for five programs", failing_on<HasRoomForFivePrograms>},
        {"looks at eight bindings", failing_on<LooksAtEightBindings>},
        {"takes large artifacts unseen", failing_on<TakesLargeArtifactsUnseen>},
        {"hides device memory", failing_on<Reports<is_far_away>>},
        {"doubles its costs", failing_on<Reports<doubles_its_costs>>},
        {"allows everything", failing_on<Reports<allows_all>>},
        {"changes its memory", failing_on<ChangesItsMemory>},
        {"says that it aligns to 64 at most", failing_on<Reports<says_64_at_most>>},
        {"books refused buffers", failing_on<BooksRefusedBuffers>},
        {"keeps last bytes", failing_on<KeepsLastBytes>},
        {"keeps first bytes", failing_on<KeepsFirstBytes>},
        {"reads from sixty pieces", failing_on<ReadsFromSixtyPieces>},
        {"writes to sixty pieces", failing_on<WritesToSixtyPieces>},
        {"skips single bytes", failing_on<SkipsSingleBytes>},
        {"ignores leases", failing_on<IgnoresLeases>},
        {"writes when it reads", failing_on<ReadsAreWrites>},
        {"counts no transfers", failing_on<Books<counts_no_transfers>>},
        {"stages what is bound", failing_on<Books<stages>>},
        {"counts bindings as transfers", failing_on<Books<counts_bindings_as_transfers>>},
        {"starts its counters anew", failing_on<Books<starts_anew>>},
        {"counts refused bindings", failing_on<CountsRefusedBindings>},
        {"wants its artifact in one piece", failing_on<WantsItsArtifactInOnePiece>},
        {"does not look at target words", failing_on<DoesNotLookAtTargets>},
        {"refuses in silence", failing_on<RefusesInSilence>},
        {"completes artifacts", failing_on<CompletesArtifacts>},
        {"keeps the place of an artifact", failing_on<KeepsThePlace>},
        {"calls everything malformed", failing_on<CallsEverythingMalformed>},
        {"talks to itself", failing_on<TalksToItself>},
        {"books what is only prepared", failing_on<BooksDrafts>},
        {"keeps anything between", failing_on<KeepsAnythingBetween>},
        {"says that programs cost nothing", failing_on<SaysThatProgramsCostNothing>},
    };
}

}  // namespace virtaccel::conformance::testing
