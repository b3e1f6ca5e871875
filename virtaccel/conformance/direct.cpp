#include "virtaccel/conformance/direct.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

using backend::Allocation;
using backend::BufferHandle;
using backend::BufferRequest;
using backend::ContextHandle;
using backend::EventHandle;
using backend::EventStatus;

Bytes pattern_of(std::size_t bytes, std::size_t seed) {
    Bytes pattern(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        pattern[i] = static_cast<std::byte>((seed * 101) + (i * 3) + (i / 256) + 1);
    }
    return pattern;
}

std::vector<Piece> cut_with_gaps(std::span<std::byte> bytes, Cut where) {
    std::vector<Piece> pieces;
    for (const Piece& piece : cut(bytes, where)) {
        pieces.push_back(piece);
        pieces.push_back({});
    }
    return pieces;
}

Check Direct::expect_books(const backend::Diagnostics& before, std::string_view when) const {
    const auto now = books();
    if (now.live_resources == before.live_resources &&
        now.retained_bytes == before.retained_bytes && now.indeterminate_resources == 0) {
        return {};
    }
    VIRTACCEL_TRY(expect_equal(say("The number of live resources ", when), now.live_resources,
                               before.live_resources));
    VIRTACCEL_TRY(expect_equal(say("The number of retained bytes ", when), now.retained_bytes,
                               before.retained_bytes));
    return expect_equal(say("The number of indeterminate resources ", when),
                        now.indeterminate_resources, 0);
}

Check Direct::need_sample() const {
    return conformance::need_sample(subject_->program.has_value());
}

BufferRequest Direct::request(std::uint64_t bytes, Usage usage) const {
    const DeviceIdentity who = identity();
    // Whether a limit makes sense is another case's to judge; every case may ask for a page.
    constexpr std::uint64_t page = 4096;
    const std::uint64_t most = std::max(who.limits.buffer_bytes, page);
    return {.bytes = std::min(bytes, most),
            .alignment = 1,
            .domain = any_domain(who.capabilities),
            .usage = usage};
}

Checked<ContextHandle> Direct::context() const {
    return must("The creation of a context", backend_->create_context());
}

Checked<backend::QueueHandle> Direct::queue(ContextHandle context) const {
    return must("The creation of a queue", backend_->create_queue(context));
}

Checked<Allocation> Direct::allocate(ContextHandle context, const BufferRequest& wanted) const {
    return must("An allocation", backend_->allocate(context, wanted));
}

Checked<BufferHandle> Direct::buffer(ContextHandle context, std::uint64_t bytes) const {
    VIRTACCEL_TRY_ASSIGN(const Allocation made, allocate(context, request(bytes)));
    return made.buffer;
}

Checked<BufferHandle> Direct::buffer(ContextHandle context,
                                     std::span<const std::byte> contents) const {
    VIRTACCEL_TRY_ASSIGN(const BufferHandle made, buffer(context, contents.size()));
    VIRTACCEL_TRY(write(made, 0, contents));
    return made;
}

Check Direct::write(BufferHandle buffer, std::uint64_t offset, std::span<const std::byte> bytes,
                    Cut where) const {
    Bytes shared(bytes.begin(), bytes.end());
    const auto pieces = cut_with_gaps(shared, where);
    Reader source{PieceList::of(pieces)};
    VIRTACCEL_TRY(expect_status("A write", backend_->write(buffer, offset, source), Status::ok));
    VIRTACCEL_TRY(expect(source.remaining() == 0, "A write leaves (", source.remaining(),
                         ") bytes of its source unread."));
    return expect(std::ranges::equal(shared, bytes), "A write changes its source.");
}

Checked<Bytes> Direct::read(BufferHandle buffer, std::uint64_t offset, std::size_t bytes,
                            Cut where) const {
    constexpr std::size_t margin = 8;
    Bytes room(bytes + (2 * margin), canary);
    const auto target_bytes = std::span{room}.subspan(margin, bytes);
    const auto pieces = cut_with_gaps(target_bytes, where);
    Writer target{PieceList::of(pieces)};
    VIRTACCEL_TRY(expect_status("A read", backend_->read(buffer, offset, target), Status::ok));
    VIRTACCEL_TRY(expect(target.remaining() == 0, "A read leaves (", target.remaining(),
                         ") bytes of its target unwritten."));
    const auto is_canary = [](std::byte byte) { return byte == canary; };
    VIRTACCEL_TRY(expect(std::ranges::all_of(std::span{room}.first(margin), is_canary) &&
                             std::ranges::all_of(std::span{room}.last(margin), is_canary),
                         "A read writes beside its pieces."));
    return Bytes(target_bytes.begin(), target_bytes.end());
}

Check Direct::expect_contents(BufferHandle buffer, std::span<const std::byte> wanted,
                              std::string_view what) const {
    VIRTACCEL_TRY_ASSIGN(const Bytes found, read(buffer, 0, wanted.size()));
    const auto wrong = std::ranges::mismatch(found, wanted);
    return expect(wrong.in1 == found.end(), what, " differs from what it has to hold at byte (",
                  wrong.in1 - found.begin(), ") of (", wanted.size(), ").");
}

Result<backend::PreparedHandle> Direct::try_prepare(std::span<const std::byte> artifact,
                                                    Cut where) const {
    Bytes shared(artifact.begin(), artifact.end());
    const auto pieces = cut_with_gaps(shared, where);
    return backend_->prepare({.format = sample().format,
                              .target = sample().target,
                              .resident_bytes_max = sample().resident_bytes,
                              .payload = Reader{PieceList::of(pieces)}});
}

Checked<backend::PreparedHandle> Direct::prepare() const {
    return must("The preparation of the sample", try_prepare(sample().artifact));
}

Checked<backend::LoadedProgram> Direct::load(ContextHandle context) const {
    VIRTACCEL_TRY_ASSIGN(const auto prepared, prepare());
    return must("The load of the sample", backend_->load(context, prepared));
}

Checked<Act> Direct::set_up() const {
    VIRTACCEL_TRY(need_sample());
    VIRTACCEL_TRY_ASSIGN(const ContextHandle made, context());
    return set_up(made);
}

Checked<Act> Direct::set_up(ContextHandle context) const {
    VIRTACCEL_TRY(need_sample());
    Act act;
    act.context = context;
    VIRTACCEL_TRY_ASSIGN(act.queue, queue(context));
    VIRTACCEL_TRY_ASSIGN(const auto loaded, load(context));
    act.program = loaded.program;
    for (const SampleSlot& slot : sample().slots) {
        VIRTACCEL_TRY_ASSIGN(const BufferHandle made, buffer(context, slot.before));
        act.buffers.push_back(made);
    }
    return act;
}

Check Direct::fill(const Act& act) const {
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        VIRTACCEL_TRY(write(act.buffers[i], 0, sample().slots[i].before));
    }
    return {};
}

Bindings Direct::bindings_of(const Act& act) const {
    Bindings bindings;
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        const SampleSlot& slot = sample().slots[i];
        bindings.push_back({.buffer = act.buffers[i],
                            .range = {.offset = 0, .bytes = slot.before.size()},
                            .slot = slot.slot,
                            .access = slot.access});
    }
    return bindings;
}

backend::SubmitOutcome Direct::try_submit(const Act& act,
                                          std::span<const backend::Binding> bindings,
                                          std::uint64_t timeout_ns) const {
    return backend_->submit({.queue = act.queue,
                             .program = act.program,
                             .bindings = bindings,
                             .timeout_ns = timeout_ns});
}

Checked<EventHandle> Direct::submit(const Act& act, std::uint64_t timeout_ns) const {
    const auto bindings = bindings_of(act);
    const auto outcome = try_submit(act, bindings, timeout_ns);
    VIRTACCEL_TRY(expect_status("A submission of the sample", outcome.status, Status::ok));
    VIRTACCEL_TRY(expect(outcome.certainty == backend::Certainty::done,
                         "A submission of the sample is answered with OK and not accepted."));
    return outcome.event;
}

Checked<EventStatus> Direct::poll(EventHandle event) const {
    VIRTACCEL_TRY_ASSIGN(const EventStatus status,
                         must("A poll of a live event", backend_->poll(event)));
    const bool is_failed = status.phase == EventPhase::failed;
    VIRTACCEL_TRY(expect(is_failed == (status.error != Status::ok),
                         "An event carries an error exactly if it failed; this one has (",
                         status.error, ")."));
    return status;
}

Checked<EventStatus> Direct::wait(EventHandle event) const {
    const Patience& patience = subject_->patience;
    for (std::uint32_t pauses = 0; pauses <= patience.pauses_max; ++pauses) {
        VIRTACCEL_TRY_ASSIGN(const EventStatus status, poll(event));
        if (status.phase != EventPhase::pending) {
            return status;
        }
        if (patience.pause != nullptr) {
            patience.pause(patience.state);
        }
    }
    return failed("The event is still pending after (", patience.pauses_max, ") polls.");
}

Check Direct::complete(EventHandle event) const {
    VIRTACCEL_TRY_ASSIGN(const EventStatus status, wait(event));
    VIRTACCEL_TRY(expect(status.phase == EventPhase::complete, "The sample ends with the error (",
                         status.error, ") or cancelled; it has to complete."));
    return release(event);
}

Check Direct::expect_outputs(const Act& act) const {
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        const SampleSlot& slot = sample().slots[i];
        VIRTACCEL_TRY(expect_contents(act.buffers[i], slot.after,
                                      say("After the sample, slot (", slot.slot, ")")));
    }
    return {};
}

Check Direct::run(const Act& act) const {
    VIRTACCEL_TRY(fill(act));
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, submit(act));
    VIRTACCEL_TRY(complete(event));
    return expect_outputs(act);
}

Check Direct::tear_down(const Act& act) const {
    VIRTACCEL_TRY(tear_down_in(act));
    return release(act.context);
}

Check Direct::tear_down_in(const Act& act) const {
    for (const BufferHandle buffer : act.buffers) {
        VIRTACCEL_TRY(release(buffer));
    }
    VIRTACCEL_TRY(release(act.program));
    return release(act.queue);
}

}  // namespace virtaccel::conformance
