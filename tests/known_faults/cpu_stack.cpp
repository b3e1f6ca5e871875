#include "tests/known_faults/cpu_stack.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/loopback/loopback.h"
#include "backends/cpu/cpu.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::known_faults {

namespace {

constexpr std::uint32_t frame_bytes = 1U << 20U;

Result<backend::AnyBackend> make_cpu() {
    return backends::cpu::make(host::heap());
}

}  // namespace

struct CpuStack::State {
    Result<backend::AnyBackend> (*maker)() = make_cpu;
    Ran ran;
    std::optional<adapters::loopback::Loopback> loopback;
    std::optional<guest::Session> session;

    State() {
        adapters::loopback::Options options;
        options.queue_size = 16;
        options.device.config.chain_descriptors_max = 16;
        options.device.config.request_bytes_max = frame_bytes;
        options.device.config.response_bytes_max = frame_bytes;
        options.device.policy = {.buffer_bytes_max = 1U << 30U,
                                 .program_resident_bytes_max = 1U << 30U};
        options.device.refusals = {.state = this, .say = [](void* self, std::string_view line) {
                                       auto& refusals = static_cast<State*>(self)->ran.refusals;
                                       refusals.append(line).append("\n");
                                   }};
        auto made =
            adapters::loopback::Loopback::make(host::heap(), backend::factory_from(maker), options);
        EXPECT_TRUE(made.has_value());
        loopback.emplace(*std::move(made));
        auto opened = guest::Session::open(loopback->transport(), host::heap());
        EXPECT_TRUE(opened.has_value());
        session.emplace(*std::move(opened));
    }

    [[nodiscard]] guest::Outcome<guest::Program> load(guest::Context& context,
                                                      std::span<const std::byte> model) {
        const auto graph = tosa::verify(model);
        const auto target = graph ? tosa::target_of(*graph) : tosa::Target{};
        auto program = context.load({.format = tosa::artifact_format,
                                     .target = tosa::encode_target(target),
                                     .artifact = model,
                                     .resident_bytes = std::uint64_t{1} << 28U});
        ran.loaded = program.has_value();
        return program;
    }

    // Inputs first, then outputs, as slots are numbered.
    [[nodiscard]] guest::Outcome<void> run(std::span<const std::byte> model,
                                           std::span<const Bytes> inputs) {
        VIRTACCEL_TRY_ASSIGN(auto context, session->create_context());
        VIRTACCEL_TRY_ASSIGN(auto program, load(context, model));
        const auto graph = tosa::verify(model);
        EXPECT_TRUE(graph.has_value());
        const auto& main = graph->main();
        EXPECT_EQ(main.inputs.size(), inputs.size());
        std::vector<guest::Buffer> buffers;
        std::vector<guest::Binding> bindings;
        buffers.reserve(inputs.size() + main.outputs.size());
        bindings.reserve(inputs.size() + main.outputs.size());
        const Usage usage = usage_known;
        for (const Bytes& input : inputs) {
            VIRTACCEL_TRY_ASSIGN(auto buffer,
                                 context.allocate({.bytes = input.size(), .usage = usage}));
            VIRTACCEL_TRY(buffer.write(0, input));
            buffers.push_back(std::move(buffer));
        }
        for (const auto output : main.outputs) {
            VIRTACCEL_TRY_ASSIGN(
                auto buffer,
                context.allocate({.bytes = graph->tensors()[output].bytes, .usage = usage}));
            buffers.push_back(std::move(buffer));
        }
        for (std::uint32_t slot = 0; slot < buffers.size(); ++slot) {
            bindings.push_back(guest::bind(slot, buffers[slot],
                                           slot < inputs.size() ? Access::read : Access::write));
        }
        VIRTACCEL_TRY_ASSIGN(auto queue, context.create_queue());
        VIRTACCEL_TRY(queue.run(program, bindings));
        Bytes output(buffers[inputs.size()].bytes());
        VIRTACCEL_TRY(buffers[inputs.size()].read(0, output));
        ran.output = std::move(output);
        return {};
    }

    [[nodiscard]] Ran end(const guest::Outcome<void>& outcome) {
        ran.status = outcome ? Status::ok : outcome.error().status;
        const auto held = loopback->endpoint().device().holdings();
        EXPECT_EQ(held.contexts, 0U);
        EXPECT_EQ(held.program_bytes, 0U);
        EXPECT_EQ(held.buffer_bytes, 0U);
        EXPECT_FALSE(session->is_lost());
        return std::exchange(ran, {});
    }
};

CpuStack::CpuStack() : state_(std::make_unique<State>()) {}

CpuStack::~CpuStack() = default;

Ran CpuStack::load(std::span<const std::byte> model) {
    return state_->end([&]() -> guest::Outcome<void> {
        VIRTACCEL_TRY_ASSIGN(auto context, state_->session->create_context());
        VIRTACCEL_TRY(state_->load(context, model));
        return {};
    }());
}

Ran CpuStack::run(std::span<const std::byte> model, std::span<const Bytes> inputs) {
    return state_->end(state_->run(model, inputs));
}

Ran CpuStack::run(const tosa::Builder& builder, std::span<const Bytes> inputs) {
    const auto model = builder.finish();
    if (!model) {
        ADD_FAILURE() << model.error().sentence.view();
        return {};
    }
    return run(*model, inputs);
}

}  // namespace virtaccel::known_faults
