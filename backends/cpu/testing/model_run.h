#pragma once
// A model that a test has built, compiled and run step by step on the test's own thread. The one
// thing to know: inputs and outputs lie in blocks of exactly their size, four bytes off any greater
// alignment, so that a step which assumes more is found out.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/prepare.h"
#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::backends::cpu::testing {

struct ModelOptions {
    std::uint32_t threads = 1;
    std::uint64_t resident_bytes_max = std::uint64_t{1} << 30U;
};

// What a model's bytes come to.
struct Prepared {
    std::unique_ptr<Program> program;
    Status status = Status::ok;
    std::vector<std::string> refusals;
};

// `target` as a loader would declare it.
[[nodiscard]] inline TargetWords target_of(std::span<const std::byte> model) {
    const auto graph = tosa::verify(model);
    return tosa::encode_target(graph ? tosa::target_of(*graph) : tosa::Target{});
}

[[nodiscard]] inline Prepared prepare(std::span<const std::byte> model, const TargetWords& target,
                                      const ModelOptions& options = {}) {
    Prepared prepared;
    const Piece piece{const_cast<std::byte*>(model.data()), model.size()};
    const backend::Artifact artifact{
        .format = tosa::artifact_format,
        .target = target,
        .resident_bytes_max = options.resident_bytes_max,
        .payload = Reader{PieceList::of({&piece, 1})},
        .refusals = {.state = &prepared.refusals, .say = [](void* state, std::string_view line) {
                         static_cast<std::vector<std::string>*>(state)->emplace_back(line);
                     }}};
    auto program = prepare_program(host::heap(), artifact, options.threads);
    if (program) {
        prepared.program = *std::move(program);
    } else {
        prepared.status = program.error();
    }
    return prepared;
}

class ModelRun {
  public:
    explicit ModelRun(const tosa::Builder& builder, const ModelOptions& options = {}) {
        const auto model = builder.finish();
        if (!model) {
            ADD_FAILURE() << model.error().sentence.view();
            return;
        }
        prepare_model(*model, options);
    }

    explicit ModelRun(const tosa::FileModel& file, const ModelOptions& options = {}) {
        prepare_model(tosa::write_file(file), options);
    }

    [[nodiscard]] Status status() const { return prepared_.status; }

    [[nodiscard]] const std::vector<std::string>& refusals() const { return prepared_.refusals; }

    [[nodiscard]] const Program& program() const { return *prepared_.program; }

    // How many steps a run has.
    [[nodiscard]] std::size_t steps() const {
        return prepared_.program == nullptr ? 0 : prepared_.program->steps.size();
    }

    // The next input.
    template <std::ranges::contiguous_range Range>
    ModelRun& input(const Range& values) {
        const auto bytes = std::as_bytes(std::span{values});
        if (prepared_.program == nullptr) {
            return *this;
        }
        EXPECT_EQ(bytes.size(), prepared_.program->slots[next_].bytes) << "input " << next_;
        std::memcpy(ranges_[next_].data, bytes.data(),
                    std::min(bytes.size(), blocks_[next_].size() - offset));
        ++next_;
        return *this;
    }

    template <class T>
    ModelRun& input(std::initializer_list<T> values) {
        return input(std::span{values.begin(), values.size()});
    }

    // Runs once, the parts of each step in an order that no part may mind, and says how it ends.
    Status try_run() {
        if (prepared_.program == nullptr) {
            return prepared_.status;
        }
        prepared_.program->bind(ranges_);
        const Frame frame = prepared_.program->frame();
        const Steps& steps = prepared_.program->steps;
        for (std::uint32_t at = 0; at < steps.size(); at = steps[at]->next(frame, at)) {
            for (std::uint32_t part = steps[at]->parts(); part-- > 0;) {
                if (!steps[at]->run(frame, part)) {
                    return steps[at]->failure();
                }
            }
        }
        return Status::ok;
    }

    // Runs once, to a good end.
    ModelRun& run() {
        const Status end = try_run();
        EXPECT_EQ(status_name(end), status_name(Status::ok))
            << (refusals().empty() ? "" : refusals().front());
        return *this;
    }

    // What a slot holds, inputs counted first.
    template <class T>
    [[nodiscard]] std::vector<T> slot(std::size_t number) const {
        if (prepared_.program == nullptr) {
            return {};
        }
        std::vector<T> values(blocks_[number].size() / sizeof(T));
        values.resize((blocks_[number].size() - offset) / sizeof(T));
        std::memcpy(values.data(), ranges_[number].data, values.size() * sizeof(T));
        return values;
    }

    // What the only output, the last slot, holds after a run.
    template <class T>
    [[nodiscard]] std::vector<T> output() {
        run();
        return prepared_.program == nullptr ? std::vector<T>{} : slot<T>(blocks_.size() - 1);
    }

  private:
    static constexpr std::size_t offset = 4;

    void prepare_model(std::span<const std::byte> model, const ModelOptions& options) {
        prepared_ = prepare(model, target_of(model), options);
        if (prepared_.program == nullptr) {
            return;
        }
        for (const ProgramSlot& slot : prepared_.program->slots) {
            blocks_.emplace_back(slot.bytes + offset, std::byte{0xa5});
            ranges_.push_back({blocks_.back().data() + offset});
        }
    }

    Prepared prepared_;
    std::deque<std::vector<std::byte>> blocks_;
    std::vector<BoundRange> ranges_;
    std::size_t next_ = 0;
};

}  // namespace virtaccel::backends::cpu::testing
