#include "virtaccel/model/model.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "virtaccel/model/action.h"
#include "virtaccel/model/fault.h"
#include "virtaccel/model/wire_text.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {
namespace {

using Statuses = std::set<std::uint16_t>;

constexpr std::uint64_t context_id = 100;
constexpr std::uint64_t buffer_id = 101;
constexpr std::uint64_t program_id = 102;
constexpr std::uint64_t queue_id = 103;
constexpr std::uint64_t event_id = 104;

Setting setting(std::string key, std::uint64_t value) {
    return {.key = std::move(key), .value = {{.number = value, .object = {}}}};
}

// A model in which one of each object is live, the event pending: a fill of the whole buffer.
class PopulatedModel : public ::testing::Test {
  public:
    explicit PopulatedModel(const World& world = {}) : model(world) {
        make({.name = "c", .verb = "create_context", .settings = {}}, context_id);
        make({.name = "b",
              .verb = "allocate_buffer",
              .settings = {setting("context", context_id), setting("bytes", 16)}},
             buffer_id);
        make({.name = "p",
              .verb = "load_program",
              .settings = {setting("context", context_id), setting("operation", 2),
                           setting("operand", 7)}},
             program_id);
        make({.name = "q", .verb = "create_queue", .settings = {setting("context", context_id)}},
             queue_id);
        make({.name = "e",
              .verb = "submit",
              .settings = {setting("queue", queue_id), setting("program", program_id),
                           binding(buffer_id, 16)}},
             event_id);
    }

    static Setting binding(std::uint64_t buffer, std::uint64_t bytes) {
        return {.key = "bind",
                .value = {{.number = buffer, .object = {}},
                          {.number = 0, .object = {}},
                          {.number = bytes, .object = {}},
                          {.number = 0, .object = {}},
                          {.number = 2, .object = {}}}};
    }

    [[nodiscard]] Expected expect(const Action& action, std::optional<Fault> fault = {}) const {
        return model.expect(frame_of(action, [](const std::string&) { return 0; }, 1), 512, fault);
    }

    [[nodiscard]] Expected expect(const std::string& verb, const std::string& key, std::uint64_t id,
                                  std::optional<Fault> fault = {}) const {
        return expect({.name = {}, .verb = verb, .settings = {setting(key, id)}}, fault);
    }

    void make(const Action& action, std::uint64_t id) {
        const Expected expected = expect(action);
        EXPECT_EQ(expected.statuses, Statuses{status::ok}) << action.verb;
        EXPECT_TRUE(expected.carries_id);
        EXPECT_TRUE(model.take(expected, id));
    }

    Model model;
};

// The same where that event is all there may be.
class FullModel : public PopulatedModel {
  public:
    FullModel() : PopulatedModel(World{.events = 1}) {}
};

TEST_F(PopulatedModel, charges_whole_units) {
    EXPECT_EQ(model.books().buffer_bytes, backing_unit_bytes);
    EXPECT_EQ(model.books().program_bytes, 64U);
}

TEST_F(PopulatedModel, keeps_what_an_event_retains) {
    for (const auto& [verb, key, id] : {std::tuple{"free_buffer", "buffer", buffer_id},
                                        std::tuple{"unload_program", "program", program_id},
                                        std::tuple{"destroy_queue", "queue", queue_id},
                                        std::tuple{"destroy_context", "context", context_id},
                                        std::tuple{"destroy_event", "event", event_id}}) {
        EXPECT_EQ(expect(verb, key, id).statuses, Statuses{status::busy}) << verb;
    }
}

TEST_F(PopulatedModel, keeps_transfers_out_until_the_event_is_destroyed) {
    const Action read{.name = {},
                      .verb = "read_buffer",
                      .settings = {setting("buffer", buffer_id), setting("bytes", 2)}};
    EXPECT_EQ(expect(read).statuses, Statuses{status::busy});
    EXPECT_TRUE(model.complete(event_id));
    EXPECT_FALSE(model.complete(event_id));
    EXPECT_EQ(expect(read).statuses, Statuses{status::busy});
    EXPECT_TRUE(model.take(expect("destroy_event", "event", event_id), 0));
    const Expected answer = expect(read);
    EXPECT_EQ(answer.statuses, Statuses{status::ok});
    EXPECT_EQ(answer.content, (Content{std::byte{7}, std::byte{7}}));
}

TEST_F(PopulatedModel, lets_one_of_completion_and_cancellation_win) {
    EXPECT_TRUE(model.take(expect("cancel_event", "event", event_id), 0));
    EXPECT_FALSE(model.complete(event_id));
    EXPECT_EQ(expect("cancel_event", "event", event_id).statuses, Statuses{status::busy});
    EXPECT_EQ(expect("poll_event", "event", event_id).content.front(), std::byte{3});
}

TEST_F(PopulatedModel, takes_an_id_once) {
    const Expected another = expect("create_queue", "context", context_id);
    EXPECT_FALSE(model.take(another, buffer_id));
    EXPECT_FALSE(model.take(another, 0));
    EXPECT_TRUE(model.take(another, 200));
}

TEST_F(FullModel, weighs_the_quota_of_events_between_objects_and_ranges) {
    const auto submit = [&](std::uint64_t buffer, std::uint64_t bytes) {
        return expect({.name = {},
                       .verb = "submit",
                       .settings = {setting("queue", queue_id), setting("program", program_id),
                                    binding(buffer, bytes)}})
            .statuses;
    };
    EXPECT_EQ(submit(999, 17), Statuses{status::stale_object});
    EXPECT_EQ(submit(buffer_id, 17), Statuses{status::resource_limit});
    EXPECT_EQ(submit(buffer_id, 0), Statuses{status::invalid_argument});
}

TEST_F(PopulatedModel, is_lost_by_an_indeterminate_release) {
    EXPECT_TRUE(model.complete(event_id));
    const Fault fault{.call = Call::destroy_event, .status = status::busy, .indeterminate = true};
    const Expected answer = expect("destroy_event", "event", event_id, fault);
    EXPECT_EQ(answer.statuses, Statuses{status::device_lost});
    EXPECT_TRUE(model.take(answer, 0));
    EXPECT_TRUE(model.is_lost());
    EXPECT_EQ(model.books().quarantined, (Count{.objects = 1, .bytes = 0}));
    EXPECT_EQ(expect({.name = {}, .verb = "get_device_info", .settings = {}}).statuses,
              Statuses{status::device_lost});
    EXPECT_TRUE(model.expect_reset({}).discards);
    EXPECT_FALSE(model.expect_reset({}).may_ask_backend);
}

TEST_F(PopulatedModel, keeps_an_object_whose_release_is_rejected) {
    EXPECT_TRUE(model.complete(event_id));
    const Fault fault{.call = Call::destroy_event, .status = 77, .indeterminate = false};
    const Expected answer = expect("destroy_event", "event", event_id, fault);
    EXPECT_EQ(answer.statuses, Statuses{status::internal_error});
    EXPECT_TRUE(model.take(answer, 0));
    EXPECT_EQ(model.context_of(Kind::event, event_id), context_id);
    EXPECT_FALSE(model.is_lost());
}

TEST_F(PopulatedModel, keeps_its_backend_over_a_reset_that_resolves_everything) {
    EXPECT_FALSE(model.expect_reset({}).discards);
    EXPECT_EQ(model.expect_reset({}).held.objects, 5U);
    EXPECT_TRUE(model.fail(event_id, status::device_lost));
    EXPECT_TRUE(model.expect_reset({}).discards);
    model.reset(true);
    EXPECT_EQ(model.books(), Books{});
    EXPECT_EQ(model.retired().size(), 5U);
    EXPECT_EQ(expect("free_buffer", "buffer", buffer_id).statuses, Statuses{status::stale_object});
}

TEST_F(PopulatedModel, is_silent_only_where_the_payload_is_good) {
    const auto at = [&](const Action& action, std::uint64_t capacity) {
        return model.expect(
            frame_of(action, [](const std::string&) { return 0; }, 1), capacity, {});
    };
    const Action good{.name = {}, .verb = "create_context", .settings = {}};
    EXPECT_TRUE(at(good, 23).silent);
    EXPECT_FALSE(at(good, 24).silent);
    const Action bad{.name = {}, .verb = "create_context", .settings = {setting("reserved", 1)}};
    EXPECT_EQ(at(bad, 16).statuses, Statuses{status::invalid_argument});
    EXPECT_TRUE(at(bad, 15).silent);
}

}  // namespace
}  // namespace virtaccel::model
