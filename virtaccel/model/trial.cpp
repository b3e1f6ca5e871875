#include "virtaccel/model/trial.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/script.h"
#include "virtaccel/model/action.h"
#include "virtaccel/model/fault.h"
#include "virtaccel/model/fixture.h"
#include "virtaccel/model/model.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/model/stage.h"
#include "virtaccel/model/wire_text.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {
namespace {

using Verdict = std::optional<std::string>;

constexpr std::byte untouched{0xa5};
constexpr std::uint64_t room_usual = 512;
// Never issued, as issuing starts at small numbers.
constexpr std::uint64_t id_of_nobody = 0x7fffffff'fff00001;

device::Options options_for(const World& world) {
    device::Options options;
    options.config.chain_descriptors_max = 16;
    options.config.request_bytes_max = static_cast<std::uint32_t>(world.request_bytes);
    options.config.response_bytes_max = static_cast<std::uint32_t>(world.response_bytes);
    options.policy = {.buffer_bytes_max = world.buffer_budget_bytes,
                      .program_resident_bytes_max = world.program_budget_bytes};
    options.deferred_loads_max = static_cast<std::uint32_t>(world.deferred_loads);
    return options;
}

std::string number_text(std::uint64_t number) {
    return std::to_string(number);
}

std::string status_text(std::uint64_t status) {
    const std::string_view name = status_name(static_cast<Status>(status));
    return std::string{name} + " (" + number_text(status) + ")";
}

std::string statuses_text(const std::set<std::uint16_t>& statuses) {
    std::string text;
    for (const auto status : statuses) {
        text += (text.empty() ? "" : " or ") + status_text(status);
    }
    return text;
}

// `bytes` in pieces that `seed` chooses; zero is one piece. Some are empty.
std::vector<Piece> pieces_of(std::span<std::byte> bytes, std::uint64_t seed) {
    std::vector<Piece> pieces;
    std::mt19937_64 random{seed};
    while (seed != 0 && bytes.size() > 1 && pieces.size() < 6) {
        const auto size =
            static_cast<std::size_t>(random() % std::min<std::size_t>(bytes.size(), 24));
        pieces.push_back({.data = bytes.data(), .size = size});
        bytes = bytes.subspan(size);
    }
    pieces.push_back({.data = bytes.data(), .size = bytes.size()});
    return pieces;
}

bool agrees(const Content& expected, std::span<const std::byte> actual) {
    return std::ranges::equal(expected, actual, [](const auto& wanted, std::byte byte) {
        return !wanted || *wanted == byte;
    });
}

// What the device says it holds, in the model's words.
Books books_of(const device::Holdings& holdings) {
    return {.contexts = holdings.contexts,
            .buffers = holdings.buffers,
            .programs = holdings.programs,
            .queues = holdings.queues,
            .events = holdings.events,
            .buffer_bytes = holdings.buffer_bytes,
            .program_bytes = holdings.program_bytes,
            .quarantined = {.objects = holdings.quarantined.objects,
                            .bytes = holdings.quarantined.bytes}};
}

std::string books_text(const Books& books) {
    std::string text;
    const auto add = [&text](std::string_view name, std::uint64_t number) {
        text += (text.empty() ? "" : ", ") + std::string{name} + " " + number_text(number);
    };
    add("contexts", books.contexts);
    add("buffers", books.buffers);
    add("programs", books.programs);
    add("queues", books.queues);
    add("events", books.events);
    add("buffer bytes", books.buffer_bytes);
    add("program bytes", books.program_bytes);
    add("quarantined", books.quarantined.objects);
    add("quarantined bytes", books.quarantined.bytes);
    return text;
}

}  // namespace

Trial::Trial(const Cast& cast, const World& world)
    : world_(world), line_(cast.line), backstage_(cast.memory, world, cast.wrap), model_(world) {}

std::expected<std::unique_ptr<Trial>, std::string> Trial::make(const Cast& cast,
                                                               const World& world) {
    std::unique_ptr<Trial> trial{new Trial{cast, world}};
    auto endpoint =
        device::Endpoint::make(cast.memory, trial->backstage_.factory(), options_for(world));
    if (!endpoint) {
        return std::unexpected{std::string{device::explain(endpoint.error())}};
    }
    trial->endpoint_.emplace(*std::move(endpoint));
    return trial;
}

Verdict Trial::step(const Action& action) {
    if (action.verb == "fault") {
        arm(action);
        return std::nullopt;
    }
    Verdict verdict;
    if (action.verb == "reset") {
        verdict = reset();
    } else if (action.verb == "prepare") {
        verdict = prepare(action);
    } else if (action.verb == "finish") {
        verdict = finish(action);
    } else if (action.verb == "complete" || action.verb == "fail") {
        verdict = end_event(action);
    } else {
        verdict = request(action);
    }
    fault_.reset();
    for (const auto check : {&Trial::check_books, &Trial::check_contents, &Trial::probe_retired,
                             &Trial::check_books}) {
        if (!verdict) {
            verdict = (this->*check)();
        }
    }
    return verdict;
}

void Trial::arm(const Action& action) {
    const Setting* const call = action.find("call");
    const auto name_of = [](Call failing) { return mock::row_of(failing).name; };
    const auto* const found = std::ranges::find(
        failing_calls, call == nullptr ? "" : call->value.front().object, name_of);
    const auto status = action.number("status").value_or(0);
    if (found != failing_calls.end() && status != 0) {
        fault_ = {.call = *found,
                  .status = static_cast<std::uint16_t>(status),
                  .indeterminate = action.number("indeterminate").value_or(0) != 0};
    }
}

std::uint64_t Trial::resolve(const std::string& object) const {
    const auto found = names_.find(object);
    return found == names_.end() ? id_of_nobody : found->second.id;
}

Verdict Trial::request(const Action& action) {
    const Bytes frame = frame_of(
        action, [this](const std::string& object) { return resolve(object); }, ++request_id_);
    std::uint64_t made = 0;
    auto verdict = exchange(frame, action.number("room").value_or(room_usual),
                            action.number("pieces").value_or(0), made);
    if (just_deferred_) {
        const bool named = !action.name.empty() && !deferred_.contains(action.name);
        deferred_.emplace(named ? action.name : number_text(made), *std::move(just_deferred_));
        just_deferred_.reset();
        return verdict;
    }
    const Verb* const verb = find_verb(action.verb);
    if (!verdict && made != 0 && !action.name.empty() && verb != nullptr && verb->makes) {
        names_[action.name] = {.kind = *verb->makes, .id = made};
    }
    return verdict;
}

Verdict Trial::exchange(const Bytes& frame, std::uint64_t capacity, std::uint64_t pieces,
                        std::uint64_t& made) {
    const Expected expected = model_.expect(frame, capacity, fault_);
    Bytes sent = frame;
    if (line_ != nullptr) {
        line_->before(sent);
    }
    Bytes response(capacity, untouched);
    const auto readable = pieces_of(sent, pieces);
    const auto writable = pieces_of(response, pieces);
    const auto calls = backstage_.calls();
    backstage_.set_fault(fault_);
    const auto served = endpoint_->device().serve(PieceList::of(readable), PieceList::of(writable));
    backstage_.set_fault(std::nullopt);
    if (!expected.may_ask_backend && backstage_.calls() != calls) {
        return "The device called its backend for a request that it had to refuse first.";
    }
    if (served.deferred != expected.deferred) {
        return std::string{"The device "} + (served.deferred ? "defers" : "gives") +
               " an answer that it has to " + (expected.deferred ? "defer." : "give.");
    }
    if (served.deferred) {
        made = ++loads_;
        just_deferred_ = Deferred{.name = made,
                                  .request = std::move(sent),
                                  .response = std::move(response),
                                  .load = endpoint_->device().take_load()};
        static_cast<void>(model_.take(expected, made));
        return std::nullopt;
    }
    std::uint32_t used_bytes = served.used_bytes;
    if (line_ != nullptr) {
        line_->after(frame, response, used_bytes);
    }
    auto verdict = judge(expected, frame, response, used_bytes);
    return verdict ? verdict : take(expected, response, made);
}

Verdict Trial::take(const Expected& expected, std::span<const std::byte> response,
                    std::uint64_t& made) {
    made = expected.carries_id ? number_at(response, header_bytes, 8) : 0;
    if (!model_.take(expected, made)) {
        return "The device gave a new object an ID (" + number_text(made) +
               ") that is zero or was used before.";
    }
    if (expected.carries_id && backstage_.stage() != nullptr) {
        staged_[made] = backstage_.stage()->last_made();
    }
    return std::nullopt;
}

std::vector<std::string> Trial::waiting() const {
    std::vector<std::string> names;
    names.reserve(deferred_.size());
    for (const auto& [name, deferred] : deferred_) {
        names.push_back(name);
    }
    return names;
}

Trial::Deferred* Trial::deferred_by(const Action& action) {
    const Setting* const load = action.find("load");
    const auto found = deferred_.find(load == nullptr ? "" : load->value.front().object);
    return found == deferred_.end() ? nullptr : &found->second;
}

// The artifact of a deferred load is looked at, as another thread may do at any time.
Verdict Trial::prepare(const Action& action) {
    Deferred* const deferred = deferred_by(action);
    if (deferred != nullptr && !deferred->is_prepared) {
        deferred->is_prepared = true;
        model_.prepare(deferred->name, fault_);
        backstage_.set_fault(fault_);
        deferred->load.prepare();
        backstage_.set_fault(std::nullopt);
    }
    return std::nullopt;
}

Verdict Trial::finish(const Action& action) {
    Deferred* const found = deferred_by(action);
    if (found == nullptr) {
        return std::nullopt;
    }
    const std::string name = action.find("load")->value.front().object;
    Deferred deferred = std::move(*found);
    deferred_.erase(name);
    const auto expected = model_.expect_finish(deferred.name, fault_);
    model_.end_load(deferred.name);
    backstage_.set_fault(fault_);
    const auto served = endpoint_->device().finish(std::move(deferred.load));
    backstage_.set_fault(std::nullopt);
    if (served.has_value() != expected.has_value()) {
        return std::string{"A deferred load "} + (served ? "is answered" : "is dropped") +
               " that has to be " + (served ? "dropped." : "answered.");
    }
    std::uint32_t used_bytes = served ? served->used_bytes : 0;
    if (line_ != nullptr) {
        line_->after(deferred.request, deferred.response, used_bytes);
    }
    if (auto verdict = judge(expected.value_or(Expected::silence()), deferred.request,
                             deferred.response, used_bytes);
        verdict || !expected) {
        return verdict;
    }
    std::uint64_t made = 0;
    auto verdict = take(*expected, deferred.response, made);
    if (made != 0) {
        names_[name] = {.kind = Kind::program, .id = made};
    }
    return verdict;
}

Verdict Trial::judge(const Expected& expected, std::span<const std::byte> frame,
                     std::span<const std::byte> response, std::uint32_t used_bytes) {
    if (used_bytes > response.size() ||
        !std::ranges::all_of(response.subspan(used_bytes),
                             [](std::byte byte) { return byte == untouched; })) {
        return "The device touched bytes past the used length (" + number_text(used_bytes) + ").";
    }
    if (expected.silent || used_bytes < header_bytes) {
        return expected.silent && used_bytes == 0
                   ? std::nullopt
                   : Verdict{"The used length is (" + number_text(used_bytes) + ") where (" +
                             (expected.silent
                                  ? "0"
                                  : "a response with " + statuses_text(expected.statuses)) +
                             ") is right."};
    }
    const auto status = static_cast<std::uint16_t>(number_at(response, 0, 2));
    if (!expected.statuses.contains(status)) {
        return "The status is (" + status_text(status) + ") where (" +
               statuses_text(expected.statuses) + ") is right.";
    }
    ++answers_[{number_at(frame, 0, 2), status}];
    const auto payload_bytes = expected.carries_id ? 8 : expected.content.size();
    if (used_bytes != header_bytes + payload_bytes || number_at(response, 2, 2) != 0 ||
        number_at(response, 4, 4) != payload_bytes ||
        number_at(response, 8, 8) != number_at(frame, 8, 8)) {
        return "The response's header or its used length (" + number_text(used_bytes) +
               ") is wrong for a payload of (" + number_text(payload_bytes) + ") bytes.";
    }
    const auto payload = response.subspan(header_bytes, payload_bytes);
    if (!expected.carries_id && !agrees(expected.content, payload)) {
        return std::string{"The payload of the answer is not the right one."};
    }
    return std::nullopt;
}

Verdict Trial::end_event(const Action& action) {
    const Setting* const setting = action.find("event");
    const auto id = setting == nullptr ? 0 : resolve(setting->value.front().object);
    if (!model_.context_of(Kind::event, id) || backstage_.stage() == nullptr) {
        return std::nullopt;  // there is no such event to end
    }
    Stage& stage = *backstage_.stage();
    const auto error = static_cast<std::uint16_t>(action.number("status").value_or(9));
    const bool completes = action.verb == "complete";
    if (!completes && error == status::ok) {
        return std::nullopt;
    }
    const bool modelled = completes ? model_.complete(id) : model_.fail(id, error);
    const bool done = completes ? stage.complete(staged_[id])
                                : stage.fail(staged_[id], static_cast<Status>(error));
    if (modelled != done) {
        return std::string{"The backend's event is "} + (done ? "pending" : "decided") +
               " where it is " + (modelled ? "pending" : "decided") + " by the model.";
    }
    return std::nullopt;
}

Verdict Trial::reset() {
    const ExpectedReset expected = model_.expect_reset(fault_);
    const Count before = model_.books().quarantined;
    const auto calls = backstage_.calls();
    backstage_.set_fault(fault_);
    const auto answer = endpoint_->reset();
    backstage_.set_fault(std::nullopt);
    const device::ResetReport& report = endpoint_->last_report();
    const auto wanted =
        expected.discards ? device::ResetAnswer::rebuilt : device::ResetAnswer::reused;
    if (answer != wanted || report.discard != expected.discards) {
        return std::string{"The reset "} + (report.discard ? "discards" : "keeps") +
               " the backend where it must be " + (expected.discards ? "discarded" : "kept") + ".";
    }
    const Count ended{
        .objects = report.released.objects + report.quarantined.objects - before.objects,
        .bytes = report.released.bytes + report.quarantined.bytes - before.bytes};
    if (ended != expected.held || (!expected.discards && report.quarantined.objects != 0)) {
        return "The reset accounts for (" + number_text(ended.objects) + ") objects of (" +
               number_text(ended.bytes) + ") bytes where (" + number_text(expected.held.objects) +
               ") of (" + number_text(expected.held.bytes) + ") were held.";
    }
    if (!expected.may_ask_backend && backstage_.calls() != calls) {
        return "The reset called a backend that was lost.";
    }
    model_.reset(expected.discards);
    staged_.clear();
    return std::nullopt;
}

// Asks after one object that is gone: whatever is asked, it is stale.
Verdict Trial::probe_retired() {
    const auto& retired = model_.retired();
    if (retired.empty()) {
        return std::nullopt;
    }
    const auto& [kind, id] = retired[probes_++ % retired.size()];
    constexpr std::array opcodes{opcode::destroy_context, opcode::read_buffer,
                                 opcode::unload_program, opcode::destroy_queue, opcode::poll_event};
    Bytes frame;
    put_number(frame, opcodes[static_cast<std::size_t>(kind)], 2);
    put_number(frame, 0, 2);
    put_number(frame, kind == Kind::buffer ? 24 : 8, 4);
    put_number(frame, ++request_id_, 8);
    put_number(frame, id, 8);
    if (kind == Kind::buffer) {
        put_number(frame, 0, 8);
        put_number(frame, 1, 8);
    }
    std::uint64_t made = 0;
    auto verdict = exchange(frame, room_usual, 0, made);
    return verdict ? Verdict{"A retired ID (" + number_text(id) + ") is asked after: " + *verdict}
                   : std::nullopt;
}

Verdict Trial::check_books() {
    const device::Device& device = endpoint_->device();
    const Books actual = books_of(device.holdings());
    const Books wanted = model_.books();
    if (actual != wanted) {
        return "The device holds (" + books_text(actual) + ") where (" + books_text(wanted) +
               ") is right.";
    }
    if (device.needs_reset() != model_.is_lost() || device.discard_required() != model_.is_lost()) {
        return std::string{"The device says that it is "} +
               (device.needs_reset() ? "lost" : "well") + " where it is " +
               (model_.is_lost() ? "lost" : "well") + ".";
    }
    if (!backstage_.misuse().empty()) {
        return "The backend is misused: " + backstage_.misuse() + ".";
    }
    const auto live =
        wanted.contexts + wanted.buffers + wanted.programs + wanted.queues + wanted.events;
    if (wanted.quarantined.objects == 0 && backstage_.stage() != nullptr &&
        backstage_.stage()->live() != live) {
        return "The backend holds (" + number_text(backstage_.stage()->live()) +
               ") objects where (" + number_text(live) + ") are live.";
    }
    return std::nullopt;
}

// Nobody writes into a buffer but those who were told to.
Verdict Trial::check_contents() {
    for (const auto& [id, buffer] : model_.buffers()) {
        const auto bytes = backstage_.stage()->look_into(staged_[id]);
        if (!agrees(buffer.content, bytes)) {
            return "The buffer (" + number_text(id) + ") does not hold what it has to.";
        }
    }
    return std::nullopt;
}

std::expected<std::optional<Parting>, std::string> run_schedule(const Cast& cast,
                                                                const Schedule& schedule) {
    auto trial = Trial::make(cast, schedule.world);
    if (!trial) {
        return std::unexpected{std::move(trial).error()};
    }
    for (std::size_t i = 0; i < schedule.actions.size(); ++i) {
        if (auto what = (*trial)->step(schedule.actions[i])) {
            return Parting{.index = i, .what = *std::move(what)};
        }
    }
    return std::nullopt;
}

}  // namespace virtaccel::model
