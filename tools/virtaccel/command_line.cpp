// The only file that sees the command line library.
#include "tools/virtaccel/command_line.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "backends/cpu/cpu.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/conform.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/inspect.h"
#include "tools/virtaccel/limited_backend.h"
#include "tools/virtaccel/named_file.h"
#include "tools/virtaccel/replay.h"
#include "tools/virtaccel/run_model.h"
#include "tools/virtaccel/show_info.h"
#include "tools/virtaccel/stdio_commands.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/reference.h"

namespace virtaccel::cli {
namespace {

constexpr std::uint32_t repeat_max = 1'000'000;
constexpr double conform_timeout_s_max = 86'400;
constexpr std::uint64_t buffer_bytes_max = std::uint64_t{1} << 40U;
constexpr std::uint64_t schedule_numbers_max = 1'000'000'000;

using Action = std::function<OrFailure<void>()>;

// One command. `add` gives the parser its options and returns what to do once they are parsed.
struct Command {
    std::string_view name;
    std::string_view summary;
    std::string_view footer;
    Action (*add)(CLI::App& parser);
};

CLI::Option* add_backend(CLI::App& parser, BackendChoice& choice, std::string_view usual) {
    choice.name = usual;
    return parser
        .add_option("--backend", choice.name,
                    fmt::format("The backend: one of {}", backend_names()))
        ->type_name("NAME[:DEVICE]")
        ->capture_default_str();
}

// Options that may come several times and take one value each time.
CLI::Option* add_named_files(CLI::App& parser, const std::string& name,
                             std::vector<std::string>& values, const std::string& description) {
    return parser.add_option(name, values, description)
        ->type_name("NAME=FILE.npy")
        ->allow_extra_args(false);
}

Action add_run(CLI::App& parser) {
    struct Arguments {
        RunOptions options;
        std::uint32_t threads = 0;
        std::string device = "loopback";
        std::vector<std::string> inputs;
        std::vector<std::string> outputs;
    };

    const auto given = std::make_shared<Arguments>();
    parser.add_option("MODEL", given->options.model, "A TOSA 1.0 flatbuffer")->required();
    add_named_files(parser, "--input", given->inputs, "An input of the model and a file for it");
    add_named_files(parser, "--output", given->outputs, "An output of the model and a file for it");
    add_backend(parser, given->options.backend, "cpu");
    parser
        .add_option("--device", given->device,
                    "loopback: guest client, virtqueue and device in this process; direct: the "
                    "backend's own calls")
        ->check(CLI::IsMember({"loopback", "direct"}))
        ->capture_default_str();
    const auto* threads =
        parser.add_option("--threads", given->threads, "Threads that the backend computes with")
            ->check(CLI::Range(1U, backends::cpu::Options::threads_max));
    parser.add_option("--repeat", given->options.repeat, "How many runs are measured")
        ->check(CLI::Range(1U, repeat_max))
        ->capture_default_str();
    parser.add_flag("--compare", given->options.compare,
                    "Measure loopback and direct in turns, in this one process");
    parser
        .add_option("--record", given->options.record,
                    "Write the frames between guest and device, for virtaccel replay")
        ->type_name("FILE");
    parser.add_flag("--json", given->options.json, "Print one JSON object");
    return [given, threads]() -> OrFailure<void> {
        RunOptions& options = given->options;
        options.way = given->device == "direct" ? Way::direct : Way::loopback;
        if (!threads->empty()) {
            options.backend.threads = given->threads;
        }
        for (const auto& text : given->inputs) {
            VIRTACCEL_TRY_ASSIGN(auto file, parse_named_file(text, "--input"));
            options.inputs.push_back(std::move(file));
        }
        for (const auto& text : given->outputs) {
            VIRTACCEL_TRY_ASSIGN(auto file, parse_named_file(text, "--output"));
            options.outputs.push_back(std::move(file));
        }
        return run_model(options);
    };
}

Action add_info(CLI::App& parser) {
    const auto options = std::make_shared<InfoOptions>();
    add_backend(parser, options->backend, "cpu");
    parser.add_flag("--json", options->json, "Print one JSON object");
    return [options] { return show_info(*options); };
}

Action add_inspect(CLI::App& parser) {
    struct Arguments {
        InspectOptions options;
        BackendChoice backend;
    };

    const auto given = std::make_shared<Arguments>();
    parser.add_option("MODEL", given->options.model, "A TOSA 1.0 flatbuffer")->required();
    const auto* backend =
        parser
            .add_option("--backend", given->backend.name,
                        fmt::format("Say of each operator whether this backend takes it: one of {}",
                                    backend_names()))
            ->type_name("NAME[:DEVICE]");
    parser.add_option("--svg", given->options.svg, "Draw the graph, with Graphviz's program dot")
        ->type_name("FILE");
    parser.add_flag("--json", given->options.json, "Print one JSON object");
    return [given, backend] {
        if (!backend->empty()) {
            given->options.backend = given->backend;
        }
        return inspect_model(given->options);
    };
}

// When a mock event completes: a word, or the number of polls that find it pending.
OrFailure<void> parse_completion(const std::string& text, MockChoice& choice) {
    if (text == "submit" || text == "never" || text == "poll") {
        choice.complete_at = text == "submit"  ? mock::CompleteAt::submit
                             : text == "never" ? mock::CompleteAt::never
                                               : mock::CompleteAt::poll;
        return {};
    }
    if (!CLI::detail::lexical_cast(text, choice.pending_polls) || text.front() == '-') {
        return failure(fmt::format("The value ({}) of --complete is none of poll, submit, never "
                                   "and a number of polls; give one of them.",
                                   text),
                       Exit::usage);
    }
    return {};
}

Action add_device(CLI::App& parser) {
    struct Arguments {
        DeviceOptions options;
        AdvertisedLimits limits{.bindings_per_submission = 256,
                                .buffer_bytes = std::uint64_t{16} << 20U,
                                .artifact_bytes = std::uint64_t{64} << 10U};
        std::string complete = "poll";
        bool no_cancel = false;
        bool stdio = false;
    };

    const auto given = std::make_shared<Arguments>();
    parser.add_flag("--stdio", given->stdio, "Serve on standard input and output")->required();
    add_backend(parser, given->options.backend, "mock");
    const auto* complete =
        parser
            .add_option("--complete", given->complete,
                        "When a mock event completes: at its first poll, in SUBMIT, never, or "
                        "after N polls that find it pending")
            ->type_name("poll|submit|never|N")
            ->capture_default_str();
    parser.add_flag("--no-cancel", given->no_cancel, "The mock cannot cancel events");
    const auto add_limit = [&parser](const char* name, auto& value, auto min, auto max,
                                     const char* description) {
        using Value = std::remove_reference_t<decltype(value)>;
        parser.add_option(name, value, description)
            ->check(CLI::Range(static_cast<Value>(min), static_cast<Value>(max)))
            ->capture_default_str();
    };
    add_limit("--max-request-bytes", given->options.request_bytes_max, protocol::request_bytes_min,
              protocol::frame_bytes_max, "The largest request frame");
    add_limit("--max-response-bytes", given->options.response_bytes_max,
              protocol::response_bytes_min, protocol::frame_bytes_max,
              "The largest response frame");
    add_limit("--max-artifact-bytes", given->limits.artifact_bytes, 1U, buffer_bytes_max,
              "The largest artifact");
    add_limit("--max-buffer-bytes", given->limits.buffer_bytes, 1U, buffer_bytes_max,
              "The largest buffer");
    add_limit("--max-bindings", given->limits.bindings_per_submission, 1U, protocol::bindings_max,
              "The most bindings of a submission");
    add_limit("--max-descriptors", given->options.chain_descriptors_max,
              protocol::chain_descriptors_min, protocol::chain_descriptors_max,
              "The longest chain, as configuration space says it");
    return [given, complete]() -> OrFailure<void> {
        BackendChoice& choice = given->options.backend;
        choice.limits = given->limits;
        if (!complete->empty() || given->no_cancel) {
            MockChoice mock;
            VIRTACCEL_TRY(parse_completion(given->complete, mock));
            mock.can_cancel = !given->no_cancel;
            choice.mock = mock;
        }
        return serve_device(given->options);
    };
}

Action add_guest(CLI::App& parser) {
    struct Arguments {
        GuestOptions options;
        bool stdio = false;
    };

    const auto given = std::make_shared<Arguments>();
    parser.add_flag("--stdio", given->stdio, "Ask on standard output, hear on standard input")
        ->required();
    parser.add_flag("--strict", given->options.strict,
                    "Where the protocol leaves two answers open, demand this project's own");
    return [given] { return drive_guest(given->options); };
}

Action add_replay(CLI::App& parser) {
    struct Arguments {
        std::string file;
        BackendChoice backend;
        RandomOptions random;
    };

    const auto given = std::make_shared<Arguments>();
    auto* const file =
        parser.add_option("FILE", given->file, "A recording, or a schedule; see docs/replay.md");
    auto* const backend =
        parser
            .add_option(
                "--backend", given->backend.name,
                fmt::format("For a recording, the recorded backend or one of {}", backend_names()))
            ->type_name("NAME");
    auto* const seed = parser
                           .add_option("--seed", given->random.seed,
                                       "In place of a file, a random schedule from this seed")
                           ->excludes(file)
                           ->excludes(backend);
    const auto add_random = [&](const char* name, std::uint64_t& value, const char* description) {
        parser.add_option(name, value, description)
            ->check(CLI::Range(std::uint64_t{1}, schedule_numbers_max))
            ->needs(seed)
            ->capture_default_str();
    };
    add_random("--steps", given->random.steps, "Actions of a random schedule");
    add_random("--schedules", given->random.schedules,
               "How many of them, from seeds that follow one another");
    parser
        .add_option("--write", given->random.write,
                    "Where a random schedule at which device and model part is written")
        ->type_name("FILE")
        ->needs(seed);
    return [given, file, seed, backend]() -> OrFailure<void> {
        if (!seed->empty()) {
            return replay_random(given->random);
        }
        if (file->empty()) {
            return failure("There is nothing to replay: give a file, or --seed.", Exit::usage);
        }
        return replay_file(given->file,
                           backend->empty() ? std::nullopt : std::optional{given->backend});
    };
}

// A range lets pass what is neither below nor above it, as "nan" is.
std::string refuse_nan(const std::string& text) {
    double number = 0;
    return CLI::detail::lexical_cast(text, number) && std::isnan(number)
               ? fmt::format("Value {} is no number", text)
               : std::string{};
}

Action add_conform(CLI::App& parser) {
    struct Arguments {
        ConformOptions options;
        double timeout_s = 10;
    };

    const auto given = std::make_shared<Arguments>();
    ConformOptions& options = given->options;
    parser
        .add_option("--backend", options.backend,
                    fmt::format("The backend that is judged, or that the device loopback has "
                                "(mock): one of {}",
                                backend_names()))
        ->type_name("NAME[:DEVICE]");
    parser
        .add_option("--device", options.device,
                    "The device that is judged: loopback, in this process, or stdio:COMMAND "
                    "ARG..., a program that takes frames on its standard input")
        ->type_name("DEVICE");
    parser
        .add_option("--program", options.program,
                    "The artifact that is run: a mock's, a small TOSA model, or none (what the "
                    "backend takes; mock for a program's device)")
        ->check(CLI::IsMember({"mock", "tosa", "none"}));
    parser
        .add_option("--case", options.patterns, "Only cases of such a name; * and ? stand for any")
        ->type_name("PATTERN")
        ->allow_extra_args(false);
    parser.add_flag("--list", options.list, "Show names and titles of the cases, and run none");
    parser
        .add_option("--timeout", given->timeout_s,
                    "Seconds that a device may take to answer, and an event to end")
        ->check(CLI::Range(0.01, conform_timeout_s_max))
        ->check(refuse_nan)
        ->capture_default_str();
    parser.add_option("--max-request-bytes", options.request_bytes_max, "What the device has")
        ->check(CLI::Range(protocol::request_bytes_min, protocol::frame_bytes_max))
        ->capture_default_str();
    parser.add_option("--max-response-bytes", options.response_bytes_max, "What the device has")
        ->check(CLI::Range(protocol::response_bytes_min, protocol::frame_bytes_max))
        ->capture_default_str();
    parser.add_option("--max-descriptors", options.chain_descriptors_max, "What the device has")
        ->check(CLI::Range(protocol::chain_descriptors_min, protocol::chain_descriptors_max))
        ->capture_default_str();
    const auto add_file = [&parser](const char* name, std::string& path, const char* description) {
        parser.add_option(name, path, description)->type_name("FILE");
    };
    add_file("--json", options.json, "Write one JSON object; to standard output if FILE is -");
    add_file("--junit", options.junit, "Write JUnit XML");
    add_file("--badge", options.badge, "Write an SVG badge");
    add_file("--ulp", options.ulp, "Write the errors of a backend's numbers as a table");
    return [given] {
        constexpr double ms_per_s = 1000;
        given->options.timeout_ms = static_cast<std::uint32_t>(given->timeout_s * ms_per_s);
        return run_conform(given->options);
    };
}

constexpr std::array commands{
    Command{"run", "Run a TOSA model",
            "A latency is what one run takes: submit, wait for its end, destroy the event; the "
            "inputs\nare written before. With --repeat above 1, up to 10 runs before the first "
            "measured one are\nnot counted. load_ms is what loading the program takes.\n\n"
            "Exit codes: 0 done, 2 wrong usage, 3 the backend refuses the model, 1 anything else."
            "\n\nExample:\n"
            "  virtaccel run face.tosa --input TosaInput_0=face.npy --output "
            "TosaOutput_0=boxes.npy\n"
            "  virtaccel run face.tosa --input TosaInput_0=face.npy --repeat 500 --compare",
            add_run},
    Command{"info", "Show a device's configuration, identity and limits, and its backend",
            "Example:\n  virtaccel info --backend cpu --json", add_info},
    Command{"inspect", "Show what is in a TOSA model, what it costs, and who takes it",
            "MACs are multiplications of convolutions and matrix products. The peak arena is what "
            "lies\nbetween operators at one time, if none computes in place. Foldable operators "
            "are those whose\nresults are known when the model is loaded.\n\n"
            "Exit codes: 0 done, 2 wrong usage, 3 the backend refuses the model, 1 anything else."
            "\n\nExample:\n"
            "  virtaccel inspect face.tosa --backend cpu --svg face.svg",
            add_inspect},
    Command{
        "device", "Be a device for another program's guest",
        "A request is u32 length, u32 response capacity, and the frame; a reply is u32 used "
        "length, and\nthe frame. Length 0xffffffff is a reset, the capacity its seed; its reply "
        "is 1 (backend kept),\n2 (backend rebuilt) or 0 (refused). All numbers are "
        "little-endian.\n\nExample:\n"
        "  mkfifo up down\n"
        "  virtaccel device --stdio <up >down & virtaccel guest --stdio <down >up",
        add_device},
    Command{"replay", "Run a recorded session again, or a schedule against the model of a device",
            "A recording comes from virtaccel run --record; a schedule from here.\n\n"
            "Exit codes: 0 everything agrees, 1 something differs, 2 wrong usage or a file that is "
            "neither.\n\nExample:\n"
            "  virtaccel run face.tosa --input TosaInput_0=face.npy --record face.rec\n"
            "  virtaccel replay face.rec --backend cpu\n"
            "  virtaccel replay --seed 1 --schedules 100 --steps 1000 --write parting.txt",
            add_replay},
    Command{"conform", "Judge a backend or a device by the standard cases",
            "A case passes, fails, or is skipped for want of something it needs, with the "
            "reason.\n\n"
            "Exit codes: 0 no case failed, 1 a case failed or the device is gone, 2 wrong "
            "usage.\n\nExample:\n"
            "  virtaccel conform --backend cpu\n"
            "  virtaccel conform --device loopback --junit report.xml --badge badge.svg\n"
            "  virtaccel conform --device \"stdio:other-device --stdio\" --timeout 2 --json -\n"
            "  virtaccel conform --device \"stdio:virtaccel device --stdio\" --case 'VQ-01*'",
            add_conform},
    Command{"guest", "Ask another program's device everything, and judge its answers",
            "The device has a mock backend. Standard error lists every answer; the exit code is 0 "
            "only if\nall of them are right.\n\nExample:\n"
            "  mkfifo up down\n"
            "  other-device <up >down & virtaccel guest --stdio --strict <down >up",
            add_guest},
};

int end(const Failure& reason) {
    say("virtaccel: " + reason.message);
    return static_cast<int>(reason.code);
}

// What a parser says of a wrong command line, as one sentence.
Failure usage_failure(const CLI::App& parser, const CLI::Error& error) {
    const auto unknown = parser.remaining();
    if (parser.get_subcommands().empty() && !unknown.empty()) {
        return Failure{fmt::format("There is no command ({}); see virtaccel --help.", unknown[0]),
                       Exit::usage};
    }
    std::string what = error.what();
    while (what.ends_with('.') || what.ends_with('\n')) {
        what.pop_back();
    }
    const auto chosen = parser.get_subcommands();
    return Failure{fmt::format("The command line is wrong ({}); see virtaccel {}--help.", what,
                               chosen.empty() ? "" : chosen.front()->get_name() + ' '),
                   Exit::usage};
}

int parse_and_run(std::span<const char* const> arguments) {
    CLI::App parser{
        "Runs TOSA models on this host's accelerators through the virtio-accel "
        "protocol.",
        "virtaccel"};
    parser.require_subcommand(1);
    parser.footer("Example:\n  virtaccel run --help");
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const Command& command : commands) {
        auto* child =
            parser.add_subcommand(std::string{command.name}, std::string{command.summary});
        child->footer(std::string{command.footer});
        actions.emplace_back(child, command.add(*child));
    }
    try {
        parser.parse(static_cast<int>(arguments.size()), arguments.data());
    } catch (const CLI::Success& help) {
        std::ostringstream text;
        const int code = parser.exit(help, text, text);
        const auto printed = print_out(text.str());
        return printed ? code : end(printed.error());
    } catch (const CLI::Error& error) {
        return end(usage_failure(parser, error));
    }
    for (const auto& [child, action] : actions) {
        if (child->parsed()) {
            const auto done = action();
            return done ? static_cast<int>(Exit::done) : end(done.error());
        }
    }
    return static_cast<int>(Exit::usage);
}

}  // namespace

int run_command_line(std::span<const char* const> arguments) {
    hold_standard_ends();
    try {
        return parse_and_run(arguments);
    } catch (const std::bad_alloc&) {
        return end(
            Failure{"The host has no memory for this; close other programs or choose a "
                    "smaller model."});
    } catch (const std::exception& error) {
        return end(Failure{fmt::format("The program ends early ({}); look at what is named there.",
                                       error.what())});
    }
}

}  // namespace virtaccel::cli
