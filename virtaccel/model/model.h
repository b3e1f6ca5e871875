#pragma once
// A device as the protocol's text describes it, slow and plain: which answers to a request are
// right, and what becomes of the objects. The one thing to know: it learns object IDs from the
// device's answers, since an ID is any number never used before, and decides everything else
// itself.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "virtaccel/model/fault.h"
#include "virtaccel/model/fixture.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {

class Model;

enum class Kind : std::uint8_t { context, buffer, program, queue, event };

// What a command does to the model once its answer is known; `id` is the ID it carries, if any.
using Effect = std::function<void(Model& model, std::uint64_t id)>;

// The right answers to one request.
struct Expected {
    bool silent = false;               // used length 0, nothing written
    bool deferred = false;             // a load, whose answer comes later
    std::set<std::uint16_t> statuses;  // more than one where the text leaves it open
    bool carries_id = false;           // the payload is an ID never seen before
    Content content;                   // the payload, if it is not an ID
    bool may_ask_backend = false;      // steps 1 to 7 of spec §5 call no backend
    Effect effect;

    [[nodiscard]] static Expected silence();
    [[nodiscard]] static Expected refusal(std::uint16_t status);
    // The backend was asked, and it went well.
    [[nodiscard]] static Expected success(Effect effect);
    [[nodiscard]] static Expected creation(Effect effect);
};

struct Count {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const Count&, const Count&) = default;
};

// What a device says it holds.
struct Books {
    std::uint64_t contexts = 0;
    std::uint64_t buffers = 0;
    std::uint64_t programs = 0;
    std::uint64_t queues = 0;
    std::uint64_t events = 0;
    std::uint64_t buffer_bytes = 0;
    std::uint64_t program_bytes = 0;
    Count quarantined;
    friend bool operator==(const Books&, const Books&) = default;
};

// A LOAD_PROGRAM that is not answered yet. The backend may have looked at its artifact already.
struct WaitingLoad {
    std::vector<std::byte> payload;
    bool is_prepared = false;
    std::optional<Fault> prepared_with;
};

// What a reset must come to (spec §7).
struct ExpectedReset {
    bool discards = false;
    bool may_ask_backend = true;
    Count held;  // released and newly quarantined together
};

struct Buffer {
    std::uint64_t context = 0;
    std::uint64_t usage = 0;
    std::uint64_t backing_bytes = 0;
    Content content;
};

struct Program {
    std::uint64_t context = 0;
    FixtureProgram code;
};

struct Event {
    std::uint64_t context = 0;
    std::uint64_t queue = 0;
    std::uint64_t program = 0;
    FixtureProgram code;
    std::vector<Binding> bindings;  // in slot order
    std::uint64_t state = 0;
    std::uint16_t error = 0;
};

class Model {
  public:
    explicit Model(const World& world) : world_(world) {}

    // What is right to answer to `frame`, with `capacity` writable bytes, if the backend has
    // `fault`.
    [[nodiscard]] Expected expect(std::span<const std::byte> frame, std::uint64_t capacity,
                                  const std::optional<Fault>& fault) const;

    // Takes over what an answer that was right has done. False if its ID is zero or was used. For a
    // load that is deferred, `id` is what the caller calls it.
    [[nodiscard]] bool take(const Expected& expected, std::uint64_t id);

    // The backend ends an event; false if that is already decided, or there is no such event.
    [[nodiscard]] bool complete(std::uint64_t event);
    [[nodiscard]] bool fail(std::uint64_t event, std::uint16_t error);

    // What is right when a deferred load ends; nothing if a reset dropped it.
    [[nodiscard]] std::optional<Expected> expect_finish(std::uint64_t load,
                                                        const std::optional<Fault>& fault) const;

    // The backend looks at the artifact of a deferred load before that.
    void prepare(std::uint64_t load, const std::optional<Fault>& fault);

    // A load is not deferred any more.
    void end_load(std::uint64_t load) {
        waiting_.erase(load);
        dropped_.erase(load);
    }

    [[nodiscard]] ExpectedReset expect_reset(const std::optional<Fault>& fault) const;
    void reset(bool discards);

    // Every command is answered DEVICE_LOST.
    [[nodiscard]] bool is_lost() const { return lost_; }

    [[nodiscard]] Books books() const;

    [[nodiscard]] const std::map<std::uint64_t, Buffer>& buffers() const { return buffers_; }

    // IDs that name nothing any more, in the order in which they ended.
    [[nodiscard]] const std::vector<std::pair<Kind, std::uint64_t>>& retired() const {
        return retired_;
    }

    // Whether `id` names a live object of that kind, and the context it belongs to (itself, if it
    // is one).
    [[nodiscard]] std::optional<std::uint64_t> context_of(Kind kind, std::uint64_t id) const;

  private:
    using Payload = std::span<const std::byte>;
    using MaybeFault = std::optional<Fault>;

    [[nodiscard]] Expected act(std::uint64_t opcode, Payload payload,
                               const MaybeFault& fault) const;
    [[nodiscard]] Expected device_info() const;
    [[nodiscard]] Expected create_context(const MaybeFault& fault) const;
    [[nodiscard]] Expected create_queue(std::uint64_t context, const MaybeFault& fault) const;
    [[nodiscard]] Expected allocate(Payload payload, const MaybeFault& fault) const;
    [[nodiscard]] Expected write(Payload payload, const MaybeFault& fault) const;
    [[nodiscard]] Expected read(Payload payload, const MaybeFault& fault) const;
    [[nodiscard]] Expected load(Payload payload, const MaybeFault& fault) const;
    [[nodiscard]] Expected load_prepared(Payload payload, const MaybeFault& prepare,
                                         const MaybeFault& load) const;
    [[nodiscard]] Expected submit(Payload payload, const MaybeFault& fault) const;
    [[nodiscard]] Expected poll(std::uint64_t event) const;
    [[nodiscard]] Expected cancel(std::uint64_t event) const;
    [[nodiscard]] Expected release(Kind kind, std::uint64_t id, const MaybeFault& fault) const;

    // The backend was asked, and answered `status`: nothing has happened.
    [[nodiscard]] static Expected failure(std::uint16_t status);

    [[nodiscard]] std::uint16_t judge_transfer(Payload payload, std::uint64_t usage) const;
    [[nodiscard]] std::uint16_t judge_submission(Payload payload) const;
    [[nodiscard]] bool is_live(Kind kind, std::uint64_t id) const;
    [[nodiscard]] bool is_used(Kind kind, std::uint64_t id) const;
    [[nodiscard]] std::uint64_t count_in(Kind kind, std::uint64_t context) const;
    [[nodiscard]] std::uint64_t buffer_bytes() const;
    [[nodiscard]] std::uint64_t program_bytes() const;
    // What loads that wait may come to cost.
    [[nodiscard]] std::uint64_t waiting_bytes() const;
    [[nodiscard]] std::uint64_t charge_of(Kind kind, std::uint64_t id) const;

    void execute(const Event& event);
    void erase(Kind kind, std::uint64_t id);
    void quarantine(Kind kind, std::uint64_t id);

    World world_;
    std::set<std::uint64_t> contexts_;
    std::map<std::uint64_t, Buffer> buffers_;
    std::map<std::uint64_t, Program> programs_;
    std::map<std::uint64_t, std::uint64_t> queues_;  // to their contexts
    std::map<std::uint64_t, Event> events_;
    std::map<std::uint64_t, WaitingLoad> waiting_;
    std::set<std::uint64_t> dropped_;  // by a reset, while the harness still has them
    std::set<std::uint64_t> issued_;
    std::vector<std::pair<Kind, std::uint64_t>> retired_;
    Count quarantined_;
    bool lost_ = false;
};

}  // namespace virtaccel::model
