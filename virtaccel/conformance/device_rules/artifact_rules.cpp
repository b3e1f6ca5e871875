// The reference artifact (spec §9) and the target words of TOSA artifacts (spec §10), for subjects
// that take them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/faults.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_rules/steps.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

using Load = wire::LoadProgram;

constexpr auto invalid = Status::invalid_argument;
constexpr auto incompatible = Status::incompatible;
constexpr auto unsupported = Status::unsupported;

Check need_format(const Stage& stage, std::uint32_t format, std::string_view name) {
    VIRTACCEL_TRY(need_program(stage));
    if (stage.sample().format != format) {
        return skipped("The subject's program is no ", name, " artifact.");
    }
    return {};
}

Check need_reference(const Stage& stage) {
    return need_format(stage, mock::reference_format, "reference");
}

// LOAD_PROGRAM of the sample, bent by the case's row.
Check refuse_load(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    const Fault& fault = *input.row.fault;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    Draft draft = draft_of<Opcode::load_program>({}, 8);
    draft.payload = stage.load_payload(cast.scene.context, stage.sample().artifact);
    fault.bend(draft, cast);
    VIRTACCEL_TRY(expect_answer(say("A ", fault.name), send(stage.caller(), draft), fault.wanted));
    return take_down(stage, cast);
}

Check refuse_reference(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_reference(input.stage));
    return refuse_load(input);
}

Check refuse_tosa(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_format(input.stage, tosa::artifact_format, "TOSA"));
    return refuse_load(input);
}

// ---- what a reference artifact can be refused for

void turn(Draft& draft, std::size_t place) {
    draft.payload[sizeof(Load) + place] ^= std::byte{0x10};
}

void replace(Draft& draft, const mock::ReferenceProgram& program) {
    std::ranges::copy(mock::encode(program), draft.payload.begin() + sizeof(Load));
}

void resize(Draft& draft, std::size_t bytes) {
    draft.payload.resize(sizeof(Load) + bytes);
    draft.set(&Load::payload_bytes, bytes);
}

constexpr std::array reference_faults{
    Fault{"reference-artifact.too-short", "23 bytes are INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { resize(d, mock::reference_artifact_bytes - 1); }},
    Fault{"reference-artifact.too-long", "25 bytes are INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { resize(d, mock::reference_artifact_bytes + 1); }},
    Fault{"reference-artifact.magic", "another magic is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { turn(d, 0); }},
    Fault{"reference-artifact.version-major", "another major version is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { turn(d, 4); }},
    Fault{"reference-artifact.version-minor", "another minor version is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { turn(d, 5); }},
    Fault{"reference-artifact.operation", "an unknown operation is UNSUPPORTED", unsupported,
          [](Draft& d, const Cast&) { turn(d, 6); }},
    Fault{"reference-artifact.abi", "another binding ABI is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { turn(d, 7); }},
    Fault{"reference-artifact.copy-to-its-source", "a copy of a slot to itself is INVALID_ARGUMENT",
          invalid,
          [](Draft& d, const Cast&) {
              replace(d, {.operation = mock::Operation::copy, .first_slot = 1, .second_slot = 1});
          }},
    Fault{"reference-artifact.copy-to-no-slot", "a copy with one slot is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) {
              replace(d, {.operation = mock::Operation::copy, .first_slot = 1});
          }},
    Fault{"reference-artifact.fill-with-two-slots", "a fill of two slots is INVALID_ARGUMENT",
          invalid,
          [](Draft& d, const Cast&) {
              replace(d, {.operation = mock::Operation::fill, .first_slot = 0, .second_slot = 1});
          }},
    Fault{"reference-artifact.copy-with-operand", "an operand of a copy is INVALID_ARGUMENT",
          invalid, [](Draft& d, const Cast&) { turn(d, 16); }},
    Fault{"reference-artifact.barrier-with-operand", "an operand of a barrier is INVALID_ARGUMENT",
          invalid,
          [](Draft& d, const Cast&) {
              replace(d, {.operation = mock::Operation::barrier, .operand = 1});
          }},
    Fault{"reference-artifact.reserved-first", "the first reserved byte is INVALID_ARGUMENT",
          invalid, [](Draft& d, const Cast&) { turn(d, 17); }},
    Fault{"reference-artifact.reserved-last", "the last reserved byte is INVALID_ARGUMENT", invalid,
          [](Draft& d, const Cast&) { turn(d, 23); }},
    Fault{"reference-artifact.resident-too-few", "63 resident bytes are INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) {
              d.set(&Load::resident_bytes, mock::reference_resident_bytes - 1);
          }},
    Fault{"reference-artifact.resident-too-many", "65 resident bytes are INCOMPATIBLE",
          incompatible,
          [](Draft& d, const Cast&) {
              d.set(&Load::resident_bytes, mock::reference_resident_bytes + 1);
          }},
};

// ---- target words

constexpr std::size_t word_at(std::size_t index) {
    return offsetof(Load, target) + (index * sizeof(wire::le32));
}

void set_word(Draft& draft, std::size_t index, std::uint32_t value) {
    const wire::le32 word = value;
    std::ranges::copy(std::as_bytes(std::span{&word, 1}),
                      draft.payload.begin() + static_cast<std::ptrdiff_t>(word_at(index)));
}

constexpr std::array tosa_faults{
    Fault{"tosa-artifact.format-word", "another format in the target is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 0, 0x544f5342); }},
    Fault{"tosa-artifact.abi", "another ABI is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 1, 2); }},
    Fault{"tosa-artifact.major", "another major version than the model's is INCOMPATIBLE",
          incompatible, [](Draft& d, const Cast&) { set_word(d, 2, 2); }},
    Fault{"tosa-artifact.minor", "another minor version than the model's is INCOMPATIBLE",
          incompatible, [](Draft& d, const Cast&) { set_word(d, 3, 1); }},
    Fault{"tosa-artifact.patch", "a patch version past 65535 is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 4, 65536); }},
    Fault{"tosa-artifact.no-profile", "no profile is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 5, 0); }},
    Fault{"tosa-artifact.unknown-profile", "an unknown profile is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 5, 7); }},
    Fault{"tosa-artifact.level", "an unknown level is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 6, 2); }},
    Fault{"tosa-artifact.unknown-extension", "extension bit 11 is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 7, 1U << 11U); }},
    Fault{"tosa-artifact.high-extension", "a bit of the second extension word is INCOMPATIBLE",
          incompatible, [](Draft& d, const Cast&) { set_word(d, 8, 1); }},
    Fault{"tosa-artifact.int16-without-integer",
          "INT16 without the integer profile is "
          "INCOMPATIBLE",
          incompatible,
          [](Draft& d, const Cast&) {
              set_word(d, 5, 2);
              set_word(d, 7, 1U << 0U);
          }},
    Fault{"tosa-artifact.bf16-without-floating-point",
          "BF16 without the floating-point profile is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) {
              set_word(d, 5, 1);
              set_word(d, 7, 1U << 2U);
          }},
    Fault{"tosa-artifact.reserved-first", "the first reserved word is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 9, 1); }},
    Fault{"tosa-artifact.reserved-last", "the last reserved word is INCOMPATIBLE", incompatible,
          [](Draft& d, const Cast&) { set_word(d, 11, 1); }},
};

// Every target word of the reference artifact is part of its name.
Check reference_target_words(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_reference(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    for (std::size_t i = 0; i < stage.sample().target.size(); ++i) {
        Draft draft = draft_of<Opcode::load_program>({}, 8);
        draft.payload = stage.load_payload(cast.scene.context, stage.sample().artifact);
        set_word(draft, i, stage.sample().target.at(i) ^ 1U);
        VIRTACCEL_TRY(expect_refusal(say("A reference artifact with another target word (", i, ")"),
                                     send(stage.caller(), draft), incompatible));
    }
    return take_down(stage, cast);
}

// ---- what the reference artifacts do

constexpr std::uint64_t size = cast_buffer_bytes;

wire::Binding bind(std::uint32_t slot, BufferId buffer, Access access, std::uint64_t offset = 0,
                   std::uint64_t bytes = size) {
    wire::Binding binding;
    binding.buffer_id = buffer;
    binding.offset = offset;
    binding.bytes = bytes;
    binding.slot = slot;
    binding.access = static_cast<std::uint8_t>(access);
    return binding;
}

Bytes counted() {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i + 1);
    }
    return bytes;
}

// A reference program in the cast's context, and the cast's buffer with known contents.
Checked<Scene> with_program(Stage& stage, const Cast& cast, const mock::ReferenceProgram& program) {
    VIRTACCEL_TRY(stage.caller().write(cast.buffer, 0, counted()));
    Scene scene = cast.scene;
    VIRTACCEL_TRY_ASSIGN(scene.program,
                         expect_id<ProgramKind>("LOAD_PROGRAM of a reference artifact",
                                                stage.load(scene.context, mock::encode(program))));
    return scene;
}

// Runs `program` over `bindings` of the cast's buffer, which holds `wanted` then.
Check check_operation(const DeviceCaseInput& input, const mock::ReferenceProgram& program,
                      std::vector<wire::Binding> (*bindings)(BufferId), const Bytes& wanted) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, with_program(stage, cast, program));
    VIRTACCEL_TRY_ASSIGN(const EventId event, submit(stage, scene, bindings(cast.buffer)));
    VIRTACCEL_TRY(finish(stage, event));
    VIRTACCEL_TRY_ASSIGN(const Bytes found, stage.caller().read(cast.buffer, 0, size));
    VIRTACCEL_TRY(expect(found == wanted, "The operation leaves other bytes than it has to."));
    VIRTACCEL_TRY(stage.caller().destroy(scene.program));
    return take_down(stage, cast);
}

Check fill(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_reference(input.stage));
    Bytes wanted = counted();
    std::fill_n(wanted.begin() + 3, 5, std::byte{0xab});
    return check_operation(
        input, {.operation = mock::Operation::fill, .first_slot = 7, .operand = 0xab},
        [](BufferId buffer) { return std::vector{bind(7, buffer, Access::write, 3, 5)}; }, wanted);
}

Check exclusive_or(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_reference(input.stage));
    Bytes wanted = counted();
    std::ranges::for_each(wanted, [](std::byte& byte) { byte ^= std::byte{0x5a}; });
    return check_operation(
        input, {.operation = mock::Operation::exclusive_or, .first_slot = 2, .operand = 0x5a},
        [](BufferId buffer) { return std::vector{bind(2, buffer, Access::read_write)}; }, wanted);
}

Check barrier(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_reference(input.stage));
    return check_operation(
        input, {.operation = mock::Operation::barrier, .first_slot = 4},
        [](BufferId buffer) { return std::vector{bind(4, buffer, Access::write)}; }, counted());
}

Check overlapping_copy(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_reference(input.stage));
    const Bytes before = counted();
    Bytes wanted = before;
    std::copy_n(before.begin(), 12, wanted.begin() + 4);
    return check_operation(
        input, {.operation = mock::Operation::copy, .first_slot = 9, .second_slot = 3},
        [](BufferId buffer) {
            return std::vector{bind(9, buffer, Access::read, 0, 12),
                               bind(3, buffer, Access::write, 4, 12)};
        },
        wanted);
}

// Bindings that a copy from slot 0 to slot 1 does not want.
Check bindings_that_do_not_fit(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_reference(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    VIRTACCEL_TRY_ASSIGN(
        const Scene scene,
        with_program(stage, cast,
                     {.operation = mock::Operation::copy, .first_slot = 0, .second_slot = 1}));

    struct Row {
        std::string_view what;
        std::vector<wire::Binding> bindings;
    };

    const auto read = bind(0, cast.buffer, Access::read, 0, 8);
    const auto write = bind(1, cast.buffer, Access::write, 8, 8);
    const std::array rows{
        Row{"no target", {read}},
        Row{"no source", {write}},
        Row{"a slot more", {read, write, bind(2, cast.buffer, Access::read)}},
        Row{"another slot", {read, bind(2, cast.buffer, Access::write, 8, 8)}},
        Row{"a target that is read", {read, bind(1, cast.buffer, Access::read, 8, 8)}},
        Row{"a source that is written", {bind(0, cast.buffer, Access::write, 0, 8), write}},
        Row{"a source that is read and written",
            {bind(0, cast.buffer, Access::read_write, 0, 8), write}},
        Row{"a shorter target", {read, bind(1, cast.buffer, Access::write, 8, 7)}},
    };
    for (const Row& row : rows) {
        if (row.bindings.size() > cast.info.bindings_per_submission_max) {
            continue;
        }
        VIRTACCEL_TRY(expect_refusal(say("A SUBMIT of a copy with ", row.what),
                                     stage.submit(scene, row.bindings), incompatible));
    }
    VIRTACCEL_TRY_ASSIGN(const Bytes found, stage.caller().read(cast.buffer, 0, size));
    VIRTACCEL_TRY(expect(found == counted(), "A refused SUBMIT has run."));
    VIRTACCEL_TRY(stage.caller().destroy(scene.program));
    return take_down(stage, cast);
}

constexpr std::array other_cases{
    DeviceCase{"reference-artifact.target-words", "another target word is INCOMPATIBLE",
               reference_target_words},
    DeviceCase{"reference-artifact.fill", "a fill writes its range", fill},
    DeviceCase{"reference-artifact.exclusive-or", "a xor reads and writes its range", exclusive_or},
    DeviceCase{"reference-artifact.barrier", "a barrier touches nothing", barrier},
    DeviceCase{"reference-artifact.overlapping-copy",
               "a copy may overlap, and its slots may descend", overlapping_copy},
    DeviceCase{"reference-artifact.bindings", "bindings that do not fit are INCOMPATIBLE",
               bindings_that_do_not_fit},
};

std::vector<DeviceCase> collect_cases() {
    std::vector<DeviceCase> cases;
    const auto add = [&cases](std::span<const Fault> faults,
                              Check (*run)(const DeviceCaseInput& input)) {
        for (const Fault& fault : faults) {
            cases.push_back(
                {.name = fault.name, .title = fault.title, .run = run, .fault = &fault});
        }
    };
    add(reference_faults, refuse_reference);
    cases.insert(cases.end(), other_cases.begin(), other_cases.end());
    add(tosa_faults, refuse_tosa);
    return cases;
}

}  // namespace

std::span<const DeviceCase> artifact_rules() {
    static const std::vector<DeviceCase> cases = collect_cases();
    return cases;
}

}  // namespace virtaccel::conformance::rules
