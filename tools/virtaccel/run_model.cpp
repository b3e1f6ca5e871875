#include "tools/virtaccel/run_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "host/clock.h"
#include "host/files.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/engine.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/latency.h"
#include "tools/virtaccel/model.h"
#include "tools/virtaccel/named_file.h"
#include "tools/virtaccel/npy_header.h"
#include "tools/virtaccel/recording.h"
#include "tools/virtaccel/recording_port.h"
#include "tools/virtaccel/report.h"
#include "tools/virtaccel/tensor_file.h"
#include "virtaccel/base/result.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::cli {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t warm_up_runs_max = 10;
constexpr std::uint32_t rounds_max = 20;
constexpr double ns_per_ms = 1e6;

std::string names_of(std::span<const TensorSlot> slots) {
    std::string names;
    for (const TensorSlot& slot : slots) {
        names += names.empty() ? "" : ", ";
        names += slot.name;
    }
    return names;
}

// No tensor twice; the same file twice is for inputs only.
OrFailure<void> check_once(std::span<const NamedFile> files, std::string_view option) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        for (const NamedFile& other : files.subspan(i + 1)) {
            if (other.name == files[i].name) {
                return failure(fmt::format("The tensor ({}) is given twice with {}; give it once.",
                                           other.name, option),
                               Exit::usage);
            }
            if (option == "--output" && other.path == files[i].path) {
                return failure(fmt::format("The file ({}) is given for two outputs ({}, {}); give "
                                           "each its own.",
                                           other.path, files[i].name, other.name),
                               Exit::usage);
            }
        }
    }
    return {};
}

// The position of the tensor of `file` in `slots`, which are the model's inputs or outputs.
OrFailure<std::size_t> find_slot(const Model& model, std::span<const TensorSlot> slots,
                                 const NamedFile& file, std::string_view kind) {
    const auto found = std::ranges::find(slots, file.name, &TensorSlot::name);
    if (found == slots.end()) {
        return failure(fmt::format("The model ({}) has no {} ({}); it has ({}): give one of them.",
                                   model.path, kind, file.name, names_of(slots)));
    }
    return static_cast<std::size_t>(found - slots.begin());
}

// The bytes of each input's buffer.
OrFailure<std::vector<Bytes>> read_inputs(const Model& model, std::span<const NamedFile> files) {
    std::vector<Bytes> inputs(model.input_count);
    std::vector<bool> given(model.input_count);
    for (const NamedFile& file : files) {
        VIRTACCEL_TRY_ASSIGN(const auto slot, find_slot(model, model.inputs(), file, "input"));
        const TensorSlot& input = model.slots[slot];
        VIRTACCEL_TRY_ASSIGN(const auto bytes, host::read_file(file.path, file_bytes_max(input)));
        VIRTACCEL_TRY_ASSIGN(inputs[slot], decode_input(input, bytes, file.path));
        given[slot] = true;
    }
    for (std::size_t slot = 0; slot < model.input_count; ++slot) {
        if (!given[slot]) {
            const TensorSlot& input = model.slots[slot];
            return failure(
                fmt::format("The input ({}) of the model ({}) is missing; give "
                            "--input {}=FILE.npy with {} of shape {}.",
                            input.name, model.path, input.name, tosa::name_of(input.dtype),
                            shape_text(input.shape)));
        }
    }
    return inputs;
}

// One way of running the model, and what its runs took.
struct Lane {
    Way way = Way::loopback;
    std::unique_ptr<Engine> engine;
    std::uint64_t load_ns = 0;
    std::vector<std::uint64_t> runs_ns;
};

std::string_view name_of(Way way) {
    return way == Way::loopback ? "loopback" : "direct";
}

OrFailure<Lane> open_lane(Way way, BackendSource& source, RecordingPort* recorder) {
    Lane lane{.way = way, .engine = nullptr, .load_ns = 0, .runs_ns = {}};
    VIRTACCEL_TRY_ASSIGN(lane.engine, way == Way::loopback ? make_loopback_engine(source, recorder)
                                                           : make_direct_engine(source));
    return lane;
}

OrFailure<void> fill(Lane& lane, const Model& model, std::span<const Bytes> inputs) {
    VIRTACCEL_TRY_ASSIGN(lane.load_ns, lane.engine->load(model));
    for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
        VIRTACCEL_TRY(lane.engine->write(slot, inputs[slot]));
    }
    return {};
}

OrFailure<void> run(Lane& lane, std::uint32_t count, bool measured) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto start_ns = host::now_ns();
        VIRTACCEL_TRY(lane.engine->run());
        if (measured) {
            lane.runs_ns.push_back(host::now_ns() - start_ns);
        }
    }
    return {};
}

// `repeat` runs of every lane. Several lanes take turns, in an order that swaps every round, so
// that a machine that grows faster or slower does so for all of them.
OrFailure<void> measure(std::span<Lane> lanes, std::uint32_t repeat) {
    const auto warm_up = repeat == 1 ? 0 : std::min(repeat, warm_up_runs_max);
    for (Lane& lane : lanes) {
        VIRTACCEL_TRY(run(lane, warm_up, false));
        lane.runs_ns.reserve(repeat);
    }
    const auto rounds = std::min(repeat, rounds_max);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        const auto count = (repeat / rounds) + (round < repeat % rounds ? 1 : 0);
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            VIRTACCEL_TRY(run(lanes[round % 2 == 0 ? i : lanes.size() - 1 - i], count, true));
        }
    }
    return {};
}

// Every way gives the same outputs, byte for byte.
OrFailure<void> check_agreement(const Model& model, std::span<Lane> lanes) {
    for (std::size_t slot = model.input_count; slot < model.slots.size(); ++slot) {
        VIRTACCEL_TRY_ASSIGN(const auto first, lanes.front().engine->read(slot));
        for (Lane& lane : lanes.subspan(1)) {
            VIRTACCEL_TRY_ASSIGN(const auto other, lane.engine->read(slot));
            if (first != other) {
                return failure(
                    fmt::format("The output ({}) differs between the stack and the "
                                "backend alone; please report this.",
                                model.slots[slot].name));
            }
        }
    }
    return {};
}

// The outputs, in files that are not committed yet.
OrFailure<std::vector<host::NewFile>> write_outputs(const Model& model,
                                                    std::span<const NamedFile> files,
                                                    Engine& engine) {
    std::vector<host::NewFile> written;
    for (const NamedFile& file : files) {
        VIRTACCEL_TRY_ASSIGN(const auto output, find_slot(model, model.outputs(), file, "output"));
        const auto slot = model.input_count + output;
        VIRTACCEL_TRY_ASSIGN(const auto bytes, engine.read(slot));
        VIRTACCEL_TRY_ASSIGN(
            auto made, host::NewFile::write(file.path, encode_output(model.slots[slot], bytes)));
        written.push_back(std::move(made));
    }
    return written;
}

// Only the stack has frames.
OrFailure<void> check_recording(const RunOptions& options) {
    if (!options.record.empty() && options.way == Way::direct && !options.compare) {
        return failure(fmt::format("The recording ({}) would be empty, as --device direct sends no "
                                   "frames; leave one of the two out.",
                                   options.record),
                       Exit::usage);
    }
    return {};
}

RunReport report_on(const RunOptions& options, const Model& model, const BackendSource& source,
                    std::span<Lane> lanes) {
    Lane& first = lanes.front();
    RunReport report{.model = model,
                     .backend = source.name(),
                     .description = first.engine->description(),
                     .device = name_of(first.way),
                     .repeat = options.repeat,
                     .load_ms = static_cast<double>(first.load_ns) / ns_per_ms,
                     .latency = summarize(first.runs_ns),
                     .diagnostics = first.engine->diagnostics(),
                     .comparison = std::nullopt};
    if (options.compare) {
        report.comparison = {.direct = summarize(lanes.back().runs_ns), .loopback = report.latency};
    }
    return report;
}

}  // namespace

OrFailure<void> run_model(const RunOptions& options) {
    VIRTACCEL_TRY(check_once(options.inputs, "--input"));
    VIRTACCEL_TRY(check_once(options.outputs, "--output"));
    VIRTACCEL_TRY(check_recording(options));
    VIRTACCEL_TRY_ASSIGN(auto source, BackendSource::find(host::heap(), options.backend));
    VIRTACCEL_TRY_ASSIGN(const auto model, read_model(options.model));
    for (const NamedFile& file : options.outputs) {
        VIRTACCEL_TRY(find_slot(model, model.outputs(), file, "output"));
    }
    VIRTACCEL_TRY_ASSIGN(const auto inputs, read_inputs(model, options.inputs));
    RecordingPort recorder;
    std::vector<Lane> lanes;
    for (const auto way :
         options.compare ? std::vector{Way::loopback, Way::direct} : std::vector{options.way}) {
        VIRTACCEL_TRY_ASSIGN(auto lane,
                             open_lane(way, source, options.record.empty() ? nullptr : &recorder));
        VIRTACCEL_TRY(fill(lane, model, inputs));
        lanes.push_back(std::move(lane));
    }
    VIRTACCEL_TRY(measure(lanes, options.repeat));
    VIRTACCEL_TRY(check_agreement(model, lanes));
    VIRTACCEL_TRY_ASSIGN(auto files, write_outputs(model, options.outputs, *lanes.front().engine));
    const auto report = report_on(options, model, source, lanes);
    lanes.clear();  // so that the end of the session is recorded too
    if (!options.record.empty()) {
        const auto recording = encode(recorder.recording(std::string{source.name()}));
        VIRTACCEL_TRY_ASSIGN(auto file, host::NewFile::write(options.record, recording));
        files.push_back(std::move(file));
    }
    for (host::NewFile& file : files) {
        VIRTACCEL_TRY(file.commit());
    }
    return print_out(options.json ? to_json(report) + '\n' : to_text(report));
}

}  // namespace virtaccel::cli
