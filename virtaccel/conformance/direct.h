#pragma once
// The steps that cases take on a backend itself, with no device between: one whole life of the
// sample program, of which a case bends one step. The one thing to know: a step that must succeed
// ends its case if it does not, and only calls that a device may make are made here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

// Bytes that differ from each other and, for another seed, from those.
[[nodiscard]] Bytes pattern_of(std::size_t bytes, std::size_t seed);

// The pieces of `bytes`, cut as said, with a piece of no bytes after each.
[[nodiscard]] std::vector<Piece> cut_with_gaps(std::span<std::byte> bytes, Cut where);

// What `what` gave, or the end of the case.
template <class T>
[[nodiscard]] Checked<T> must(std::string_view what, Result<T> result) {
    if (!result) {
        return failed(what, " is answered with (", result.error(), "); it has to succeed.");
    }
    return *std::move(result);
}

// What one life of the sample holds on a backend.
struct Act {
    backend::ContextHandle context;
    backend::QueueHandle queue;
    backend::ProgramHandle program;
    // One for each slot of the sample, usable for everything, filled with what it holds before.
    std::vector<backend::BufferHandle> buffers;
};

using Bindings = std::vector<backend::Binding>;

class Direct {
  public:
    // Both outlive this.
    Direct(backend::AnyBackend& backend, const BackendSubject& subject)
        : backend_(&backend), subject_(&subject) {}

    [[nodiscard]] backend::AnyBackend& backend() const { return *backend_; }

    [[nodiscard]] const BackendSubject& subject() const { return *subject_; }

    [[nodiscard]] DeviceIdentity identity() const { return backend_->identity(); }

    [[nodiscard]] bool can(CapabilityBit bit) const { return identity().capabilities.has(bit); }

    [[nodiscard]] backend::Diagnostics books() const { return backend_->diagnostics(); }

    // Ends the case unless as much is live and retained as `before`, and nothing is in doubt.
    [[nodiscard]] Check expect_books(const backend::Diagnostics& before,
                                     std::string_view when) const;

    // Ends the case as failed without a sample program.
    [[nodiscard]] Check need_sample() const;

    // The sample program, of a subject that has one.
    [[nodiscard]] const SampleProgram& sample() const { return *subject_->program; }

    // A request in a domain that the backend offers; `bytes` at most what it allows, or a page.
    [[nodiscard]] backend::BufferRequest request(std::uint64_t bytes,
                                                 Usage usage = usage_known) const;

    [[nodiscard]] Checked<backend::ContextHandle> context() const;
    [[nodiscard]] Checked<backend::QueueHandle> queue(backend::ContextHandle context) const;
    [[nodiscard]] Checked<backend::Allocation> allocate(backend::ContextHandle context,
                                                        const backend::BufferRequest& wanted) const;
    // A buffer of `bytes`, usable for everything.
    [[nodiscard]] Checked<backend::BufferHandle> buffer(backend::ContextHandle context,
                                                        std::uint64_t bytes) const;
    // The same, which holds `contents`.
    [[nodiscard]] Checked<backend::BufferHandle> buffer(backend::ContextHandle context,
                                                        std::span<const std::byte> contents) const;

    // Moves bytes in pieces, which are cut as said.
    [[nodiscard]] Check write(backend::BufferHandle buffer, std::uint64_t offset,
                              std::span<const std::byte> bytes, Cut where = {}) const;
    [[nodiscard]] Checked<Bytes> read(backend::BufferHandle buffer, std::uint64_t offset,
                                      std::size_t bytes, Cut where = {}) const;
    // Ends the case unless the buffer's first bytes are `wanted`.
    [[nodiscard]] Check expect_contents(backend::BufferHandle buffer,
                                        std::span<const std::byte> wanted,
                                        std::string_view what) const;

    // What the backend makes of an artifact under the sample's format and words, in pieces.
    [[nodiscard]] Result<backend::PreparedHandle> try_prepare(std::span<const std::byte> artifact,
                                                              Cut where = {}) const;
    [[nodiscard]] Checked<backend::PreparedHandle> prepare() const;
    [[nodiscard]] Checked<backend::LoadedProgram> load(backend::ContextHandle context) const;

    [[nodiscard]] Checked<Act> set_up() const;
    // The same in a context that is there.
    [[nodiscard]] Checked<Act> set_up(backend::ContextHandle context) const;
    // Writes what the buffers hold before.
    [[nodiscard]] Check fill(const Act& act) const;
    // The bindings that the sample wants.
    [[nodiscard]] Bindings bindings_of(const Act& act) const;
    [[nodiscard]] backend::SubmitOutcome try_submit(const Act& act,
                                                    std::span<const backend::Binding> bindings,
                                                    std::uint64_t timeout_ns = 0) const;
    [[nodiscard]] Checked<backend::EventHandle> submit(const Act& act,
                                                       std::uint64_t timeout_ns = 0) const;
    [[nodiscard]] Checked<backend::EventStatus> poll(backend::EventHandle event) const;
    // Polls until the event is terminal; the case ends if it never is.
    [[nodiscard]] Checked<backend::EventStatus> wait(backend::EventHandle event) const;
    // Ends the case unless the event completes, and destroys it.
    [[nodiscard]] Check complete(backend::EventHandle event) const;
    // Ends the case unless the buffers hold what they have to hold after the program.
    [[nodiscard]] Check expect_outputs(const Act& act) const;
    // The sample from its first bytes to its last.
    [[nodiscard]] Check run(const Act& act) const;
    // Gives up all of an act, whose events are destroyed.
    [[nodiscard]] Check tear_down(const Act& act) const;
    // The same, and the context stays.
    [[nodiscard]] Check tear_down_in(const Act& act) const;

    // Gives an object up; the case ends unless it is gone.
    template <class Kind>
    [[nodiscard]] Check release(backend::Handle<Kind> object) const {
        const backend::ReleaseOutcome outcome = backend_->release(object);
        return expect(outcome.certainty == backend::Certainty::done && outcome.status == Status::ok,
                      "The release of ", kind_name<Kind>(), " is answered with (", outcome.status,
                      "); nothing uses it, so it has to go.");
    }

  private:
    template <class Kind>
    static constexpr std::string_view kind_name() {
        if constexpr (std::is_same_v<Kind, ContextKind>) {
            return "an empty context";
        } else if constexpr (std::is_same_v<Kind, BufferKind>) {
            return "a buffer";
        } else if constexpr (std::is_same_v<Kind, ProgramKind>) {
            return "a program";
        } else if constexpr (std::is_same_v<Kind, QueueKind>) {
            return "a queue";
        } else {
            return "a terminal event";
        }
    }

    backend::AnyBackend* backend_;
    const BackendSubject* subject_;
};

}  // namespace virtaccel::conformance
