#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "host/memory.h"
#include "tests/fuzz/seeds.h"
#include "tools/virtaccel/recording.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/model/action.h"
#include "virtaccel/model/generator.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/model/trial.h"
#include "virtaccel/model/wire_text.h"
#include "virtaccel/model/world.h"

namespace virtaccel::fuzz {

namespace {

constexpr std::uint64_t sessions = 8;
constexpr std::size_t steps = 40;

// Writes down what goes over the line.
class Recorder final : public model::Line {
  public:
    void after(const model::Bytes& frame, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        const auto used = response.first(used_bytes);
        recording.entries.emplace_back(
            cli::Exchange{.request = frame,
                          .capacity = static_cast<std::uint32_t>(response.size()),
                          .response = {used.begin(), used.end()}});
    }

    cli::Recording recording{.config = {}, .backend = "mock", .entries = {}};
};

// The limits that device_fuzz.cpp has where its input says nothing.
model::World usual_world() {
    model::World world;
    world.buffers = 4;
    world.programs = 4;
    world.events = 5;
    world.artifact_bytes = 64;
    world.response_bytes = 300;
    world.buffer_budget_bytes = 4096;
    world.program_budget_bytes = 1024;
    return world;
}

// The frames of a recording as steps of device_fuzz.cpp.
Bytes as_steps(const cli::Recording& recording) {
    constexpr std::size_t world_bytes = 14;
    constexpr std::uint8_t raw_frame = 21;
    constexpr std::uint8_t most = 255;
    Bytes input(world_bytes);
    // No call of the backend fails.
    input.insert(input.end(), {most, 0, 0, 0});
    for (const cli::Entry& entry : recording.entries) {
        const auto* const exchange = std::get_if<cli::Exchange>(&entry);
        if (exchange == nullptr || exchange->request.size() > most) {
            continue;
        }
        input.insert(input.end(),
                     {raw_frame, most, static_cast<std::uint8_t>(exchange->request.size())});
        std::ranges::transform(exchange->request, std::back_inserter(input),
                               [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    }
    return input;
}

void add_session(Seeds& seeds, std::uint64_t seed) {
    const std::string name = "session_" + std::to_string(seed);
    model::Generator generator{seed};
    model::Schedule schedule{.world = seed % 2 == 0 ? generator.world() : usual_world(),
                             .actions = {}};
    Recorder recorder;
    const model::World& world = schedule.world;
    recorder.recording.config.chain_descriptors_max = 16;
    recorder.recording.config.request_bytes_max = static_cast<std::uint32_t>(world.request_bytes);
    recorder.recording.config.response_bytes_max = static_cast<std::uint32_t>(world.response_bytes);
    auto trial = model::Trial::make({.memory = host::heap(), .line = &recorder}, world);
    VIRTACCEL_CHECK(trial.has_value());
    for (std::size_t i = 0; i < steps; ++i) {
        model::Action action = generator.next(**trial);
        if (action.verb == "reset") {
            recorder.recording.entries.emplace_back(cli::ResetMark{});
        }
        schedule.actions.push_back(std::move(action));
        VIRTACCEL_CHECK(!(*trial)->step(schedule.actions.back()));
    }
    seeds.add("model_schedule", name, model::to_text(schedule, "A random session"));
    const auto recording = cli::encode(recorder.recording);
    Bytes file;
    std::ranges::transform(recording, std::back_inserter(file),
                           [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    seeds.add("tools_virtaccel_recording", name, file);
    if (seed % 2 != 0) {
        seeds.add("model_device", name, as_steps(recorder.recording));
    }
}

// A life of every kind of object, in the steps of device_fuzz.cpp.
Bytes whole_life() {
    Bytes input(14);
    input.insert(input.end(), {255, 0, 0, 0});
    const auto add = [&input](std::initializer_list<std::uint8_t> bytes) {
        input.insert(input.end(), bytes);
    };
    add({0, 0});                                                     // GET_DEVICE_INFO
    add({1, 0, 0, 0});                                               // CREATE_CONTEXT
    add({3, 0, 0, 15, 0, 0, 0, 0, 0, 0});                            // ALLOCATE_BUFFER
    add({7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 7, 0});  // LOAD_PROGRAM
    add({9, 0, 0, 0, 0, 0});                                         // CREATE_QUEUE
    add({12, 0, 0});                                                 // POLL_EVENT of nobody
    add({20});                                                       // a reset
    return input;
}

}  // namespace

void add_sessions(Seeds& seeds) {
    for (std::uint64_t seed = 1; seed <= sessions; ++seed) {
        add_session(seeds, seed);
    }
    seeds.add("model_device", "whole_life", whole_life());
}

}  // namespace virtaccel::fuzz
