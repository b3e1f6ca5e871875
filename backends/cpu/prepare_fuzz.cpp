// Any model for the CPU backend: what passes verification becomes a program within its limits, or
// is refused with a sentence; what becomes a small program runs, and twice to the same bytes if it
// keeps no state.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/cpu/prepare.h"
#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/device/bounded_memory.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/chosen_model.h"
#include "virtaccel/tosa/validate.h"

namespace {

namespace cpu = virtaccel::backends::cpu;
namespace tosa = virtaccel::tosa;

using virtaccel::Status;
using virtaccel::testing::Choices;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t host_bytes_max = std::uint64_t{64} << 20U;
constexpr std::uint64_t resident_bytes_max = std::uint64_t{16} << 20U;
// A program that is run touches no more than this, so that a run is short.
constexpr std::uint64_t run_bytes_max = std::uint64_t{64} << 10U;
constexpr std::size_t run_steps_max = 32;
// A loop need not end.
constexpr std::uint32_t rounds_max = 256;

bool is_small(const tosa::Graph& graph) {
    const auto analysis = tosa::analyze(graph);
    if (!analysis || analysis->order.size() > run_steps_max) {
        return false;
    }
    return analysis->slot_bytes <= run_bytes_max && analysis->activation_bytes <= run_bytes_max;
}

// A program with bindings in blocks of exactly their size, four bytes off any greater alignment.
class Run {
  public:
    explicit Run(cpu::Program& program) : program_(program) {
        for (const cpu::ProgramSlot& slot : program.slots) {
            blocks_.emplace_back(slot.bytes + offset);
            ranges_.push_back({blocks_.back().data() + offset});
        }
    }

    // Everything that is bound after a run on bytes that `seed` makes.
    Bytes run(std::uint8_t seed) {
        std::uint8_t value = seed;
        for (Bytes& block : blocks_) {
            for (std::byte& byte : block) {
                byte = static_cast<std::byte>(value);
                value = static_cast<std::uint8_t>(value * 5 + 3);
            }
        }
        program_.bind(ranges_);
        const cpu::Frame frame = program_.frame();
        std::uint32_t at = 0;
        for (std::uint32_t i = 0; i < rounds_max && at < program_.steps.size(); ++i) {
            cpu::Step& step = *program_.steps[at];
            bool goes_on = true;
            for (std::uint32_t part = 0; part < step.parts(); ++part) {
                goes_on = step.run(frame, part) && goes_on;
            }
            if (!goes_on) {
                VIRTACCEL_CHECK(step.failure() == Status::invalid_argument);
                break;
            }
            at = step.next(frame, at);
        }
        Bytes all;
        for (const Bytes& block : blocks_) {
            all.insert(all.end(), block.begin(), block.end());
        }
        return all;
    }

  private:
    static constexpr std::size_t offset = 4;

    cpu::Program& program_;
    std::deque<Bytes> blocks_;
    std::vector<cpu::BoundRange> ranges_;
};

// How many sentences there were, each a whole one.
struct Sentences {
    std::size_t count = 0;

    static void say(void* state, std::string_view line) {
        VIRTACCEL_CHECK(line.size() > 1 && line.ends_with('.'));
        ++static_cast<Sentences*>(state)->count;
    }
};

void prepare(Bytes& model, const tosa::Graph& graph, std::uint8_t seed) {
    virtaccel::device::BoundedMemory bounded{virtaccel::host::heap(), host_bytes_max};
    Sentences sentences;
    const virtaccel::Piece piece{.data = model.data(), .size = model.size()};
    const virtaccel::backend::Artifact artifact{
        .format = tosa::artifact_format,
        .target = tosa::encode_target(tosa::target_of(graph)),
        .resident_bytes_max = resident_bytes_max,
        .payload = virtaccel::Reader{virtaccel::PieceList::of({&piece, 1})},
        .refusals = {.state = &sentences, .say = &Sentences::say}};
    auto program = cpu::prepare_program(bounded.memory(), artifact, 1);
    if (!program) {
        VIRTACCEL_CHECK(program.error() != Status::ok && program.error() != Status::internal_error);
        VIRTACCEL_CHECK(sentences.count != 0 || program.error() == Status::out_of_memory);
        return;
    }
    VIRTACCEL_CHECK(sentences.count == 0);
    if (is_small(graph)) {
        Run run{**program};
        VIRTACCEL_CHECK(run.run(seed) == run.run(seed) || !(*program)->states.empty());
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Choices choices{{data, bytes}};
    const std::uint8_t kind = choices.byte();
    Bytes model;
    if (kind % 2 == 0) {
        const auto rest = std::as_bytes(choices.rest());
        model.assign(rest.begin(), rest.end());
    } else {
        model = tosa::testing::chosen_model(choices);
    }
    if (const auto graph = tosa::verify(model)) {
        prepare(model, *graph, kind);
    }
    return 0;
}
