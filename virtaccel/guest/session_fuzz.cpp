// A session, and objects that clean up after themselves, on a device that is hostile, slow, or
// silent: every call ends, whatever is dropped when, and no memory stays behind.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/hostile_answer.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/records.h"

namespace {

namespace guest = virtaccel::guest;
namespace queue = virtaccel::queue;
namespace wire = virtaccel::wire;

using guest::testing::hostile_answer;
using guest::testing::rig_config;
using guest::testing::rig_identity;
using virtaccel::Piece;
using virtaccel::testing::Choices;
using virtaccel::testing::CountingMemory;

constexpr std::size_t data_bytes = 700;
constexpr std::size_t kept_max = 6;
// After so many calls a session is cut off, as a device that never says no could keep it busy.
constexpr std::size_t steps_max = 60;

// The device, and the wires to it. It answers when it is kicked, later, or never.
class Device final : public queue::DriverPort {
  public:
    explicit Device(Choices& choices) : choices_(choices) {}

    [[nodiscard]] queue::Posted post(std::span<const Piece> readable,
                                     std::span<const Piece> writable,
                                     std::uint64_t cookie) override {
        if (broken_) {
            return queue::Posted::broken;
        }
        if (choices_.one_in(64)) {
            return queue::Posted::full;
        }
        wire::RequestHeader header;
        virtaccel::Reader reader{virtaccel::PieceList::of(readable)};
        VIRTACCEL_CHECK(reader.copy_to(&header, sizeof header));
        outstanding_.push_back(
            {.header = header, .writable = {writable.begin(), writable.end()}, .cookie = cookie});
        return queue::Posted::ok;
    }

    void kick() override {
        if (!choices_.one_in(16)) {
            answer();
        }
    }

    [[nodiscard]] std::optional<queue::Completion> next() override {
        if (completions_.empty()) {
            return std::nullopt;
        }
        const auto completion = completions_.front();
        completions_.pop_front();
        return completion;
    }

    [[nodiscard]] bool broken() const override { return broken_; }

    bool want_notifications(bool /*wanted*/) override { return !completions_.empty(); }

    [[nodiscard]] std::uint32_t chain_pieces_max() const override { return 8; }

    [[nodiscard]] std::uint32_t depth_max() const override { return 4; }

    [[nodiscard]] guest::Transport transport(const virtaccel::Memory& frames) {
        return {.port = this,
                .waiter = {.state = this, .wait = &wait, .pause = &pause, .now_ns = &now_ns},
                .config = rig_config(),
                .frames = frames,
                .reaches_caller_memory = choices_.one_in(2),
                .reset = &reset,
                .reset_state = this};
    }

  private:
    struct Request {
        wire::RequestHeader header;
        std::vector<Piece> writable;
        std::uint64_t cookie = 0;
    };

    void answer() {
        for (const Request& request : std::exchange(outstanding_, {})) {
            const auto used =
                hostile_answer(choices_, request.header, request.writable, rig_identity());
            auto cookie = request.cookie;
            if (choices_.one_in(32)) {
                cookie = choices_.byte();
            }
            completions_.push_back({.cookie = cookie, .used_bytes = used});
        }
        broken_ = broken_ || choices_.one_in(64);
    }

    static bool wait(void* state, std::uint64_t timeout_ns) {
        auto& self = *static_cast<Device*>(state);
        if (self.choices_.one_in(2)) {
            self.answer();
            return true;
        }
        self.now_ += timeout_ns;
        return false;
    }

    static void pause(void* state, std::uint64_t duration_ns) {
        static_cast<Device*>(state)->now_ += duration_ns + 1;
    }

    static std::uint64_t now_ns(void* state) { return static_cast<Device*>(state)->now_; }

    static virtaccel::Result<wire::Config> reset(void* state) {
        auto& self = *static_cast<Device*>(state);
        self.outstanding_.clear();
        self.completions_.clear();
        self.broken_ = false;
        if (self.choices_.one_in(8)) {
            return virtaccel::fail(virtaccel::Status::device_lost);
        }
        wire::Config config = rig_config();
        if (self.choices_.one_in(8)) {
            config.response_bytes_max = static_cast<std::uint32_t>(self.choices_.number(2));
        }
        return config;
    }

    Choices& choices_;
    std::deque<Request> outstanding_;
    std::deque<queue::Completion> completions_;
    std::uint64_t now_ = 1;
    bool broken_ = false;
};

class Fuzz {
  public:
    explicit Fuzz(Choices choices) : choices_(choices) {}

    void run() {
        open_and_play();
        // What is left outlives its session.
        contexts_.clear();
        buffers_.clear();
        programs_.clear();
        queues_.clear();
        events_.clear();
        VIRTACCEL_CHECK(memory_.live_blocks() == 0);
    }

  private:
    void open_and_play() {
        auto session = guest::Session::open(device_.transport(memory_.memory()), memory_.memory(),
                                            {.copied_bytes_max = 64, .staging_bytes = 256});
        if (session) {
            play(*session);
        }
    }

    void play(guest::Session& session) {
        for (std::size_t i = 0; i < steps_max && !choices_.done(); ++i) {
            step(session);
        }
        // In an order that the input chooses.
        while (choices_.one_in(2)) {
            drop();
        }
    }

    void step(guest::Session& session) {
        switch (choices_.below(14)) {
            case 0:
                return keep(contexts_, session.create_context());
            case 1:
                return with(contexts_, [&](guest::Context& context) {
                    keep(buffers_, context.allocate({.bytes = 1 + choices_.number(2),
                                                     .usage = virtaccel::Usage{0x1f}}));
                });
            case 2:
                return with(contexts_, [&](guest::Context& context) {
                    keep(programs_, context.load({.format = 1, .artifact = some_data()}));
                });
            case 3:
                return with(contexts_, [&](guest::Context& context) {
                    keep(queues_, context.create_queue());
                });
            case 4:
                return with(buffers_, [&](guest::Buffer& buffer) {
                    static_cast<void>(buffer.write(choices_.byte(), some_data()));
                });
            case 5:
                return with(buffers_, [&](guest::Buffer& buffer) {
                    static_cast<void>(buffer.read(choices_.byte(), some_data()));
                });
            case 6:
            case 7:
                return submit();
            case 8:
                return with(events_, [&](guest::Event& event) {
                    static_cast<void>(event.poll());
                    static_cast<void>(event.wait(1 + choices_.byte()));
                });
            case 9:
                return with(events_,
                            [](guest::Event& event) { static_cast<void>(event.cancel()); });
            case 10:
                return static_cast<void>(session.recover());
            case 11:
                return static_cast<void>(session.device_info());
            default:
                return drop();
        }
    }

    std::span<std::byte> some_data() {
        return std::span{data_}.first(1 + choices_.number(2) % data_bytes);
    }

    void submit() {
        with(queues_, [&](guest::Queue& queue) {
            with(programs_, [&](guest::Program& program) {
                with(buffers_, [&](guest::Buffer& buffer) {
                    const std::array bindings{
                        guest::bind(choices_.byte(), buffer, virtaccel::Access::read_write)};
                    if (choices_.one_in(2)) {
                        static_cast<void>(queue.run(program, bindings));
                    } else {
                        keep(events_, queue.submit(program, bindings, choices_.byte()));
                    }
                });
            });
        });
    }

    template <class Object, class Call>
    void with(std::vector<Object>& objects, Call call) {
        if (!objects.empty()) {
            call(objects[choices_.byte() % objects.size()]);
        }
    }

    template <class Object>
    void keep(std::vector<Object>& objects, guest::Outcome<Object> made) {
        if (made && objects.size() < kept_max) {
            objects.push_back(*std::move(made));
        }
    }

    template <class Object>
    void drop_one(std::vector<Object>& objects) {
        if (objects.empty()) {
            return;
        }
        const auto at = choices_.byte() % objects.size();
        if (choices_.one_in(2)) {
            static_cast<void>(objects[at].release());
        }
        objects.erase(objects.begin() + static_cast<std::ptrdiff_t>(at));
    }

    void drop() {
        switch (choices_.below(5)) {
            case 0:
                return drop_one(contexts_);
            case 1:
                return drop_one(buffers_);
            case 2:
                return drop_one(programs_);
            case 3:
                return drop_one(queues_);
            default:
                return drop_one(events_);
        }
    }

    Choices choices_;
    CountingMemory memory_{virtaccel::host::heap()};
    Device device_{choices_};
    std::array<std::byte, data_bytes> data_{};
    std::vector<guest::Context> contexts_;
    std::vector<guest::Buffer> buffers_;
    std::vector<guest::Program> programs_;
    std::vector<guest::Queue> queues_;
    std::vector<guest::Event> events_;
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Fuzz{Choices{{data, bytes}}}.run();
    return 0;
}
