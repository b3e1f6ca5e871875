#include "backends/cpu/cpu.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/identity.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_cases.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/tosa_sample.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

namespace {

using backend::AnyBackend;
using backend::Binding;
using tosa::DType;
using tosa::Op;

// y = x + x, of `length` floats.
std::vector<std::byte> doubling_model(std::int32_t length = 4) {
    tosa::Builder builder;
    const auto x = builder.input("x", DType::fp32, {length});
    builder.output(builder.add(x, x), "y");
    return builder.finish().value();
}

// A backend with a context, a queue and the doubling model.
class Stage {
  public:
    explicit Stage(const Options& options = {}) : backend(*make(host::heap(), options)) {
        context = *backend.create_context();
        queue = *backend.create_queue(context);
    }

    backend::ProgramHandle load(std::span<const std::byte> model) {
        const auto prepared = prepare(model);
        EXPECT_TRUE(prepared);
        return backend.load(context, *prepared)->program;
    }

    Result<backend::PreparedHandle> prepare(std::span<const std::byte> model,
                                            std::uint64_t resident_bytes_max = 1U << 30U) {
        const Piece piece{const_cast<std::byte*>(model.data()), model.size()};
        return backend.prepare({.format = tosa::artifact_format,
                                .target = testing::target_of(model),
                                .resident_bytes_max = resident_bytes_max,
                                .payload = Reader{PieceList::of({&piece, 1})}});
    }

    backend::BufferHandle allocate(std::uint64_t bytes) {
        return backend
            .allocate(context, {.bytes = bytes,
                                .alignment = 64,
                                .domain = MemoryDomain::host,
                                .usage = Usage{UsageBit::program_input} | UsageBit::program_output})
            ->buffer;
    }

    void write(backend::BufferHandle buffer, std::vector<float> values, std::uint64_t offset = 0) {
        const Piece piece{reinterpret_cast<std::byte*>(values.data()), values.size() * 4};
        Reader reader{PieceList::of({&piece, 1})};
        EXPECT_EQ(backend.write(buffer, offset, reader), Status::ok);
    }

    std::vector<float> read(backend::BufferHandle buffer, std::size_t count,
                            std::uint64_t offset = 0) {
        std::vector<float> values(count);
        const Piece piece{reinterpret_cast<std::byte*>(values.data()), count * 4};
        Writer writer{PieceList::of({&piece, 1})};
        EXPECT_EQ(backend.read(buffer, offset, writer), Status::ok);
        return values;
    }

    backend::SubmitOutcome submit(backend::ProgramHandle program,
                                  std::span<const Binding> bindings) {
        return backend.submit({.queue = queue, .program = program, .bindings = bindings});
    }

    backend::EventStatus wait(backend::EventHandle event) {
        auto status = backend.poll(event);
        while (status->phase == EventPhase::pending) {
            std::this_thread::yield();
            status = backend.poll(event);
        }
        return *status;
    }

    AnyBackend backend;
    backend::ContextHandle context;
    backend::QueueHandle queue;
};

Binding binding(backend::BufferHandle buffer, std::uint32_t slot, ByteRange range) {
    return {.buffer = buffer,
            .range = range,
            .slot = slot,
            .access = slot == 0 ? Access::read : Access::write};
}

TEST(CpuBackend, says_who_it_is) {
    const auto made = make(host::heap(), {.threads = 2});
    ASSERT_TRUE(made);
    EXPECT_EQ(backend::validate(made->identity()), Status::ok);
    EXPECT_EQ(made->name(), "cpu");
    EXPECT_TRUE(made->description().starts_with("TOSA on oneDNN ")) << made->description();
    EXPECT_TRUE(made->description().ends_with(", 2 threads")) << made->description();
}

TEST(CpuBackend, refuses_a_number_of_threads_that_is_out_of_range) {
    EXPECT_EQ(make(host::heap(), {.threads = 0}).error(), Status::invalid_argument);
    EXPECT_EQ(make(host::heap(), {.threads = Options::threads_max + 1}).error(),
              Status::invalid_argument);
}

TEST(CpuBackend, passes_the_conformance_cases) {
    auto maker = [] { return make(host::heap()); };
    conformance::BackendSubject subject;
    subject.memory = host::heap();
    subject.factory = backend::factory_from(maker);
    subject.program = conformance::tosa_sample();
    subject.patience = {.state = nullptr, .pause = [](void*) { std::this_thread::yield(); }};
    for (const auto& result : conformance::run_backend_cases(subject)) {
        // There is no device-local memory here, and events can be cancelled.
        const bool is_skipped = result.name == "memory.device" ||
                                result.name.starts_with("report.device-") ||
                                result.name == "cancel.unadvertised-is-unsupported";
        const auto wanted =
            is_skipped ? conformance::Outcome::skipped : conformance::Outcome::passed;
        EXPECT_EQ(result.outcome, wanted) << result.name << ": " << result.reason;
    }
}

TEST(CpuBackend, computes_in_the_buffers_it_is_given) {
    Stage stage;
    const auto program = stage.load(doubling_model());
    const auto buffer = stage.allocate(64);
    stage.write(buffer, {1, 2, 3, 4}, 4);
    const std::array bindings{binding(buffer, 0, {4, 16}), binding(buffer, 1, {20, 16})};
    const auto outcome = stage.submit(program, bindings);
    ASSERT_EQ(outcome.certainty, backend::Certainty::done);
    EXPECT_EQ(stage.wait(outcome.event).phase, EventPhase::complete);
    EXPECT_EQ(stage.read(buffer, 9), (std::vector<float>{0, 1, 2, 3, 4, 2, 4, 6, 8}));
    const auto diagnostics = stage.backend.diagnostics();
    EXPECT_EQ(diagnostics.direct_bindings, 2U);
    EXPECT_EQ(diagnostics.staged_bytes, 0U);
    EXPECT_GT(diagnostics.host_preparation_ns, 0U);
    EXPECT_GT(diagnostics.device_execution_ns, 0U);
}

TEST(CpuBackend, rejects_bindings_that_are_not_the_programs) {
    Stage stage;
    const auto program = stage.load(doubling_model());
    const auto x = stage.allocate(64);
    const auto y = stage.allocate(64);
    const Binding in = binding(x, 0, {0, 16});
    const Binding out = binding(y, 1, {0, 16});
    const auto with = [](Binding changed, const std::function<void(Binding&)>& change) {
        change(changed);
        return changed;
    };
    const std::vector<std::vector<Binding>> wrong{
        {in},
        {in, out,
         with(out,
              [](Binding& b) {
                  b.slot = 2;
                  b.range.offset = 32;
              })},
        {in, with(out, [](Binding& b) { b.slot = 2; })},
        {in, with(out, [](Binding& b) { b.range.bytes = 12; })},
        {with(in, [](Binding& b) { b.range.bytes = 20; }), out},
        {with(in, [](Binding& b) { b.access = Access::write; }), out},
        {in, with(out, [](Binding& b) { b.access = Access::read; })},
        {in, with(out, [](Binding& b) { b.access = Access::read_write; })},
        {with(in, [](Binding& b) { b.range.offset = 2; }), out},
        {in, with(out, [x](Binding& b) { b.buffer = x; })},
        {in, with(out,
                  [x](Binding& b) {
                      b.buffer = x;
                      b.range.offset = 12;
                  })},
    };
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        const auto outcome = stage.submit(program, wrong[i]);
        EXPECT_EQ(outcome.certainty, backend::Certainty::rejected) << i;
        EXPECT_EQ(outcome.status, Status::incompatible) << i;
    }
    EXPECT_EQ(stage.backend.diagnostics().live_resources, 5U);
    EXPECT_EQ(stage.submit(program, std::array{in, out}).certainty, backend::Certainty::done);
}

TEST(CpuBackend, allocates_nothing_for_a_submission_in_a_steady_state) {
    std::uint64_t allocations = 0;

    struct Counted {
        Memory heap = host::heap();
        std::uint64_t* count = nullptr;
    } counted{.count = &allocations};

    const Memory memory{
        .state = &counted,
        .allocate = [](void* state, std::size_t bytes, std::size_t alignment) -> void* {
            auto& self = *static_cast<Counted*>(state);
            ++*self.count;
            return self.heap.allocate(self.heap.state, bytes, alignment);
        },
        .release =
            [](void* state, void* block, std::size_t bytes, std::size_t alignment) {
                auto& self = *static_cast<Counted*>(state);
                self.heap.release(self.heap.state, block, bytes, alignment);
            }};
    Stage stage;
    stage.backend = *make(memory);
    const auto program = stage.load(doubling_model());
    const auto buffer = stage.allocate(64);
    const std::array bindings{binding(buffer, 0, {0, 16}), binding(buffer, 1, {16, 16})};
    const auto run = [&] {
        const auto outcome = stage.submit(program, bindings);
        EXPECT_EQ(stage.wait(outcome.event).phase, EventPhase::complete);
        EXPECT_EQ(stage.backend.destroy_event(outcome.event).certainty, backend::Certainty::done);
    };
    run();
    const std::uint64_t before = allocations;
    for (int i = 0; i < 100; ++i) {
        run();
    }
    EXPECT_EQ(allocations, before);
}

TEST(CpuBackend, keeps_programs_of_two_contexts_apart) {
    Stage stage;
    const auto other = *stage.backend.create_context();
    const auto first = stage.load(doubling_model(4));
    const auto prepared = *stage.prepare(doubling_model(2));
    const auto second = stage.backend.load(other, prepared)->program;
    const auto buffer = stage.allocate(64);
    stage.write(buffer, {1, 2, 3, 4});
    const auto a =
        stage.submit(first, std::array{binding(buffer, 0, {0, 16}), binding(buffer, 1, {16, 16})});
    const auto b =
        stage.submit(second, std::array{binding(buffer, 0, {0, 8}), binding(buffer, 1, {32, 8})});
    EXPECT_EQ(stage.wait(a.event).phase, EventPhase::complete);
    EXPECT_EQ(stage.wait(b.event).phase, EventPhase::complete);
    EXPECT_EQ(stage.read(buffer, 10), (std::vector<float>{1, 2, 3, 4, 2, 4, 6, 8, 2, 4}));
    EXPECT_EQ(stage.backend.destroy_event(a.event).certainty, backend::Certainty::done);
    EXPECT_EQ(stage.backend.unload(first).certainty, backend::Certainty::done);
    const auto c =
        stage.submit(second, std::array{binding(buffer, 0, {8, 8}), binding(buffer, 1, {32, 8})});
    EXPECT_EQ(stage.wait(c.event).phase, EventPhase::complete);
    EXPECT_EQ(stage.read(buffer, 2, 32), (std::vector<float>{6, 8}));
}

TEST(CpuBackend, reports_what_a_program_keeps_and_refuses_to_keep_more) {
    Stage stage;
    const auto model = doubling_model();
    const auto loaded = *stage.backend.load(stage.context, *stage.prepare(model));
    EXPECT_GT(loaded.resident_bytes, 0U);
    const auto exact = stage.prepare(model, loaded.resident_bytes);
    ASSERT_TRUE(exact);
    stage.backend.abandon(*exact);
    EXPECT_EQ(stage.prepare(model, loaded.resident_bytes - 1).error(), Status::resource_limit);
}

TEST(CpuBackend, is_prepared_from_several_threads_at_once) {
    Stage stage;
    const auto model = doubling_model();
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&stage, &model] {
            for (int k = 0; k < 10; ++k) {
                const auto prepared = stage.prepare(model);
                EXPECT_TRUE(prepared);
                stage.backend.abandon(*prepared);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST(CpuBackend, may_be_dropped_with_everything_that_it_holds) {
    Stage stage;
    const auto program = stage.load(doubling_model());
    const auto buffer = stage.allocate(64);
    for (int i = 0; i < 50; ++i) {
        const auto outcome = stage.submit(
            program, std::array{binding(buffer, 0, {0, 16}), binding(buffer, 1, {16, 16})});
        EXPECT_EQ(outcome.certainty, backend::Certainty::done);
    }
}

TEST(CpuBackend, refuses_foreign_artifacts_and_targets) {
    Stage stage;
    const auto model = doubling_model();
    const Piece piece{const_cast<std::byte*>(model.data()), model.size()};
    backend::Artifact artifact{.format = 1,
                               .target = testing::target_of(model),
                               .resident_bytes_max = 1U << 20U,
                               .payload = Reader{PieceList::of({&piece, 1})}};
    EXPECT_EQ(stage.backend.prepare(artifact).error(), Status::unsupported);
    artifact.format = tosa::artifact_format;
    artifact.target[2] = 2;  // the major version
    EXPECT_EQ(stage.backend.prepare(artifact).error(), Status::incompatible);
    artifact.target = testing::target_of(model);
    artifact.target[11] = 1;
    EXPECT_EQ(stage.backend.prepare(artifact).error(), Status::incompatible);
}

TEST(CpuBackend, refuses_a_model_cut_off_anywhere) {
    const auto model = doubling_model();
    const auto target = testing::target_of(model);
    for (std::size_t size = 0; size < model.size(); ++size) {
        const auto prepared = testing::prepare(std::span{model}.first(size), target);
        EXPECT_EQ(prepared.program, nullptr) << size;
        EXPECT_EQ(prepared.status, Status::invalid_argument) << size;
        EXPECT_EQ(prepared.refusals.size(), 1U) << size;
    }
}

// An operator of somebody else's.
tosa::Value custom(tosa::Builder& builder, tosa::Value x) {
    return builder.op(
        Op::custom, {x},
        tosa::CustomAttribute{.operator_name = "op", .domain_name = "test", .implementation = {}},
        {.dtype = DType::fp32, .shape = std::vector<std::int32_t>{4}});
}

TEST(CpuBackend, names_every_operator_that_it_does_not_have) {
    tosa::Builder builder;
    const auto x = builder.input("x", DType::fp32, {4});
    builder.output(custom(builder, x), "first");
    builder.output(builder.op(Op::add, {x, x}), "sum");
    builder.output(custom(builder, x), "second");
    const testing::ModelRun run{builder};
    EXPECT_EQ(run.status(), Status::unsupported);
    ASSERT_EQ(run.refusals().size(), 2U);
    EXPECT_EQ(run.refusals()[0],
              "The operator 0 (CUSTOM) is not among the CPU backend's operators: choose another "
              "backend.");
    EXPECT_NE(run.refusals()[1].find("The operator 2 (CUSTOM)"), std::string::npos)
        << run.refusals()[1];
}

TEST(CpuBackend, wants_variables_read_and_written_by_operators_of_their_own) {
    auto file = tosa::testing::two_additions().file();
    auto& block = tosa::testing::main_of(file);
    const auto tensor = std::ranges::find(block.tensors, block.operators[1].outputs.front(),
                                          &tosa::FileTensor::name);
    ASSERT_NE(tensor, block.tensors.end());
    tensor->is_variable = true;
    const auto model = tosa::write_file(file);
    const auto prepared = testing::prepare(model, testing::target_of(model));
    EXPECT_EQ(prepared.status, Status::unsupported);
    ASSERT_EQ(prepared.refusals.size(), 2U);
    EXPECT_EQ(prepared.refusals.front(),
              "The operator 1 (ADD) uses a variable as if it were none: put VARIABLE_READ or "
              "VARIABLE_WRITE between.");
}

TEST(CpuBackend, names_the_block_of_an_operator_that_it_does_not_have) {
    tosa::Builder inner;
    inner.output(inner.op(Op::custom, {inner.input("x", DType::fp32, {4})},
                          tosa::CustomAttribute{
                              .operator_name = "mine", .domain_name = "here", .implementation = {}},
                          {.dtype = DType::fp32, .shape = std::vector<std::int32_t>{4}}),
                 "y");
    tosa::Builder builder;
    const auto x = builder.input("x", DType::fp32, {4});
    const auto choice = builder.input("choice", DType::boolean, {1});
    builder.output(builder.cond_if(choice, {x}, inner, inner), "y");
    const testing::ModelRun run{builder};
    EXPECT_EQ(run.status(), Status::unsupported);
    ASSERT_EQ(run.refusals().size(), 2U);
    EXPECT_TRUE(
        run.refusals()[1].starts_with("The operator 0 (CUSTOM) of the block (block_1_main)"))
        << run.refusals()[1];
}

// y = x, after rounds without end if the model's first input is true.
std::vector<std::byte> spinning_model() {
    tosa::Builder condition;
    const auto choice = condition.input("choice", DType::boolean, {1});
    condition.input("x", DType::fp32, {4});
    condition.output(choice, "goes on");
    tosa::Builder body;
    const auto same = body.input("choice", DType::boolean, {1});
    const auto x = body.input("x", DType::fp32, {4});
    body.output(same, "choice");
    body.output(x, "x");
    tosa::Builder builder;
    const auto first = builder.input("choice", DType::boolean, {1});
    const auto second = builder.input("x", DType::fp32, {4});
    const auto loop = builder.while_loop({first, second}, condition, body);
    builder.output(tosa::Builder::output_of(loop, 1), "y");
    return builder.finish().value();
}

// A loop that does not end, once it runs.
class Spinning {
  public:
    Spinning() : buffer_(stage.allocate(256)) {
        stage.write(buffer_, {0.0F, 5.0F, 6.0F, 7.0F, 8.0F});
        // Both choices are there before anything runs.
        std::byte yes{1};
        const Piece piece{&yes, 1};
        Reader reader{PieceList::of({&piece, 1})};
        EXPECT_EQ(stage.backend.write(buffer_, yes_offset, reader), Status::ok);
        program_ = stage.load(spinning_model());
    }

    backend::EventHandle submit(bool goes_on, std::uint64_t timeout_ns = 0) {
        const std::uint64_t choice = goes_on ? yes_offset : 0;
        const Binding bindings[] = {binding(buffer_, 0, {.offset = choice, .bytes = 1}),
                                    {.buffer = buffer_,
                                     .range = {.offset = 4, .bytes = 16},
                                     .slot = 1,
                                     .access = Access::read},
                                    binding(buffer_, 2, {.offset = 64, .bytes = 16})};
        const auto outcome = stage.backend.submit({.queue = stage.queue,
                                                   .program = program_,
                                                   .bindings = bindings,
                                                   .timeout_ns = timeout_ns});
        return outcome.event;
    }

    // Waits until rounds are being made: what was queued is taken at once.
    void let_it_run() const { std::this_thread::sleep_for(std::chrono::milliseconds{20}); }

    std::vector<float> output() { return stage.read(buffer_, 4, 64); }

    Stage stage;

  private:
    static constexpr std::uint64_t yes_offset = 128;

    backend::BufferHandle buffer_;
    backend::ProgramHandle program_;
};

TEST(CpuBackend, runs_a_loop_to_its_end) {
    Spinning loop;
    EXPECT_EQ(loop.stage.wait(loop.submit(false)).phase, EventPhase::complete);
    EXPECT_EQ(loop.output(), (std::vector<float>{5, 6, 7, 8}));
}

TEST(CpuBackend, ends_a_loop_whose_time_is_up) {
    Spinning loop;
    const auto event = loop.submit(true, 30'000'000);
    const auto status = loop.stage.wait(event);
    EXPECT_EQ(status.phase, EventPhase::failed);
    EXPECT_EQ(status.error, Status::deadline_expired);
    EXPECT_EQ(loop.stage.wait(loop.submit(false)).phase, EventPhase::complete);
}

TEST(CpuBackend, cancels_a_loop_that_runs) {
    Spinning loop;
    const auto event = loop.submit(true);
    loop.let_it_run();
    // The wait is bounded, so on a busy machine it takes more than one try.
    while (loop.stage.backend.cancel(event) != Status::ok) {
        std::this_thread::yield();
    }
    EXPECT_EQ(loop.stage.wait(event).phase, EventPhase::cancelled);
    EXPECT_EQ(loop.stage.wait(loop.submit(false)).phase, EventPhase::complete);
}

TEST(CpuBackend, may_be_discarded_while_a_loop_runs) {
    Spinning loop;
    static_cast<void>(loop.submit(true));
    static_cast<void>(loop.submit(true));
    loop.let_it_run();
}

TEST(CpuBackend, does_not_fill_a_log_with_refusals) {
    tosa::Builder builder;
    auto x = builder.input("x", DType::fp32, {4});
    for (int i = 0; i < 100; ++i) {
        x = custom(builder, x);
    }
    builder.output(x, "y");
    const testing::ModelRun run{builder};
    ASSERT_EQ(run.refusals().size(), 65U);
    EXPECT_EQ(run.refusals().back(),
              "The CPU backend refuses more operators (36) for reasons like these.");
}

}  // namespace

}  // namespace virtaccel::backends::cpu
