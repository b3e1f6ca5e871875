#pragma once
// Broken twins of the reference backend, each differing from it in one rule, that more than one
// test uses; and how any twin is run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/reference.h"

namespace virtaccel::conformance::testing {

using backend::Allocation;
using backend::BufferHandle;
using backend::BufferRequest;
using backend::ContextHandle;
using backend::Diagnostics;
using backend::EventHandle;
using backend::EventStatus;
using backend::ReleaseOutcome;
using backend::Submission;
using backend::SubmitOutcome;
using mock::Forwarding;

// Makes a fresh T, with `more`, in front of a fresh reference backend, whose events end at their
// second poll.
template <class T, class... More>
Result<backend::AnyBackend> make_twin(const DeviceLimits& limits, More... more) {
    mock::ReferenceOptions options{.pending_polls = 1};
    options.identity.limits = limits;
    auto inner = backend::make_owned<mock::Reference>(host::heap(), host::heap(), options);
    return backend::make_owned<T>(host::heap(), *std::move(inner), more...);
}

// Puts one byte into a buffer.
inline Status put(Forwarding& backend, BufferHandle buffer, std::uint64_t offset, std::byte value) {
    Bytes byte(1, value);
    const auto pieces = cut(byte);
    Reader source{PieceList::of(pieces)};
    return backend.write(buffer, offset, source);
}

struct ForgetsItsLimits : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        identity.limits.contexts += diagnostics().live_resources != 0 ? 1 : 0;
        return identity;
    }
};

// An allocation that differs in what `change` does to it.
template <auto change>
struct Reports : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Result<Allocation> allocate(ContextHandle context, const BufferRequest& request) {
        auto made = Forwarding::allocate(context, request);
        if (made) {
            change(*made);
        }
        return made;
    }
};

// Books that differ from the true ones in what `change` does to them.
template <auto change>
struct Books : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Diagnostics diagnostics() const {
        Diagnostics books = Forwarding::diagnostics();
        change(books);
        return books;
    }
};

// A submission that differs in what `change` does to its bindings.
template <auto change>
struct Binds : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        std::vector<backend::Binding> bindings(submission.bindings.begin(),
                                               submission.bindings.end());
        change(bindings);
        Submission changed = submission;
        changed.bindings = bindings;
        return Forwarding::submit(changed);
    }
};

// Adds the timeout to a clock, and overflows.
struct WrapsTimeouts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        const std::uint64_t now_ns = 1'000'000'000;
        return submission.timeout_ns != 0 && now_ns + submission.timeout_ns < now_ns
                   ? SubmitOutcome::rejected(Status::deadline_expired)
                   : Forwarding::submit(submission);
    }
};

struct OnlySaysItCancelled : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status cancel(EventHandle) { return Status::ok; }
};

inline constexpr auto is_far_away = [](Allocation& made) { made.properties.device_local = false; };
inline constexpr auto allows_all = [](Allocation& made) { made.descriptor.usage = usage_known; };
inline constexpr auto counts_no_transfers = [](Diagnostics& books) {
    books.explicit_transfer_bytes = 0;
};
inline constexpr auto by_order = [](Bindings& bindings) {
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        bindings[i].slot = static_cast<std::uint32_t>(i);
    }
};
inline constexpr auto the_first_two = [](Bindings& bindings) {
    bindings.resize(std::min<std::size_t>(bindings.size(), 2));
};
inline constexpr auto from_the_start = [](Bindings& bindings) {
    for (backend::Binding& binding : bindings) {
        binding.range.offset = 0;
    }
};

template <Status status>
struct RefusesTimeouts : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] SubmitOutcome submit(const Submission& submission) {
        return submission.timeout_ns != 0 ? SubmitOutcome::rejected(status)
                                          : Forwarding::submit(submission);
    }
};

struct CancelsWhatHasEnded : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] Status cancel(EventHandle event) {
        const Status status = Forwarding::cancel(event);
        return status == Status::busy ? Status::ok : status;
    }
};

}  // namespace virtaccel::conformance::testing
