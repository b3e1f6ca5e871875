#include "virtaccel/numerics/run_case.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/guest/resident_bytes.h"
#include "virtaccel/numerics/accuracy.h"
#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::numerics {

namespace {

using conformance::Check;
using conformance::Checked;
using conformance::expect;
using conformance::failed;
using conformance::skipped;

// A problem that is one, checked.
tosa::Graph graph_of(const Problem& problem) {
    auto graph = tosa::verify(problem.model);
    VIRTACCEL_CHECK(graph.has_value());
    return *std::move(graph);
}

// Numbers below the smallest normal one as zeros of their sign; those of FP8 stay.
Tensor flushed(Tensor tensor) {
    const auto format = float_format(tensor.dtype);
    if (format && format->bits() > 8) {
        for (double& value : tensor.values) {
            value = std::abs(value) < smallest_normal(*format) ? std::copysign(0.0, value) : value;
        }
    }
    return tensor;
}

// What stays the same whoever runs it: fills outputs that nobody writes.
constexpr std::byte untouched{0xa5};

struct SlotBuffer {
    backend::BufferHandle handle;
    Access access = Access::read;
    Bytes before;
};

// A backend with one program loaded, and a buffer for each of its slots.
class Run {
  public:
    Run(backend::AnyBackend backend, const conformance::Patience& patience)
        : backend_(std::move(backend)), patience_(patience) {}

    // Ends as skipped if the backend refuses what the model asks for.
    Check load(const Problem& problem, const tosa::Graph& graph);
    Check fill(const Problem& problem, const Tensor& output);
    Check execute();
    // The last slot's bytes; fails if an input's bytes have changed.
    Checked<Bytes> result();
    // Everything is given back.
    Check end();

  private:
    Check allocate(Access access, Bytes bytes);
    Check wait(backend::EventHandle event);
    Checked<Bytes> read(const SlotBuffer& slot);
    template <class Handle>
    Check release(std::optional<Handle>& handle);

    backend::AnyBackend backend_;
    conformance::Patience patience_;
    std::uint64_t live_before_ = backend_.diagnostics().live_resources;
    std::optional<backend::ContextHandle> context_;
    std::optional<backend::ProgramHandle> program_;
    std::optional<backend::QueueHandle> queue_;
    std::vector<SlotBuffer> slots_;
};

// Ends the case unless a backend's call has given something.
template <class T>
Check expect_made(std::string_view call, const Result<T>& made) {
    return made ? Check{} : failed("The call (", call, ") answers (", made.error(), ").");
}

// What a refusal means. A refusal without a reason, or of a valid model as malformed, is a fault.
Check judge_refusal(Status status, const std::vector<std::string>& reasons) {
    const bool may_refuse = status == Status::unsupported || status == Status::incompatible ||
                            status == Status::resource_limit;
    VIRTACCEL_TRY(expect(may_refuse, "The load of a valid model answers (", status, ")",
                         reasons.empty() ? "." : ": " + reasons.front()));
    VIRTACCEL_TRY(expect(!reasons.empty(), "The load is refused with (", status,
                         ") and no sentence that says why."));
    return skipped("Not advertised (", status, "): ", reasons.front());
}

Check Run::load(const Problem& problem, const tosa::Graph& graph) {
    std::vector<std::string> reasons;
    const Piece piece{const_cast<std::byte*>(problem.model.data()), problem.model.size()};
    const backend::Artifact artifact{
        .format = tosa::artifact_format,
        .target = tosa::encode_target(tosa::target_of(graph)),
        .resident_bytes_max = guest::resident_bytes_for(problem.model.size()),
        .payload = Reader{PieceList::of({&piece, 1})},
        .refusals = {.state = &reasons, .say = [](void* state, std::string_view line) {
                         static_cast<std::vector<std::string>*>(state)->emplace_back(line);
                     }}};
    const auto context = backend_.create_context();
    VIRTACCEL_TRY(expect_made("create_context", context));
    context_ = *context;
    const auto prepared = backend_.prepare(artifact);
    if (!prepared) {
        return judge_refusal(prepared.error(), reasons);
    }
    const auto program = backend_.load(*context_, *prepared);
    if (!program) {
        return judge_refusal(program.error(), reasons);
    }
    program_ = program->program;
    const auto queue = backend_.create_queue(*context_);
    VIRTACCEL_TRY(expect_made("create_queue", queue));
    queue_ = *queue;
    return {};
}

Check Run::allocate(Access access, Bytes bytes) {
    constexpr std::uint64_t alignment = 64;
    const Usage transfer = Usage{UsageBit::transfer_source} | UsageBit::transfer_destination;
    const auto allocation = backend_.allocate(
        *context_, {.bytes = bytes.size(),
                    .alignment = alignment,
                    .domain = conformance::any_domain(backend_.identity().capabilities),
                    .usage = transfer | conformance::usage_for(access)});
    VIRTACCEL_TRY(expect_made("allocate", allocation));
    const Piece piece{bytes.data(), bytes.size()};
    Reader reader{PieceList::of({&piece, 1})};
    const Status status = backend_.write(allocation->buffer, 0, reader);
    slots_.push_back({.handle = allocation->buffer, .access = access, .before = std::move(bytes)});
    return expect(status == Status::ok, "The call (write) answers (", status, ").");
}

Check Run::fill(const Problem& problem, const Tensor& output) {
    for (const Tensor& input : problem.inputs) {
        VIRTACCEL_TRY(allocate(Access::read, pack(input)));
    }
    return allocate(Access::write, Bytes(pack(output).size(), untouched));
}

Check Run::wait(backend::EventHandle event) {
    auto state = backend_.poll(event);
    for (std::uint32_t pauses = 0; pauses < patience_.pauses_max; ++pauses) {
        if (!state || state->phase != EventPhase::pending) {
            break;
        }
        if (patience_.pause != nullptr) {
            patience_.pause(patience_.state);
        }
        state = backend_.poll(event);
    }
    VIRTACCEL_TRY(expect_made("poll", state));
    return expect(state->phase == EventPhase::complete, "The event ends in the phase (",
                  static_cast<std::uint16_t>(state->phase), ") with the error (", state->error,
                  "); it has to complete.");
}

Check Run::execute() {
    std::vector<backend::Binding> bindings;
    bindings.reserve(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        bindings.push_back({.buffer = slots_[i].handle,
                            .range = {.offset = 0, .bytes = slots_[i].before.size()},
                            .slot = static_cast<std::uint32_t>(i),
                            .access = slots_[i].access});
    }
    const auto submitted = backend_.submit(
        {.queue = *queue_, .program = *program_, .bindings = bindings, .timeout_ns = 0});
    VIRTACCEL_TRY(expect(submitted.certainty == backend::Certainty::done,
                         "The submission of the loaded model answers (", submitted.status, ")."));
    VIRTACCEL_TRY(wait(submitted.event));
    const auto destroyed = backend_.destroy_event(submitted.event);
    return expect(destroyed.certainty == backend::Certainty::done,
                  "The call (destroy_event) answers (", destroyed.status, ").");
}

Checked<Bytes> Run::read(const SlotBuffer& slot) {
    Bytes bytes(slot.before.size());
    const Piece piece{bytes.data(), bytes.size()};
    Writer writer{PieceList::of({&piece, 1})};
    const Status status = backend_.read(slot.handle, 0, writer);
    VIRTACCEL_TRY(expect(status == Status::ok, "The call (read) answers (", status, ")."));
    return bytes;
}

Checked<Bytes> Run::result() {
    for (const SlotBuffer& slot : slots_) {
        if (slot.access == Access::read) {
            VIRTACCEL_TRY_ASSIGN(const Bytes bytes, read(slot));
            VIRTACCEL_TRY(expect(bytes == slot.before,
                                 "An input's bytes are other ones after "
                                 "the run; a program may not write them."));
        }
    }
    return read(slots_.back());
}

template <class Handle>
Check Run::release(std::optional<Handle>& handle) {
    if (!handle) {
        return {};
    }
    const auto released = backend_.release(*std::exchange(handle, std::nullopt));
    return expect(released.certainty == backend::Certainty::done, "A release at the end answers (",
                  released.status, ").");
}

Check Run::end() {
    for (const SlotBuffer& slot : slots_) {
        std::optional<backend::BufferHandle> handle{slot.handle};
        VIRTACCEL_TRY(release(handle));
    }
    slots_.clear();
    VIRTACCEL_TRY(release(program_));
    VIRTACCEL_TRY(release(queue_));
    VIRTACCEL_TRY(release(context_));
    return conformance::expect_equal("The number of live resources after all",
                                     backend_.diagnostics().live_resources, live_before_);
}

Checked<Bytes> run_problem(Run& run, const Problem& problem, const Expectation& expectation) {
    VIRTACCEL_TRY(run.load(problem, graph_of(problem)));
    VIRTACCEL_TRY(run.fill(problem, expectation.kept));
    VIRTACCEL_TRY(run.execute());
    return run.result();
}

// `ulps` is set as soon as something has been compared.
Check judge(const conformance::BackendSubject& subject, const Case& row,
            std::optional<double>& ulps) {
    auto backend = subject.factory.make(subject.factory.state);
    VIRTACCEL_TRY(expect_made("make", backend));
    const Problem problem = row.make();
    const Expectation expectation = expectation_of(problem);
    Run run{*std::move(backend), subject.patience};
    const auto result = run_problem(run, problem, expectation);
    if (!result) {
        // What has ended the case says more than what becomes of the rest.
        static_cast<void>(run.end());
        return std::unexpected{result.error()};
    }
    VIRTACCEL_TRY(run.end());
    const auto comparison =
        compare(expectation, *result, accuracy_of(row.op, expectation.kept.dtype));
    ulps = comparison.ulps;
    return expect(comparison.is_right, comparison.reason);
}

}  // namespace

Expectation expectation_of(const Problem& problem) {
    const tosa::Graph graph = graph_of(problem);
    std::vector<Tensor> without_subnormals;
    std::ranges::transform(problem.inputs, std::back_inserter(without_subnormals), flushed);
    Expectation expectation{.kept = evaluate(graph, problem.inputs).front(),
                            .flushed = evaluate(graph, without_subnormals).front()};
    // Integers are compared as their types keep them.
    if (!float_format(expectation.kept.dtype)) {
        expectation.kept = rounded(expectation.kept);
        expectation.flushed = rounded(expectation.flushed);
    }
    return expectation;
}

conformance::CaseResult run_case(const conformance::BackendSubject& subject, const Case& row) {
    std::optional<double> ulps;
    auto result = conformance::result_of(row.name, row.title, judge(subject, row, ulps));
    result.group = group;
    result.ulp = ulps;
    return result;
}

}  // namespace virtaccel::numerics
