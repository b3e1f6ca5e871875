#pragma once
// A small device behind a scripted port, with a transport for a session: objects with parents and
// references, buffers with content, events that take some polls to end. The one thing to know: it
// is right by default, and a test changes what it does next.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest::testing {

class FakeDevice : public ScriptedPort {
  public:
    struct Object {
        wire::Opcode made_by = wire::Opcode::create_context;
        std::uint64_t parent = 0;
        std::vector<std::uint64_t> references;
        std::vector<std::byte> content;
        std::uint32_t polls = 0;
        bool cancelled = false;
    };

    wire::Config config = rig_config();
    DeviceIdentity identity = rig_identity();

    // Answers that come instead of the device's own, each once, to the next request of its opcode.
    std::deque<std::pair<wire::Opcode, Answer>> instead;

    // How many polls an event is pending for, and its end then.
    std::uint32_t polls_pending = 0;
    wire::EventState end{.state = 1, .error = 0, .reserved = {}};

    // Whether requests are served at once, when the driver waits, or never.
    enum class Serves : std::uint8_t { at_kick, at_wait, never } serves = Serves::at_kick;

    // How many waits end early before one serves.
    std::uint32_t spurious_wakes = 0;
    std::uint64_t spurious_wake_ns = 0;

    Result<wire::Config> reset_result = rig_config();

    std::map<std::uint64_t, Object> objects;
    std::map<wire::Opcode, std::uint64_t> served;
    std::uint64_t now_ns = 1;
    std::uint64_t pauses = 0;
    std::uint64_t resets = 0;

    // What a session needs. `frames` is the memory for its chains.
    [[nodiscard]] Transport transport(const Memory& frames) {
        return {.port = this,
                .waiter = {.state = this, .wait = wait, .pause = pause, .now_ns = now},
                .config = config,
                .frames = frames,
                .reaches_caller_memory = true,
                .reset = reset,
                .reset_state = this};
    }

    void kick() override {
        ScriptedPort::kick();
        if (serves == Serves::at_kick) {
            serve();
        }
    }

    void serve() {
        while (!posted.empty()) {
            answer(answer_of(posted.front()));
        }
    }

  private:
    [[nodiscard]] Answer answer_of(const Posted& request) {
        const auto opcode = static_cast<wire::Opcode>(std::uint16_t{request.header.opcode});
        ++served[opcode];
        if (!instead.empty() && instead.front().first == opcode) {
            auto answer = std::move(instead.front().second);
            instead.pop_front();
            return answer;
        }
        return execute(opcode, request);
    }

    [[nodiscard]] Answer execute(wire::Opcode opcode, const Posted& request);
    [[nodiscard]] Answer make(wire::Opcode opcode, std::uint64_t parent, Object object);
    [[nodiscard]] Answer destroy(std::uint64_t raw);
    [[nodiscard]] Answer transfer(wire::Opcode opcode, const Posted& request);
    [[nodiscard]] Answer submit(const Posted& request);
    [[nodiscard]] Answer poll(std::uint64_t raw);
    [[nodiscard]] Answer cancel(std::uint64_t raw);
    [[nodiscard]] bool is_used(std::uint64_t raw) const;
    [[nodiscard]] bool is_pending(const Object& event) const;

    static bool wait(void* self, std::uint64_t timeout_ns);
    static void pause(void* self, std::uint64_t duration_ns);
    static std::uint64_t now(void* self);
    static Result<wire::Config> reset(void* self);

    std::uint64_t next_id_ = 100;
};

}  // namespace virtaccel::guest::testing
