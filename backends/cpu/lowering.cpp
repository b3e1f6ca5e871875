#include "backends/cpu/lowering.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/control_step.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

namespace {

// Work of fewer operations is not worth waking anybody for.
constexpr std::uint64_t operations_per_part_min = std::uint64_t{1} << 15U;
// More parts than threads, so that a thread which comes late leaves little undone.
constexpr std::uint64_t parts_per_thread = 3;

// How far apart operators may stand to be near each other: looking for them must not take long,
// whatever a model looks like.
constexpr std::uint32_t near_max = 16;

// What kernels want of an element's address: its own size, as far as C++ has a type for it.
std::uint64_t alignment_of(tosa::DType dtype) {
    switch (tosa::bits_of(dtype).value_or(8)) {
        case 64:
            return 8;
        case 32:
            return 4;
        case 16:
            return 2;
        default:
            return 1;
    }
}

}  // namespace

Lowering::Lowering(const Memory& memory, const tosa::Graph& graph, const tosa::Analysis& analysis,
                   const LoweringOptions& options)
    : memory_(memory),
      graph_(graph),
      analysis_(analysis),
      options_(options),
      taken_(analysis.order.size()),
      deferred_(analysis.order.size()),
      known_bytes_(memory, options.resident_bytes_max) {}

std::unique_ptr<Program> Lowering::run() {
    auto program = std::make_unique<Program>();
    set_up_values();
    set_up_slots(*program);
    know_constants();
    lower_operators({.first = 0, .count = static_cast<std::uint32_t>(analysis_.order.size())});
    copy_to_other_slots();
    keep_constants(*program);
    keep_states(*program);
    place_in_arena(*program);
    fill_addresses(*program);
    program->steps = std::move(steps_);
    charge(sizeof(Program) + (values_.size() * sizeof(std::byte*)));
    program->resident_bytes = resident_bytes_;
    return program;
}

ValueId Lowering::add_value(std::uint64_t bytes, Home home) {
    const auto id = static_cast<ValueId>(values_.size());
    values_.push_back({.bytes = bytes, .parent = id, .home = home});
    known_.push_back(nullptr);
    return id;
}

void Lowering::set_up_values() {
    values_.reserve(graph_.tensors().size());
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
        const tosa::TensorLife& life = analysis_.tensors[i];
        Home home = Home::none;
        switch (life.origin) {
            case tosa::Origin::constant:
            case tosa::Origin::folded:
                home = Home::constant;
                break;
            case tosa::Origin::computed:
                home = Home::arena;
                break;
            case tosa::Origin::variable:
                home = Home::state;
                break;
            default:
                break;
        }
        const ValueId id = add_value(graph_.tensors()[i].bytes, home);
        values_[id].last_use = life.last_use == tosa::nowhere ? 0 : life.last_use;
        if (home == Home::state) {
            values_[id].parent = analysis_.states[life.state];
        }
    }
}

// A tensor lies in the first slot that is bound to it.
void Lowering::set_up_slots(Program& program) {
    for (std::uint32_t i = 0; i < analysis_.slots.size(); ++i) {
        const tosa::Slot& slot = analysis_.slots[i];
        const bool is_input = slot.kind == tosa::SlotKind::input;
        program.slots.push_back(
            {.bytes = slot.bytes,
             .alignment = std::min<std::uint64_t>(alignment_of(tensor(slot.tensor).dtype), 4),
             .access = is_input ? Access::read : Access::write});
        Value& value = values_[slot.tensor];
        if (is_input || value.home == Home::arena) {
            value.home = is_input ? Home::input : Home::output;
            value.slot = i;
        }
    }
}

// Bytes for a value that is about to be known.
std::byte* Lowering::know(ValueId value) {
    const std::uint64_t bytes = values_[value].bytes;
    if (bytes > known_bytes_.left_bytes()) {
        throw TooManyResidentBytes{};
    }
    known_[value] = known_bytes_.make(value, bytes, values_[value].last_use);
    return known_[value];
}

// Constants are used where the model has them, if that is an address for their type.
void Lowering::know_constants() {
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
        const tosa::Tensor& constant = graph_.tensors()[i];
        if (analysis_.tensors[i].origin != tosa::Origin::constant || constant.bytes == 0) {
            continue;
        }
        const auto address = reinterpret_cast<std::uintptr_t>(constant.data.data());
        if (address % alignment_of(constant.dtype) == 0) {
            // Steps never write what they only read.
            known_[i] = const_cast<std::byte*>(constant.data.data());
        } else {
            std::memcpy(know(static_cast<ValueId>(i)), constant.data.data(), constant.data.size());
        }
    }
}

// Where an operator runs blocks, their operators follow it and are lowered with it.
void Lowering::lower_operators(tosa::IndexRange positions) {
    for (position_ = positions.first; position_ < positions.end(); ++position_) {
        if (deferred_[position_]) {
            --waiting_;
            deferred_[position_](*this);
        } else if (!taken_[position_]) {
            const tosa::Operator& op = operator_at(position_);
            support_of(op.op)->lower(*this, op);
        }
        // What waits for its turn may want anything.
        if (waiting_ == 0) {
            known_bytes_.drop_until(position_, [this](ValueId value) { known_[value] = nullptr; });
        }
    }
}

void Lowering::emit(std::unique_ptr<Step> step, std::span<const ValueId> reads,
                    std::span<const ValueId> writes) {
    // An operator's outputs are known all together or not at all.
    if (writes.front() < graph_.tensors().size() && is_known(writes.front())) {
        run_now(*step, writes);
        scratch_.clear();
        return;
    }
    charge(step->resident_bytes());
    std::vector<ValueId> touched{reads.begin(), reads.end()};
    touched.insert(touched.end(), writes.begin(), writes.end());
    touched.insert(touched.end(), scratch_.begin(), scratch_.end());
    scratch_.clear();
    append(std::move(step), std::move(touched));
}

void Lowering::append(std::unique_ptr<Step> step, std::vector<ValueId> touched) {
    for (const ValueId value : touched) {
        known_bytes_.keep(known_[value]);
    }
    if (routine_depth_ != 0) {
        routine_steps_.push_back(next_step());
    }
    steps_.push_back(std::move(step));
    touched_.push_back(std::move(touched));
}

void Lowering::emit_control(std::unique_ptr<Step> step, std::span<const ValueId> touched) {
    append(std::move(step), {touched.begin(), touched.end()});
}

// Behind it, `position_` is that of the last operator inside, so that what follows is next.
void Lowering::lower_block(tosa::BlockIndex block) {
    const tosa::BlockPlace& place = analysis_.blocks[block];
    if (place.callers == 1) {
        lower_operators(place.positions);
        --position_;
        return;
    }
    const bool is_first = !routines_.contains(block);
    auto end = std::make_unique<Return>();
    Routine& routine = routines_[block];
    if (is_first) {
        routine = {.entry = next_step() + 1, .end = end.get()};
    }
    auto step = std::make_unique<Call>(routine.entry, *routine.end);
    Call& call = *step;
    emit_control(std::move(step), {});
    if (is_first) {
        ++routine_depth_;
        lower_operators(place.positions);
        --position_;
        --routine_depth_;
        emit_control(std::move(end), {});
    }
    call.come_back_to(next_step());
}

void Lowering::run_now(Step& step, std::span<const ValueId> writes) {
    for (const ValueId write : writes) {
        if (known_[write] == nullptr) {
            static_cast<void>(know(write));
        }
    }
    std::vector<Block> scratch;
    std::uint64_t left = known_bytes_.left_bytes();
    for (const ValueId id : scratch_) {
        const std::uint64_t bytes = values_[id].bytes;
        if (bytes > left) {
            throw TooManyResidentBytes{};
        }
        left -= bytes;
        scratch.emplace_back(memory_, static_cast<std::size_t>(bytes));
        known_[id] = scratch.back().data();
    }
    for (std::uint32_t part = 0; part < step.parts(); ++part) {
        if (!step.run({.addresses = known_}, part)) {
            throw StepFailed{};
        }
    }
}

Lowering::Found Lowering::find(ValueId value) const {
    Found found{.root = value};
    while (values_[found.root].parent != found.root) {
        found.offset += values_[found.root].offset;
        found.root = values_[found.root].parent;
    }
    // All on the way now point to the root itself.
    std::uint64_t offset = found.offset;
    while (values_[value].parent != value) {
        const ValueId next = values_[value].parent;
        const std::uint64_t rest = offset - values_[value].offset;
        values_[value].parent = found.root;
        values_[value].offset = offset;
        offset = rest;
        value = next;
    }
    return found;
}

bool Lowering::join(ValueId output, ValueId input) {
    if (is_known(output)) {
        known_[output] = known_[input];
        known_bytes_.share(output, known_[input], values_[output].last_use);
        return true;
    }
    if (is_state(output) || is_state(input)) {
        return false;
    }
    if (values_[output].home == Home::output) {
        return place_inside(input, output, 0);
    }
    const Found found = find(input);
    values_[output].parent = found.root;
    values_[output].offset = found.offset;
    Value& root = values_[found.root];
    root.last_use = std::max(root.last_use, values_[output].last_use);
    return true;
}

bool Lowering::place_inside(ValueId part, ValueId whole, std::uint64_t offset) {
    const ValueId root = find(part).root;
    const ValueId target = find(whole).root;
    if (values_[root].home != Home::arena || values_[root].bytes != values_[part].bytes ||
        root == target || is_state(target)) {
        return false;
    }
    values_[root].parent = whole;
    values_[root].offset = offset;
    values_[target].last_use = std::max(values_[target].last_use, values_[root].last_use);
    return true;
}

bool Lowering::is_state(ValueId value) const {
    return values_[find(value).root].home == Home::state;
}

bool Lowering::compute_in_place(ValueId output, ValueId input) {
    const Value& root = values_[find(input).root];
    return !is_known(output) && root.home == Home::arena && root.last_use <= position_ &&
           root.bytes == values_[input].bytes && root.bytes == values_[output].bytes &&
           join(output, input);
}

ValueId Lowering::add_scratch(std::uint64_t bytes) {
    const ValueId id = add_value(bytes, Home::arena);
    scratch_.push_back(id);
    return id;
}

std::uint32_t Lowering::parts_for(std::uint64_t parts_max, std::uint64_t operations) const {
    if (options_.threads == 1) {
        return 1;
    }
    const std::uint64_t worthwhile =
        std::min(options_.threads * parts_per_thread, operations / operations_per_part_min);
    const std::uint64_t parts = std::clamp<std::uint64_t>(worthwhile, 1, parts_max);
    // As many for each thread.
    return static_cast<std::uint32_t>(parts > options_.threads ? parts - (parts % options_.threads)
                                                               : parts);
}

std::uint32_t Lowering::only_reader(tosa::TensorIndex index) const {
    const tosa::TensorLife& life = analysis_.tensors[index];
    const std::uint32_t reader = life.first_use;
    if (life.origin != tosa::Origin::computed || reader != life.last_use ||
        reader >= analysis_.order.size() || life.slot != tosa::nowhere || taken_[reader] ||
        std::ranges::count(operator_at(reader).inputs, index) != 1) {
        return tosa::nowhere;
    }
    return reader;
}

std::vector<std::uint32_t> Lowering::near_readers(tosa::TensorIndex index) const {
    const tosa::TensorLife& life = analysis_.tensors[index];
    std::vector<std::uint32_t> readers;
    if (life.origin != tosa::Origin::computed || life.slot != tosa::nowhere ||
        life.last_use >= analysis_.order.size() || life.last_use - life.first_use > near_max) {
        return readers;
    }
    for (std::uint32_t position = life.first_use; position <= life.last_use; ++position) {
        if (std::ranges::count(operator_at(position).inputs, index) == 0) {
            continue;
        }
        if (taken_[position]) {
            return {};
        }
        readers.push_back(position);
    }
    return readers;
}

const tosa::Operator* Lowering::producer_of(tosa::TensorIndex index) const {
    const tosa::OperatorIndex producer = analysis_.tensors[index].producer;
    return producer == tosa::nowhere ? nullptr : &graph_.operators()[producer];
}

void Lowering::keep_until(ValueId value, std::uint32_t position) {
    Value& root = values_[find(value).root];
    root.last_use = std::max(root.last_use, position);
}

void Lowering::defer(std::uint32_t position, std::function<void(Lowering&)> emission) {
    VIRTACCEL_CHECK(taken_[position] && !deferred_[position]);
    deferred_[position] = std::move(emission);
    ++waiting_;
}

// Outputs that are inputs, constants, or bound to an earlier slot too.
void Lowering::copy_to_other_slots() {
    for (std::uint32_t i = analysis_.input_count; i < analysis_.slots.size(); ++i) {
        const tosa::TensorIndex source = analysis_.slots[i].tensor;
        if (values_[source].home == Home::output && values_[source].slot == i) {
            continue;
        }
        const std::uint64_t bytes = values_[source].bytes;
        const ValueId target = add_value(bytes, Home::output);
        values_[target].slot = i;
        emit(std::make_unique<ops::CopyAll>(source, target, bytes), {source}, target);
    }
}

void Lowering::charge(std::uint64_t bytes) {
    if (bytes > options_.resident_bytes_max - resident_bytes_) {
        throw TooManyResidentBytes{};
    }
    resident_bytes_ += bytes;
}

}  // namespace virtaccel::backends::cpu
