#pragma once
// One instance of a backend under test, with a device over it and the steps that cases are made of.
// The one thing to know: `set_up` to `tear_down` is one whole life of a program, and each case
// bends one step of it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_subject.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/plain_device.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/device.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

// What one life of the sample program holds.
struct Scene {
    ContextId context;
    QueueId queue;
    ProgramId program;
    // One for each slot of the sample, filled with what it holds before.
    std::vector<BufferId> buffers;
};

class BackendRig {
  public:
    // The device over a fresh backend; the case ends if there is none.
    explicit BackendRig(const BackendSubject& subject, device::Device device)
        : subject_(&subject), device_(std::move(device)), caller_(device_) {}

    [[nodiscard]] Caller& caller() { return caller_; }

    [[nodiscard]] const DeviceIdentity& identity() { return device_.device().identity(); }

    [[nodiscard]] backend::Diagnostics diagnostics() {
        return device_.device().backend().diagnostics();
    }

    [[nodiscard]] device::Device& device() { return device_.device(); }

    [[nodiscard]] const BackendSubject& subject() const { return *subject_; }

    // The sample program; the case ends if the subject has none.
    [[nodiscard]] Checked<const SampleProgram*> sample() const;

    // A request for a buffer in a domain that the backend offers.
    [[nodiscard]] wire::AllocateBuffer buffer_request(ContextId context, std::uint64_t bytes,
                                                      Usage usage);

    // LOAD_PROGRAM with the sample's fixed part, any tail, cut into pieces of `piece_bytes`.
    [[nodiscard]] Reply load(ContextId context, std::span<const std::byte> artifact,
                             std::size_t piece_bytes = 0);

    // The sample's buffers in a context, filled.
    [[nodiscard]] Checked<std::vector<BufferId>> make_buffers(ContextId context);
    // Context, queue, program and buffers.
    [[nodiscard]] Checked<Scene> set_up();
    // The bindings that the sample wants.
    [[nodiscard]] std::vector<wire::Binding> bindings_of(const Scene& scene) const;
    [[nodiscard]] Reply submit(const Scene& scene, std::span<const wire::Binding> bindings,
                               std::uint64_t timeout_ns = 0);
    // Submits as the sample wants it.
    [[nodiscard]] Checked<EventId> submit(const Scene& scene);
    // Polls until the event is terminal; the case ends if it never is.
    [[nodiscard]] Checked<wire::EventState> wait(EventId event);
    // Ends the case unless the event completes.
    [[nodiscard]] Check wait_for_completion(EventId event);
    // Ends the case unless every buffer holds what it has to hold after the program.
    [[nodiscard]] Check check_outputs(const Scene& scene);
    // Releases all of a scene, whose events are destroyed.
    [[nodiscard]] Check tear_down(const Scene& scene);

  private:
    const BackendSubject* subject_;
    PlainDevice device_;
    Caller caller_;
};

// The domain that cases about something else put their buffers in: the first that is offered of
// host, shared, device.
[[nodiscard]] MemoryDomain any_domain(Capabilities capabilities);

// The one usage bit that allows `access` and no other.
[[nodiscard]] Usage usage_for(Access access);

// Makes the device of a case. Not movable, so the case's own frame holds the rig.
[[nodiscard]] Checked<device::Device> make_device(const BackendSubject& subject);

// A case that runs on a rig of its own.
template <class Body>
[[nodiscard]] Check on_rig(const BackendSubject& subject, Body body) {
    auto made = make_device(subject);
    if (!made) {
        return std::unexpected{made.error()};
    }
    BackendRig rig{subject, *std::move(made)};
    return body(rig);
}

}  // namespace virtaccel::conformance
