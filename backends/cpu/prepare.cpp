#include "backends/cpu/prepare.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_types.h>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/one_thread.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/program.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::backends::cpu {

namespace {

std::unexpected<Status> refuse(const backend::Artifact& artifact, Status status,
                               std::string_view sentence) {
    artifact.refusals(sentence);
    return fail(status);
}

std::unexpected<Status> refuse(const backend::Artifact& artifact, const tosa::Refusal& refusal) {
    return refuse(artifact, refusal.status, refusal.sentence.view());
}

// May throw.
Result<std::unique_ptr<Program>> compile(const Memory& memory, const backend::Artifact& artifact,
                                         std::uint32_t threads) {
    if (artifact.format != tosa::artifact_format) {
        return refuse(artifact, Status::unsupported,
                      "The artifact is not a TOSA model: the CPU backend runs nothing else.");
    }
    const auto target = tosa::decode_target(artifact.target);
    if (!target) {
        return refuse(artifact, Status::incompatible,
                      "The target words are not those of a TOSA 1.0 target: declare the version, "
                      "profile, level and extensions that the model was made for.");
    }
    Block copied;
    std::span<const std::byte> model = artifact.stable;
    if (model.empty()) {
        Reader payload = artifact.payload;
        const auto bytes = static_cast<std::size_t>(payload.remaining());
        copied = Block{memory, bytes};
        if (!payload.copy_to(copied.data(), bytes)) {
            return fail(Status::internal_error);
        }
        model = copied.bytes().first(bytes);
    }
    const auto graph = tosa::verify(model);
    if (!graph) {
        return refuse(artifact, graph.error());
    }
    if (const auto valid = tosa::validate_for(*graph, *target); !valid) {
        return refuse(artifact, valid.error());
    }
    const auto analysis = tosa::analyze(*graph);
    if (!analysis) {
        return refuse(artifact, analysis.error());
    }
    if (!admit(*graph, *analysis, artifact.refusals)) {
        return fail(Status::unsupported);
    }
    Lowering lowering{memory,
                      *graph,
                      *analysis,
                      {.resident_bytes_max = artifact.resident_bytes_max, .threads = threads}};
    return lowering.run();
}

}  // namespace

Result<std::unique_ptr<Program>> prepare_program(const Memory& memory,
                                                 const backend::Artifact& artifact,
                                                 std::uint32_t threads) {
    const OneThreadScope scope;
    try {
        return compile(memory, artifact, threads);
    } catch (const TooManyResidentBytes&) {
        tosa::Text text;
        text.append("The model needs more memory than the resident bytes (")
            .append(artifact.resident_bytes_max)
            .append(") allow: declare more of them.");
        return refuse(artifact, Status::resource_limit, text.view());
    } catch (const std::bad_alloc&) {
        return fail(Status::out_of_memory);
    } catch (const dnnl::error& error) {
        return fail(error.status == dnnl_out_of_memory ? Status::out_of_memory
                                                       : Status::internal_error);
    } catch (const StepFailed&) {
        return fail(Status::internal_error);
    } catch (const std::exception&) {
        return fail(Status::internal_error);
    }
}

}  // namespace virtaccel::backends::cpu
