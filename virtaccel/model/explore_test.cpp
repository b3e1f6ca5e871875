// The device and the model agree on random schedules: a few when a change is tested, and as many as
// the environment asks for (VIRTACCEL_MODEL_SEED, _SEEDS and _STEPS) otherwise.
#include "virtaccel/model/explore.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/model/action.h"
#include "virtaccel/model/trial.h"
#include "virtaccel/model/wire_text.h"

namespace virtaccel::model {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t usual) {
    const char* const text = std::getenv(name);
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// Agreement means little where nothing happened: every command succeeds somewhere, and each of the
// refusals that are hard to come by is met.
void expect_reach(const Answers& answers) {
    for (const Verb& verb : request_verbs()) {
        EXPECT_TRUE(answers.contains({verb.opcode, status::ok})) << verb.name;
        EXPECT_TRUE(answers.contains({verb.opcode, status::device_lost})) << verb.name;
    }
    constexpr std::array<std::pair<std::uint64_t, std::uint16_t>, 21> rare{{
        {opcode::create_context, status::resource_limit},
        {opcode::destroy_context, status::busy},
        {opcode::allocate_buffer, status::resource_limit},
        {opcode::allocate_buffer, status::unsupported},
        {opcode::free_buffer, status::busy},
        {opcode::write_buffer, status::busy},
        {opcode::write_buffer, status::permission_denied},
        {opcode::read_buffer, status::busy},
        {opcode::read_buffer, status::out_of_bounds},
        {opcode::read_buffer, status::resource_limit},
        {opcode::load_program, status::incompatible},
        {opcode::load_program, status::resource_limit},
        {opcode::unload_program, status::busy},
        {opcode::create_queue, status::resource_limit},
        {opcode::destroy_queue, status::busy},
        {opcode::submit, status::resource_limit},
        {opcode::submit, status::out_of_bounds},
        {opcode::submit, status::permission_denied},
        {opcode::submit, status::incompatible},
        {opcode::cancel_event, status::busy},
        {opcode::destroy_event, status::busy},
    }};
    for (const auto& answer : rare) {
        EXPECT_TRUE(answers.contains(answer)) << answer.first << ' ' << answer.second;
    }
}

TEST(Device, agrees_with_the_model_on_random_schedules) {
    const Search search{.first_seed = number_from_environment("VIRTACCEL_MODEL_SEED", 1),
                        .seeds = number_from_environment("VIRTACCEL_MODEL_SEEDS", 150),
                        .steps = number_from_environment("VIRTACCEL_MODEL_STEPS", 300)};
    const auto explored = explore({.memory = host::heap()}, search);
    ASSERT_TRUE(explored.has_value()) << explored.error();
    EXPECT_FALSE(explored->finding.has_value()) << to_text(*explored->finding);
    EXPECT_EQ(explored->actions, search.seeds * search.steps);
    expect_reach(explored->answers);
    RecordProperty("schedules", std::to_string(explored->schedules));
    RecordProperty("actions", std::to_string(explored->actions));
}

}  // namespace
}  // namespace virtaccel::model
