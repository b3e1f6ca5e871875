// More twins that are wrong about themselves, their buffers or their copies.

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
#include "virtaccel/conformance/testing/backend_twins.h"
#include "virtaccel/conformance/testing/further_twins.h"
#include "virtaccel/conformance/testing/run_further.h"
#include "virtaccel/mock/forwarding.h"

namespace virtaccel::conformance::testing {

namespace {

using backend::Artifact;
using backend::PreparedHandle;
using backend::QueueHandle;

// ---- metadata, limits

struct HasManyNames : Forwarding {
    using Shared = int;

    HasManyNames(backend::AnyBackend inner, Shared* made) noexcept
        : Forwarding(std::move(inner)), is_odd_(++*made % 2 == 1) {}

    [[nodiscard]] std::string_view name() const { return is_odd_ ? "odd" : "even"; }

  private:
    bool is_odd_;
};

struct AgesWithItsContexts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        identity.device_id += gone_;
        return identity;
    }

    [[nodiscard]] ReleaseOutcome destroy_context(ContextHandle context) {
        ++gone_;
        return Forwarding::destroy_context(context);
    }

  private:
    std::uint32_t gone_ = 0;
};

struct HasHalfItsBuffers : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        if (live_ >= identity().limits.buffers_per_context / 2) {
            return fail(Status::out_of_memory);
        }
        auto made = Forwarding::allocate(context, request);
        live_ += made ? 1 : 0;
        return made;
    }

    [[nodiscard]] ReleaseOutcome free(BufferHandle buffer) {
        --live_;
        return Forwarding::free(buffer);
    }

  private:
    std::uint32_t live_ = 0;
};

struct HasThreeQueues : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<QueueHandle> create_queue(ContextHandle context) {
        if (live_ == 3) {
            return fail(Status::resource_limit);
        }
        ++live_;
        return Forwarding::create_queue(context);
    }

    [[nodiscard]] ReleaseOutcome destroy_queue(QueueHandle queue) {
        --live_;
        return Forwarding::destroy_queue(queue);
    }

  private:
    int live_ = 0;
};

// Keeps a byte of every large buffer.
struct KeepsOfLargeBuffers : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.retained_bytes += large_;
        return books;
    }

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        large_ += request.bytes > 60000 ? 1 : 0;
        return Forwarding::allocate(context, request);
    }

  private:
    std::uint64_t large_ = 0;
};

// ---- buffers that `refuse` names are not made

template <auto refuse>
struct Allocates : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        return refuse(request) ? fail(Status::unsupported) : Forwarding::allocate(context, request);
    }
};

constexpr auto single_bytes = [](const BufferRequest& request) { return request.bytes == 1; };
constexpr auto none_for_transfers_alone = [](const BufferRequest& request) {
    return !request.usage.has_any(usage_program);
};

struct IsNotBoundForOneThing : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        if (made && request.usage == UsageBit::mutable_state) {
            made->properties.direct_binding = false;
        }
        return made;
    }
};

// ---- bytes

// Knows the sizes of its buffers.
struct Measures : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        if (made) {
            sizes[made->buffer.object] = request.bytes;
        }
        return made;
    }

    [[nodiscard]] ReleaseOutcome free(BufferHandle buffer) {
        sizes.erase(buffer.object);
        return Forwarding::free(buffer);
    }

    std::map<void*, std::uint64_t> sizes;
};

// A byte takes the one after it along.
struct WritesInPairs : Measures {
    using Measures::Measures;

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        const bool is_one = source.remaining() == 1;
        const Status status = Forwarding::write(buffer, offset, source);
        if (is_one && offset + 1 < sizes[buffer.object]) {
            return put(*this, buffer, offset + 1, std::byte{0x55});
        }
        return status;
    }
};

// The end of a write that is no whole number of words lands in another buffer.
struct SpillsOver : Measures {
    using Measures::Measures;

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        const bool spills = source.remaining() % 4 != 0 && source.remaining() > 4;
        const Status status = Forwarding::write(buffer, offset, source);
        for (const auto& [object, bytes] : sizes) {
            if (spills && object != buffer.object) {
                return put(*this, {.object = object}, bytes - 1, std::byte{0x55});
            }
        }
        return status;
    }
};

struct TakesThreeWrites : Measures {
    using Measures::Measures;

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        if (++writes_[buffer.object] > 3) {
            source.skip(source.remaining());
            return Status::ok;
        }
        return Forwarding::write(buffer, offset, source);
    }

    [[nodiscard]] ReleaseOutcome free(BufferHandle buffer) {
        writes_.erase(buffer.object);
        return Measures::free(buffer);
    }

  private:
    std::map<void*, int> writes_;
};

struct ReadsOddBytesAsZero : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
        if (target.remaining() == 1 && offset % 2 == 1) {
            const std::byte zero{};
            (void)target.copy_from(&zero, 1);
            return Status::ok;
        }
        return Forwarding::read(buffer, offset, target);
    }
};

// Leaves out the last byte of a long read of an odd length.
struct ForgetsTheEndOfReads : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
        const std::uint64_t bytes = target.remaining();
        if (bytes <= 200 || bytes % 2 == 0) {
            return Forwarding::read(buffer, offset, target);
        }
        Writer part = target.first(bytes - 1);
        target.skip(bytes);
        return Forwarding::read(buffer, offset, part);
    }
};

// Takes pieces in the order of their addresses.
struct SortsPieces : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        std::vector<Piece> pieces;
        Reader walk = source;
        walk.each(walk.remaining(), [&](std::byte* data, std::size_t size) {
            pieces.push_back({.data = data, .size = size});
        });
        std::ranges::sort(pieces, {}, &Piece::data);
        Reader sorted{PieceList::of(pieces)};
        return source.skip(source.remaining()) ? Forwarding::write(buffer, offset, sorted)
                                               : Status::internal_error;
    }
};

// What one instance holds, a buffer of the same size in another shows.
struct ShowsOtherInstances : Forwarding {
    using Shared = std::map<std::uint64_t, const void*>;  // sizes, and whose they were

    ShowsOtherInstances(backend::AnyBackend inner, Shared* sizes) noexcept
        : Forwarding(std::move(inner)), sizes_(sizes) {}

    ShowsOtherInstances(const ShowsOtherInstances&) = delete;
    ShowsOtherInstances& operator=(const ShowsOtherInstances&) = delete;

    ~ShowsOtherInstances() {
        std::erase_if(*sizes_, [this](const auto& item) { return item.second == this; });
    }

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        const auto found = sizes_->try_emplace(request.bytes, this).first;
        if (made && found->second != this) {
            (void)put(*this, made->buffer, 0, std::byte{0x55});
        }
        return made;
    }

  private:
    Shared* sizes_;
};

// ---- copies

template <auto counter>
struct Moves : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        books.explicit_transfer_bytes += moved_;
        return books;
    }

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        moved_ += counter(request.bytes, 0);
        return Forwarding::allocate(context, request);
    }

    [[nodiscard]] Result<PreparedHandle> prepare(const Artifact& artifact) {
        moved_ += counter(0, artifact.payload.remaining());
        return Forwarding::prepare(artifact);
    }

  private:
    std::uint64_t moved_ = 0;
};

constexpr auto zeroed = [](std::uint64_t bytes, std::uint64_t) { return bytes; };
constexpr auto loaded = [](std::uint64_t, std::uint64_t bytes) { return bytes; };
constexpr auto stages_transfers = [](Diagnostics& books) {
    books.staged_bytes = books.explicit_transfer_bytes;
};
constexpr auto counts_submissions = [](Diagnostics& books) { books.direct_bindings /= 2; };

}  // namespace

std::vector<FurtherTwin> buffer_twins() {
    return {
        {"has many names", failing_on<HasManyNames>},
        {"ages with its contexts", failing_on<AgesWithItsContexts>},
        {"has half its buffers", failing_on<HasHalfItsBuffers>},
        {"has three queues", failing_on<HasThreeQueues>},
        {"keeps a byte of large buffers", failing_on<KeepsOfLargeBuffers>},
        {"makes no single bytes", failing_on<Allocates<single_bytes>>},
        {"makes no buffers for transfers alone", failing_on<Allocates<none_for_transfers_alone>>},
        {"does not bind state directly", failing_on<IsNotBoundForOneThing>},
        {"writes in pairs", failing_on<WritesInPairs>},
        {"spills over", failing_on<SpillsOver>},
        {"takes three writes", failing_on<TakesThreeWrites>},
        {"reads odd bytes as zero", failing_on<ReadsOddBytesAsZero>},
        {"forgets the end of reads", failing_on<ForgetsTheEndOfReads>},
        {"sorts pieces", failing_on<SortsPieces>},
        {"shows other instances", failing_on<ShowsOtherInstances>},
        {"counts zeros as transfers", failing_on<Moves<zeroed>>},
        {"counts artifacts as transfers", failing_on<Moves<loaded>>},
        {"stages transfers", failing_on<Books<stages_transfers>>},
        {"counts submissions and not bindings", failing_on<Books<counts_submissions>>},
    };
}

}  // namespace virtaccel::conformance::testing
