// Builds a small classifier with the model builder, and runs it through the whole stack: an image
// of 4 x 4 goes through a convolution, a bound, a pool and a matrix product, and the largest score
// names the class. What a converter writes from a trained network is a file with bytes like these.

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
#include "host/memory.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace {

namespace guest = virtaccel::guest;
namespace loopback = virtaccel::adapters::loopback;
namespace tosa = virtaccel::tosa;
using tosa::DType;
using virtaccel::Access;
using virtaccel::Usage;
using virtaccel::UsageBit;

constexpr std::int32_t classes = 3;

using Image = std::array<float, 16>;

// Shapes and types of results follow from the operators. A mistake is kept until finish(), which
// says in one sentence what it was, and checks the model as a device will.
tosa::Checked<std::vector<std::byte>> classifier() {
    tosa::Builder builder;
    const auto image = builder.input("image", DType::fp32, {1, 4, 4, 1});
    // Two filters of 3 x 3 (the mean, and what is above less what is below), and a margin of zeros.
    std::array<float, 18> filters{};
    for (std::size_t i = 0; i < 9; ++i) {
        filters.at(i) = 1.0F / 9;
        filters.at(9 + i) = i < 3 ? 1.0F : (i < 6 ? 0.0F : -1.0F);
    }
    const auto features =
        builder.conv2d(image, builder.constant(DType::fp32, {2, 3, 3, 1}, filters),
                       builder.zeros(DType::fp32, {2}),
                       {.pad = {1, 1, 1, 1},
                        .stride = {1, 1},
                        .dilation = {1, 1},
                        .local_bound = false,
                        .accumulator = DType::fp32});
    const auto pooled =
        builder.max_pool2d(builder.clamp(features, 0, 6), {.kernel = {4, 4},
                                                           .stride = {1, 1},
                                                           .pad = {},
                                                           .accumulator = DType::unknown,
                                                           .nan_mode = tosa::NanMode::propagate});
    const auto weights = builder.constant({1, 2, classes}, {1, 0, 1, -1, -1, 2});
    const auto scores = builder.matmul(builder.reshape(pooled, {1, 1, 2}), weights);
    builder.output(scores, "scores");
    return builder.finish();
}

using Scores = std::array<float, classes>;

guest::Outcome<Scores> run(guest::Session& session, std::span<const std::byte> model,
                           const Image& image) {
    const auto target = tosa::encode_target(tosa::target_of(tosa::verify(model).value()));
    VIRTACCEL_TRY_ASSIGN(auto context, session.create_context());
    VIRTACCEL_TRY_ASSIGN(
        auto program,
        context.load({.format = tosa::artifact_format, .target = target, .artifact = model}));
    constexpr Usage input_usage = Usage{UsageBit::transfer_destination} | UsageBit::program_input;
    constexpr Usage output_usage = Usage{UsageBit::transfer_source} | UsageBit::program_output;
    VIRTACCEL_TRY_ASSIGN(auto input,
                         context.allocate({.bytes = sizeof(Image), .usage = input_usage}));
    VIRTACCEL_TRY_ASSIGN(auto output,
                         context.allocate({.bytes = sizeof(Scores), .usage = output_usage}));
    VIRTACCEL_TRY_ASSIGN(auto queue, context.create_queue());
    VIRTACCEL_TRY(input.write(0, std::as_bytes(std::span{image})));
    VIRTACCEL_TRY(queue.run(
        program, {guest::bind(0, input, Access::read), guest::bind(1, output, Access::write)}));
    Scores scores{};
    VIRTACCEL_TRY(output.read(0, std::as_writable_bytes(std::span{scores})));
    return scores;
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
    const auto model = classifier();
    if (!model) {
        return failed("The model", std::string{model.error().sentence.view()});
    }
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
    // Bright above, dark below: the second filter answers, and the third class listens to it.
    Image image{};
    for (std::size_t i = 0; i < image.size() / 2; ++i) {
        image.at(i) = 1;
    }
    const auto scores = run(*session, *model, image);
    if (!scores) {
        return failed("The session", scores.error());
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < scores->size(); ++i) {
        best = scores->at(i) > scores->at(best) ? i : best;
    }
    (void)std::printf("class %zu of %zu, in a model of %zu bytes\n", best, scores->size(),
                      model->size());
    return 0;
} catch (const std::exception& thrown) {
    return failed("The program", std::string{thrown.what()});
}
