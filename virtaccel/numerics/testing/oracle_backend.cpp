#include "virtaccel/numerics/testing/oracle_backend.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/null/null.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::numerics::testing {

namespace {

struct Program {
    Bytes bytes;
    tosa::Graph graph;
};

Program& program_at(void* object) {
    return *static_cast<Program*>(object);
}

std::span<std::byte> bytes_of(const backend::Binding& binding) {
    return {backend::HostBuffers::at(binding.buffer).data + binding.range.offset,
            static_cast<std::size_t>(binding.range.bytes)};
}

std::unexpected<Status> refuse(const backend::Artifact& artifact, const tosa::Refusal& refusal) {
    artifact.refusals(refusal.sentence.view());
    return fail(refusal.status);
}

}  // namespace

backend::Diagnostics OracleBackend::diagnostics() const {
    backend::Diagnostics diagnostics = NullBackend::diagnostics();
    diagnostics.live_resources += programs_ + events_;
    return diagnostics;
}

Result<backend::PreparedHandle> OracleBackend::prepare(const backend::Artifact& artifact) {
    auto program = std::make_unique<Program>();
    Reader payload = artifact.payload;
    program->bytes.resize(static_cast<std::size_t>(payload.remaining()));
    if (!payload.copy_to(program->bytes.data(), program->bytes.size())) {
        return fail(Status::internal_error);
    }
    const auto target = tosa::decode_target(artifact.target);
    if (artifact.format != tosa::artifact_format || !target) {
        return fail(Status::unsupported);
    }
    auto graph = tosa::verify(program->bytes);
    if (!graph) {
        return refuse(artifact, graph.error());
    }
    if (const auto valid = tosa::validate_for(*graph, *target); !valid) {
        return refuse(artifact, valid.error());
    }
    program->graph = *std::move(graph);
    if (const tosa::Op op = first_without_oracle(program->graph); op != tosa::Op::unknown) {
        artifact.refusals("The operator (" + std::string{tosa::name_of(op)} + ") has no oracle.");
        return fail(Status::unsupported);
    }
    return backend::PreparedHandle{.object = program.release()};
}

void OracleBackend::abandon(backend::PreparedHandle prepared) {
    const std::unique_ptr<Program> last{&program_at(prepared.object)};
}

Result<backend::LoadedProgram> OracleBackend::load(backend::ContextHandle /*context*/,
                                                   backend::PreparedHandle prepared) {
    ++programs_;
    return backend::LoadedProgram{.program = {.object = prepared.object}, .resident_bytes = 1};
}

backend::ReleaseOutcome OracleBackend::unload(backend::ProgramHandle program) {
    const std::unique_ptr<Program> last{&program_at(program.object)};
    --programs_;
    return backend::ReleaseOutcome::released();
}

backend::SubmitOutcome OracleBackend::submit(const backend::Submission& submission) {
    const tosa::Graph& graph = program_at(submission.program.object).graph;
    const tosa::Block& block = graph.main();
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < block.inputs.size(); ++i) {
        const tosa::Tensor& tensor = graph.tensors()[block.inputs[i]];
        inputs.push_back(unpack(tensor.dtype, tensor.shape, bytes_of(submission.bindings[i])));
    }
    const auto outputs = evaluate(graph, inputs, *interference_);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        std::ranges::copy(pack(outputs[i]),
                          bytes_of(submission.bindings[inputs.size() + i]).begin());
    }
    ++events_;
    return backend::SubmitOutcome::accepted({});
}

Result<backend::EventStatus> OracleBackend::poll(backend::EventHandle /*event*/) {
    return backend::EventStatus{.phase = EventPhase::complete};
}

Status OracleBackend::cancel(backend::EventHandle /*event*/) {
    return Status::busy;
}

backend::ReleaseOutcome OracleBackend::destroy_event(backend::EventHandle /*event*/) {
    --events_;
    return backend::ReleaseOutcome::released();
}

}  // namespace virtaccel::numerics::testing
