// A whole guest and its device in one process: builds the model y = x + x, loads it through the
// protocol, runs it on the processor and prints what came back.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "adapters/loopback/loopback.h"
#include "backends/cpu/cpu.h"
#include "host/error.h"
#include "host/memory.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace {

namespace guest = virtaccel::guest;
namespace loopback = virtaccel::adapters::loopback;
namespace tosa = virtaccel::tosa;
using virtaccel::Access;
using virtaccel::Usage;
using virtaccel::UsageBit;

using Floats = std::array<float, 4>;

// The flatbuffer of y = x + x; a model that comes from a converter is a file with the same bytes.
std::vector<std::byte> model_of_a_sum() {
    tosa::Builder builder;
    const auto x = builder.input("x", tosa::DType::fp32, {Floats{}.size()});
    builder.output(builder.op(tosa::Op::add, {x, x}), "y");
    return builder.finish().value();
}

// The guest's side: knows a transport and nothing of what is behind it.
guest::Outcome<Floats> run(guest::Session& session, std::span<const std::byte> model,
                           const Floats& x) {
    const auto target = tosa::encode_target(tosa::target_of(tosa::verify(model).value()));
    VIRTACCEL_TRY_ASSIGN(auto context, session.create_context());
    VIRTACCEL_TRY_ASSIGN(
        auto program,
        context.load({.format = tosa::artifact_format, .target = target, .artifact = model}));
    constexpr Usage input_usage = Usage{UsageBit::transfer_destination} | UsageBit::program_input;
    constexpr Usage output_usage = Usage{UsageBit::transfer_source} | UsageBit::program_output;
    VIRTACCEL_TRY_ASSIGN(auto input, context.allocate({.bytes = sizeof x, .usage = input_usage}));
    VIRTACCEL_TRY_ASSIGN(auto output, context.allocate({.bytes = sizeof x, .usage = output_usage}));
    VIRTACCEL_TRY_ASSIGN(auto queue, context.create_queue());

    VIRTACCEL_TRY(input.write(0, std::as_bytes(std::span{x})));
    VIRTACCEL_TRY(queue.run(
        program, {guest::bind(0, input, Access::read), guest::bind(1, output, Access::write)}));
    Floats y{};
    VIRTACCEL_TRY(output.read(0, std::as_writable_bytes(std::span{y})));
    return y;
}

// The host's side: how much the guest may ask for.
loopback::Options limits() {
    constexpr std::uint64_t budget_bytes = std::uint64_t{256} << 20U;
    loopback::Options options;
    options.device.config.request_bytes_max = 1U << 20U;
    options.device.config.response_bytes_max = 1U << 20U;
    options.device.config.chain_descriptors_max = 16;
    options.device.policy = {.buffer_bytes_max = budget_bytes,
                             .program_resident_bytes_max = budget_bytes};
    return options;
}

int failed(const char* what, const std::string& why) {
    (void)std::fprintf(stderr, "%s: %s\n", what, why.c_str());
    return 1;
}

int failed(const char* what, const guest::Failure& failure) {
    std::string room(guest::description_bytes_max, '\0');
    return failed(what, std::string{guest::describe(failure, room)});
}

}  // namespace

int main() try {
    const auto& heap = virtaccel::host::heap();
    auto make_cpu = [&heap] { return virtaccel::backends::cpu::make(heap); };
    auto device =
        loopback::Loopback::make(heap, virtaccel::backend::factory_from(make_cpu), limits());
    if (!device) {
        return failed("The device", device.error().message);
    }
    auto session = guest::Session::open(device->transport(), heap);
    if (!session) {
        return failed("The session", session.error());
    }
    const auto y = run(*session, model_of_a_sum(), {1, 2, 3, 4});
    if (!y) {
        return failed("The model", y.error());
    }
    (void)std::printf("%g %g %g %g\n", static_cast<double>((*y)[0]), static_cast<double>((*y)[1]),
                      static_cast<double>((*y)[2]), static_cast<double>((*y)[3]));
    return 0;
} catch (const std::exception& thrown) {
    return failed("The program", std::string{thrown.what()});
}
