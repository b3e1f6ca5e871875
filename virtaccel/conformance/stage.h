#pragma once
// The steps that cases are made of, on any device: one whole life of the sample program from
// `set_up` to `tear_down`, of which each case bends one step.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
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

// The domain that cases about something else put their buffers in: the first that is offered of
// host, shared, device.
[[nodiscard]] MemoryDomain any_domain(Capabilities capabilities);

// The one usage bit that allows `access` and no other.
[[nodiscard]] Usage usage_for(Access access);

// Ends the case as failed unless the subject has a sample program.
[[nodiscard]] Check need_sample(bool has_sample);

class Stage {
  public:
    // All but `patience` outlive the stage. `capabilities` are the device's.
    Stage(DeviceUnderTest& device, const std::optional<SampleProgram>& program,
          const Patience& patience, Capabilities capabilities)
        : program_(program ? &*program : nullptr),
          patience_(patience),
          capabilities_(capabilities),
          caller_(device) {}

    [[nodiscard]] Caller& caller() { return caller_; }

    [[nodiscard]] DeviceUnderTest& device_under_test() { return caller_.device(); }

    // True if there is a sample program.
    [[nodiscard]] bool has_sample() const { return program_ != nullptr; }

    // Ends the case as failed without a sample program.
    [[nodiscard]] Check need_sample() const;

    // The sample program, of a subject that has one.
    [[nodiscard]] const SampleProgram& sample() const { return *program_; }

    [[nodiscard]] Capabilities capabilities() const { return capabilities_; }

    // A request for a buffer in a domain that the backend offers.
    [[nodiscard]] wire::AllocateBuffer buffer_request(ContextId context, std::uint64_t bytes,
                                                      Usage usage);

    // The payload of LOAD_PROGRAM with the sample's fixed part and any artifact.
    [[nodiscard]] Bytes load_payload(ContextId context, std::span<const std::byte> artifact) const;

    // LOAD_PROGRAM with that, its frame cut into pieces of `piece_bytes`.
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
    const SampleProgram* program_;
    Patience patience_;
    Capabilities capabilities_;
    Caller caller_;
};

}  // namespace virtaccel::conformance
