// Steps 7 and 8 of spec §5, a command at a time.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/model/fault.h"
#include "virtaccel/model/fixture.h"
#include "virtaccel/model/model.h"
#include "virtaccel/model/payload.h"
#include "virtaccel/model/wire_text.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {
namespace {

// What the guest is told of a backend's failure.
std::uint16_t told(std::uint16_t status) {
    return status >= status::unsupported && status <= status::stale_object ? status
                                                                           : status::internal_error;
}

bool hits(const std::optional<Fault>& fault, Call call) {
    return fault && fault->call == call;
}

Content content_of(const Bytes& bytes) {
    return {bytes.begin(), bytes.end()};
}

bool allows(std::uint64_t usage, std::uint64_t access) {
    const std::uint64_t needed = access == 1   ? usage::program_input | usage::mutable_state
                                 : access == 2 ? usage::program_output | usage::mutable_state
                                               : usage::mutable_state;
    return (usage & needed) != 0;
}

}  // namespace

Expected Model::failure(std::uint16_t status) {
    Expected expected = Expected::refusal(told(status));
    expected.may_ask_backend = true;
    if (status == status::device_lost) {
        expected.effect = [](Model& model, std::uint64_t) { model.lost_ = true; };
    }
    return expected;
}

Expected Model::act(std::uint64_t opcode, Payload payload, const MaybeFault& fault) const {
    const auto id = payload.empty() ? 0 : number_at(payload, 0, 8);
    switch (opcode) {
        case opcode::get_device_info:
            return device_info();
        case opcode::create_context:
            return create_context(fault);
        case opcode::destroy_context:
            return release(Kind::context, id, fault);
        case opcode::allocate_buffer:
            return allocate(payload, fault);
        case opcode::free_buffer:
            return release(Kind::buffer, id, fault);
        case opcode::write_buffer:
            return write(payload, fault);
        case opcode::read_buffer:
            return read(payload, fault);
        case opcode::load_program:
            return load(payload, fault);
        case opcode::unload_program:
            return release(Kind::program, id, fault);
        case opcode::create_queue:
            return create_queue(id, fault);
        case opcode::destroy_queue:
            return release(Kind::queue, id, fault);
        case opcode::submit:
            return submit(payload, fault);
        case opcode::poll_event:
            return poll(id);
        case opcode::cancel_event:
            return cancel(id);
        default:
            return release(Kind::event, id, fault);
    }
}

Expected Model::device_info() const {
    Bytes bytes;
    for (const char letter : std::string_view{"virtio-accelmock"}) {
        bytes.push_back(static_cast<std::byte>(letter));
    }
    put_number(bytes, 1, 2);  // an NPU
    put_number(bytes, 0, 2);
    put_number(bytes, 0, 4);
    put_number(bytes, 0, 4);
    put_number(bytes, world_.capabilities, 8);
    for (const auto limit : {world_.contexts, world_.buffers, world_.programs, world_.queues,
                             world_.events, world_.bindings}) {
        put_number(bytes, limit, 4);
    }
    put_number(bytes, world_.buffer_bytes, 8);
    put_number(bytes, world_.artifact_bytes, 8);
    Expected expected = Expected::refusal(status::ok);
    expected.content = content_of(bytes);
    return expected;
}

Expected Model::create_context(const MaybeFault& fault) const {
    if (contexts_.size() >= world_.contexts) {
        return Expected::refusal(status::resource_limit);
    }
    if (hits(fault, Call::create_context)) {
        return failure(fault->status);
    }
    return Expected::creation([](Model& model, std::uint64_t id) { model.contexts_.insert(id); });
}

Expected Model::create_queue(std::uint64_t context, const MaybeFault& fault) const {
    if (!is_live(Kind::context, context)) {
        return Expected::refusal(status::stale_object);
    }
    if (count_in(Kind::queue, context) >= world_.queues) {
        return Expected::refusal(status::resource_limit);
    }
    if (hits(fault, Call::create_queue)) {
        return failure(fault->status);
    }
    return Expected::creation(
        [context](Model& model, std::uint64_t id) { model.queues_[id] = context; });
}

// Budget, context, quota, backend; and the budget again, with what the buffer really costs.
Expected Model::allocate(Payload payload, const MaybeFault& fault) const {
    const auto context = number_at(payload, 0, 8);
    const auto bytes = number_at(payload, 8, 8);
    const auto left_bytes = world_.buffer_budget_bytes - buffer_bytes();
    if (bytes > left_bytes) {
        return Expected::refusal(status::resource_limit);
    }
    if (!is_live(Kind::context, context)) {
        return Expected::refusal(status::stale_object);
    }
    if (count_in(Kind::buffer, context) >= world_.buffers) {
        return Expected::refusal(status::resource_limit);
    }
    if (number_at(payload, 16, 8) > alignment_max) {
        return failure(status::resource_limit);
    }
    if (hits(fault, Call::allocate)) {
        return failure(fault->status);
    }
    const auto backing_bytes = backing_bytes_of(bytes);
    if (backing_bytes > left_bytes) {
        if (!hits(fault, Call::free)) {
            return failure(status::resource_limit);
        }
        // That it was given back cannot be proven.
        Expected expected = failure(status::device_lost);
        expected.effect = [backing_bytes](Model& model, std::uint64_t) {
            ++model.quarantined_.objects;
            model.quarantined_.bytes += backing_bytes;
            model.lost_ = true;
        };
        return expected;
    }
    const Buffer buffer{.context = context,
                        .usage = number_at(payload, 32, 4),
                        .backing_bytes = backing_bytes,
                        .content = Content(bytes, std::byte{0})};
    return Expected::creation(
        [buffer](Model& model, std::uint64_t id) { model.buffers_[id] = buffer; });
}

// Objects and preconditions of a transfer (spec §5).
std::uint16_t Model::judge_transfer(Payload payload, std::uint64_t usage) const {
    const auto id = number_at(payload, 0, 8);
    if (!is_live(Kind::buffer, id)) {
        return status::stale_object;
    }
    if (is_used(Kind::buffer, id)) {
        return status::busy;
    }
    const Buffer& buffer = buffers_.at(id);
    if (number_at(payload, 8, 8) + number_at(payload, 16, 8) > buffer.content.size()) {
        return status::out_of_bounds;
    }
    return (buffer.usage & usage) == 0 ? status::permission_denied : status::ok;
}

Expected Model::write(Payload payload, const MaybeFault& fault) const {
    if (const auto judged = judge_transfer(payload, usage::transfer_destination);
        judged != status::ok) {
        return Expected::refusal(judged);
    }
    const auto id = number_at(payload, 0, 8);
    const auto offset = number_at(payload, 8, 8);
    const auto data = payload.subspan(24);
    const bool fails = hits(fault, Call::write);
    const Content content = fails ? Content(data.size()) : content_of({data.begin(), data.end()});
    Expected expected = fails ? failure(fault->status) : Expected::success({});
    expected.effect = [id, offset, content, before = expected.effect](Model& model,
                                                                      std::uint64_t none) {
        if (before) {
            before(model, none);
        }
        std::ranges::copy(
            content, model.buffers_.at(id).content.begin() + static_cast<std::ptrdiff_t>(offset));
    };
    return expected;
}

Expected Model::read(Payload payload, const MaybeFault& fault) const {
    if (const auto judged = judge_transfer(payload, usage::transfer_source); judged != status::ok) {
        return Expected::refusal(judged);
    }
    if (hits(fault, Call::read)) {
        return failure(fault->status);
    }
    const auto range = std::span{buffers_.at(number_at(payload, 0, 8)).content}.subspan(
        number_at(payload, 8, 8), number_at(payload, 16, 8));
    Expected expected = Expected::success({});
    expected.content = {range.begin(), range.end()};
    return expected;
}

Expected Model::load(Payload payload, const MaybeFault& fault) const {
    const auto context = number_at(payload, 0, 8);
    if (number_at(payload, 72, 8) >
        world_.program_budget_bytes - program_bytes() - waiting_bytes()) {
        return Expected::refusal(status::resource_limit);
    }
    if (!is_live(Kind::context, context)) {
        return Expected::refusal(status::stale_object);
    }
    if (count_in(Kind::program, context) >= world_.programs) {
        return Expected::refusal(status::resource_limit);
    }
    if (waiting_.size() + dropped_.size() < world_.deferred_loads) {
        Expected expected;
        expected.deferred = true;
        expected.effect = [copy = std::vector(payload.begin(), payload.end())](Model& model,
                                                                               std::uint64_t name) {
            model.waiting_[name] = {.payload = copy, .prepared_with = std::nullopt};
        };
        return expected;
    }
    return load_prepared(payload, fault, fault);
}

// The backend prepares, with the fault `prepare`, and loads, with the fault `load`.
Expected Model::load_prepared(Payload payload, const MaybeFault& prepare,
                              const MaybeFault& load) const {
    const FixtureVerdict verdict = judge_fixture(payload);
    if (!verdict.program) {
        Expected expected;
        expected.statuses = verdict.refusals;
        expected.may_ask_backend = true;
        return expected;
    }
    if (hits(prepare, Call::prepare)) {
        return failure(prepare->status);
    }
    if (hits(load, Call::load)) {
        return failure(load->status);
    }
    const Program program{.context = number_at(payload, 0, 8), .code = *verdict.program};
    return Expected::creation(
        [program](Model& model, std::uint64_t id) { model.programs_[id] = program; });
}

void Model::prepare(std::uint64_t load, const MaybeFault& fault) {
    const auto found = waiting_.find(load);
    if (found != waiting_.end() && !found->second.is_prepared) {
        found->second.is_prepared = true;
        found->second.prepared_with = fault;
    }
}

// Other requests have overtaken the load, so that its context is looked for again. Whether that or
// the artifact is judged first, the text leaves open.
std::optional<Expected> Model::expect_finish(std::uint64_t load, const MaybeFault& fault) const {
    const auto found = waiting_.find(load);
    if (found == waiting_.end()) {
        return std::nullopt;
    }
    if (lost_) {
        return Expected::refusal(status::device_lost);
    }
    const Payload payload = found->second.payload;
    const auto prepare = found->second.is_prepared ? found->second.prepared_with : fault;
    const auto context = number_at(payload, 0, 8);
    const bool stale = !is_live(Kind::context, context);
    if (!stale && count_in(Kind::program, context) < world_.programs) {
        return load_prepared(payload, prepare, fault);
    }
    const auto refused = stale ? status::stale_object : status::resource_limit;
    Expected expected = load_prepared(payload, prepare, std::nullopt);
    if (expected.carries_id) {
        return failure(refused);
    }
    expected.statuses.insert(refused);
    return expected;
}

// Objects, quota, then ranges and access in slot order.
std::uint16_t Model::judge_submission(Payload payload) const {
    const auto queue = number_at(payload, 0, 8);
    const auto program = number_at(payload, 8, 8);
    const auto context = context_of(Kind::queue, queue);
    if (!context || context_of(Kind::program, program) != context) {
        return status::stale_object;
    }
    const auto bindings = bindings_in(payload);
    for (const Binding& binding : bindings) {
        if (context_of(Kind::buffer, binding.buffer) != context) {
            return status::stale_object;
        }
    }
    if (count_in(Kind::event, *context) >= world_.events) {
        return status::resource_limit;
    }
    for (const Binding& binding : bindings) {
        const Buffer& buffer = buffers_.at(binding.buffer);
        if (binding.offset + binding.bytes > buffer.content.size()) {
            return status::out_of_bounds;
        }
        if (!allows(buffer.usage, binding.access)) {
            return status::permission_denied;
        }
    }
    return status::ok;
}

Expected Model::submit(Payload payload, const MaybeFault& fault) const {
    if (const auto judged = judge_submission(payload); judged != status::ok) {
        return Expected::refusal(judged);
    }
    const auto queue = number_at(payload, 0, 8);
    const auto program = number_at(payload, 8, 8);
    const Event event{.context = queues_.at(queue),
                      .queue = queue,
                      .program = program,
                      .code = programs_.at(program).code,
                      .bindings = bindings_in(payload)};
    if (!fits_program(event.code, event.bindings)) {
        return failure(status::incompatible);
    }
    const bool fails = hits(fault, Call::submit);
    if (fails && !fault->indeterminate) {
        return failure(fault->status);
    }
    const bool loses = fails && fault->status == status::device_lost;
    Expected expected = Expected::creation([event, loses](Model& model, std::uint64_t id) {
        model.events_[id] = event;
        model.lost_ = model.lost_ || loses;
    });
    if (fails) {
        expected.statuses = {told(fault->status)};
    }
    return expected;
}

Expected Model::poll(std::uint64_t event) const {
    if (!is_live(Kind::event, event)) {
        return Expected::refusal(status::stale_object);
    }
    const Event& polled = events_.at(event);
    Bytes bytes;
    put_number(bytes, polled.state, 2);
    put_number(bytes, polled.error == status::ok ? status::ok : told(polled.error), 2);
    put_number(bytes, 0, 4);
    const bool loses = polled.error == status::device_lost;
    Expected expected = Expected::success(
        [loses](Model& model, std::uint64_t) { model.lost_ = model.lost_ || loses; });
    expected.content = content_of(bytes);
    return expected;
}

Expected Model::cancel(std::uint64_t event) const {
    if ((world_.capabilities & capability::event_cancellation) == 0) {
        return Expected::refusal(status::unsupported);
    }
    if (!is_live(Kind::event, event)) {
        return Expected::refusal(status::stale_object);
    }
    if (events_.at(event).state != event_state::pending) {
        return failure(status::busy);
    }
    return Expected::success([event](Model& model, std::uint64_t) {
        model.events_.at(event).state = event_state::cancelled;
    });
}

Expected Model::release(Kind kind, std::uint64_t id, const MaybeFault& fault) const {
    if (!is_live(kind, id)) {
        return Expected::refusal(status::stale_object);
    }
    if (is_used(kind, id)) {
        return Expected::refusal(status::busy);
    }
    if (kind == Kind::event) {
        const Event& event = events_.at(id);
        if (event.state == event_state::pending) {
            return failure(status::busy);
        }
        if (event.error == status::device_lost) {
            return failure(status::device_lost);
        }
    }
    constexpr std::array calls{Call::destroy_context, Call::free, Call::unload, Call::destroy_queue,
                               Call::destroy_event};
    if (!hits(fault, calls[static_cast<std::size_t>(kind)])) {
        return Expected::success(
            [kind, id](Model& model, std::uint64_t) { model.erase(kind, id); });
    }
    if (!fault->indeterminate) {
        return failure(fault->status);
    }
    Expected expected = failure(status::device_lost);
    expected.effect = [kind, id](Model& model, std::uint64_t) { model.quarantine(kind, id); };
    return expected;
}

}  // namespace virtaccel::model
