// The cases that the tables of faults.h describe.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/faults.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::rules {

namespace {

bool needs_event(const CommandRules& command) {
    return std::ranges::any_of(command.ids,
                               [](const IdField& field) { return field.kind == Kind::event; });
}

bool applies(const Fault& fault, const Cast& cast) {
    return fault.lacks == nullptr || fault.lacks(cast).empty();
}

// One fault, on a request that is good otherwise.
Check refuse_one(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    const CommandRules& command = *input.row.command;
    const Fault& fault = *input.row.fault;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, needs_event(command)));
    if (!applies(fault, cast)) {
        return skipped(fault.lacks(cast));
    }
    Draft draft = command.good(stage, cast);
    fault.bend(draft, cast);
    VIRTACCEL_TRY(
        expect_answer(say("A ", input.row.name), send(stage.caller(), draft), fault.wanted));
    return take_down(stage, cast);
}

// Every two faults at once: the first of them answers. None of them does anything, or what it did
// would be in the way when everything is released.
Check first_fault_wins(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    const CommandRules& command = *input.row.command;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, needs_event(command)));
    std::vector<Fault> faults{command.faults().begin(), command.faults().end()};
    if (&command != command_rules().data()) {
        const auto before = frame_faults();
        faults.insert(faults.begin(), before.begin(), before.end());
    }
    std::erase_if(faults, [&](const Fault& fault) { return !applies(fault, cast); });
    for (std::size_t later = 1; later < faults.size(); ++later) {
        for (std::size_t i = 0; i < later; ++i) {
            Draft draft = command.good(stage, cast);
            faults[later].bend(draft, cast);
            faults[i].bend(draft, cast);
            VIRTACCEL_TRY(expect_answer(
                say("A ", command.prefix, " with ", faults[i].name, " and ", faults[later].name),
                send(stage.caller(), draft), faults[i].wanted));
        }
    }
    return take_down(stage, cast);
}

// What an ID that names nothing is answered with, for this command on this device.
Status not_found(const CommandRules& command, const Cast& cast) {
    const auto faults = command.faults();
    const auto row = std::ranges::find_if(faults, [&](const Fault& fault) {
        return fault.step == Step::objects && applies(fault, cast);
    });
    return row->wanted.value_or(Status::stale_object);
}

std::vector<std::pair<Kind, std::uint64_t>> live_ids(const Cast& cast) {
    std::vector<std::pair<Kind, std::uint64_t>> ids{
        {Kind::context, cast.scene.context.raw},
        {Kind::queue, cast.scene.queue.raw},
        {Kind::buffer, cast.buffer.raw},
        {Kind::buffer, cast.source_only.raw},
        {Kind::buffer, cast.destination_only.raw},
        {Kind::program, cast.scene.program.raw},
        {Kind::event, cast.event.raw},
    };
    for (const BufferId buffer : cast.scene.buffers) {
        ids.emplace_back(Kind::buffer, buffer.raw);
    }
    std::erase_if(ids, [](const auto& id) { return id.second == 0; });
    return ids;
}

// Each ID of the command, replaced by those of all other kinds.
Check refuse_other_kinds(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    const CommandRules& command = *input.row.command;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, true));
    for (const IdField& field : command.ids) {
        for (const auto& [kind, id] : live_ids(cast)) {
            if (kind == field.kind) {
                continue;
            }
            Draft draft = command.good(stage, cast);
            draft.put(id, field.offset);
            VIRTACCEL_TRY(expect_refusal(
                say("A ", command.prefix, " whose ID at (", field.offset, ") is of another kind"),
                send(stage.caller(), draft), not_found(command, cast)));
        }
    }
    return take_down(stage, cast);
}

// Each ID of the command with one bit turned. Other devices may know without looking that an ID
// whose low half is zero cannot be one of theirs.
Check refuse_turned_bits(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    const CommandRules& command = *input.row.command;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, needs_event(command)));
    const auto live = live_ids(cast);
    for (const IdField& field : command.ids) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            Draft draft = command.good(stage, cast);
            const std::uint64_t id = draft.number_at(field.offset) ^ (std::uint64_t{1} << bit);
            if (std::ranges::any_of(live, [id](const auto& known) { return known.second == id; })) {
                continue;
            }
            draft.put(id, field.offset);
            const Reply reply = send(stage.caller(), draft);
            const bool may_be_invalid = (id & 0xffffffffU) == 0;
            const Status wanted = may_be_invalid && reply.status == Status::invalid_argument
                                      ? Status::invalid_argument
                                      : not_found(command, cast);
            VIRTACCEL_TRY(expect_refusal(say("A ", command.prefix, " whose ID at (", field.offset,
                                             ") has bit (", bit, ") turned"),
                                         reply, wanted));
        }
    }
    return take_down(stage, cast);
}

// Cases of a command whatever its faults are.
struct Common {
    std::string_view name;
    std::string_view title;
    Check (*run)(const DeviceCaseInput& input) = nullptr;
    bool needs_id = false;
};

constexpr std::array common_cases{
    Common{"first-fault-wins", "of any two faults, the one that is checked first answers",
           first_fault_wins},
    Common{"id-of-another-kind", "a live ID of another kind names nothing", refuse_other_kinds,
           true},
    Common{"id-with-a-bit-turned", "a live ID with one bit turned names nothing",
           refuse_turned_bits, true},
};

// The cases of every command, with the names that are put together for them.
class FaultRules {
  public:
    FaultRules() {
        for (const CommandRules& command : command_rules()) {
            for (const Fault& fault : command.faults()) {
                cases_.push_back({.name = name_of(command, fault.name),
                                  .title = fault.title,
                                  .run = refuse_one,
                                  .command = &command,
                                  .fault = &fault});
            }
            for (const Common& common : common_cases) {
                if (!common.needs_id || !command.ids.empty()) {
                    cases_.push_back({.name = name_of(command, common.name),
                                      .title = common.title,
                                      .run = common.run,
                                      .command = &command});
                }
            }
        }
    }

    [[nodiscard]] std::span<const DeviceCase> cases() const { return cases_; }

  private:
    // A deque's elements stay where they are.
    std::string_view name_of(const CommandRules& command, std::string_view rule) {
        return names_.emplace_back(say(command.prefix, ".", rule));
    }

    std::deque<std::string> names_;
    std::vector<DeviceCase> cases_;
};

}  // namespace

std::span<const DeviceCase> fault_rules() {
    static const FaultRules rules;
    return rules.cases();
}

}  // namespace virtaccel::conformance::rules
