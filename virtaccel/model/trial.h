#pragma once
// A device and the model of one, in step: every action goes to both, and after every action
// everything that can be seen of the device is compared with what the model says. The one thing to
// know: the first difference is the end of a trial, and comes as a sentence.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "virtaccel/base/memory.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/model/action.h"
#include "virtaccel/model/fault.h"
#include "virtaccel/model/model.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/model/stage.h"
#include "virtaccel/model/wire_text.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {

// Between the trial and its device. This one changes nothing; the tests' ones make devices that
// err.
class Line {
  public:
    Line() = default;
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    virtual ~Line() = default;

    // A request that the device is about to see.
    virtual void before(Bytes& /*frame*/) {}

    // Its answer: the bytes of the response and how many of them are used.
    virtual void after(const Bytes& /*frame*/, std::span<std::byte> /*response*/,
                       std::uint32_t& /*used_bytes*/) {}
};

// What a trial is made with. `line` outlives it.
struct Cast {
    Memory memory;
    Line* line = nullptr;
    Wrap wrap = nullptr;
};

// How often a command (by opcode) was answered with a status.
using Answers = std::map<std::pair<std::uint64_t, std::uint16_t>, std::uint64_t>;

// What a name stands for.
struct Named {
    Kind kind = Kind::context;
    std::uint64_t id = 0;
};

class Trial {
  public:
    // A sentence if there can be no device of such a world.
    [[nodiscard]] static std::expected<std::unique_ptr<Trial>, std::string> make(
        const Cast& cast, const World& world);

    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial() = default;

    // Does one action, and says where device and model part.
    [[nodiscard]] std::optional<std::string> step(const Action& action);

    [[nodiscard]] const Model& model() const { return model_; }

    // The answers of the device so far.
    [[nodiscard]] const Answers& answers() const { return answers_; }

    [[nodiscard]] const World& world() const { return world_; }

    // The loads that were deferred and are not finished, by the names of their actions.
    [[nodiscard]] std::vector<std::string> waiting() const;

    // Everything that was made, by name.
    [[nodiscard]] const std::map<std::string, Named>& names() const { return names_; }

  private:
    using Verdict = std::optional<std::string>;

    // A load whose answer is deferred: the device holds on to its bytes.
    struct Deferred {
        std::uint64_t name = 0;  // to the model
        Bytes request;
        Bytes response;
        device::PendingLoad load;
        bool is_prepared = false;
    };

    Trial(const Cast& cast, const World& world);

    [[nodiscard]] Verdict request(const Action& action);
    [[nodiscard]] Verdict end_event(const Action& action);
    [[nodiscard]] Verdict reset();
    [[nodiscard]] Verdict prepare(const Action& action);
    [[nodiscard]] Verdict finish(const Action& action);
    // The deferred load that an action names, or null.
    [[nodiscard]] Deferred* deferred_by(const Action& action);
    void arm(const Action& action);

    // Sends a frame to the device and judges the answer; the ID that it carries, or what a load
    // that is deferred is called, goes to `made`.
    [[nodiscard]] Verdict exchange(const Bytes& frame, std::uint64_t capacity, std::uint64_t pieces,
                                   std::uint64_t& made);
    // Takes over a right answer.
    [[nodiscard]] Verdict take(const Expected& expected, std::span<const std::byte> response,
                               std::uint64_t& made);
    [[nodiscard]] Verdict judge(const Expected& expected, std::span<const std::byte> frame,
                                std::span<const std::byte> response, std::uint32_t used_bytes);
    [[nodiscard]] Verdict probe_retired();
    [[nodiscard]] Verdict check_books();
    [[nodiscard]] Verdict check_contents();
    [[nodiscard]] std::uint64_t resolve(const std::string& object) const;

    World world_;
    Line* line_;
    Backstage backstage_;
    std::optional<device::Endpoint> endpoint_;
    Model model_;
    std::optional<Fault> fault_;
    std::map<std::string, Named> names_;
    std::map<std::uint64_t, std::uint64_t> staged_;  // IDs to the stage's names
    std::map<std::string, Deferred> deferred_;
    std::optional<Deferred> just_deferred_;
    Answers answers_;
    std::uint64_t request_id_ = 0;
    std::uint64_t loads_ = 0;
    std::size_t probes_ = 0;
};

// Where a schedule's trial parted: the action's index, and what was seen.
struct Parting {
    std::size_t index = 0;
    std::string what;
};

// Runs all of a schedule in a trial of its own; nothing if device and model agree to the end. The
// error is that of Trial::make.
[[nodiscard]] std::expected<std::optional<Parting>, std::string> run_schedule(
    const Cast& cast, const Schedule& schedule);

}  // namespace virtaccel::model
