#include "tools/virtaccel/replay.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "host/files.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/recording.h"
#include "tools/virtaccel/replay_recording.h"
#include "virtaccel/base/result.h"
#include "virtaccel/model/explore.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/model/trial.h"

namespace virtaccel::cli {
namespace {

constexpr std::uint64_t file_bytes_max = std::uint64_t{1} << 32U;

OrFailure<void> replay_schedule(const std::string& path, std::string_view text) {
    const auto schedule = model::parse_schedule(text);
    if (!schedule) {
        return failure(fmt::format("{} (in {})", schedule.error(), path), Exit::usage);
    }
    const auto run = model::run_schedule({.memory = host::heap()}, *schedule);
    if (!run) {
        return failure(run.error(), Exit::usage);
    }
    if (run->has_value()) {
        return failure(
            fmt::format("Device and model part at the action ({}) of the schedule ({}), "
                        "which is ({}). {}",
                        (*run)->index + 1, path, model::to_text(schedule->actions[(*run)->index]),
                        (*run)->what));
    }
    return print_out(
        fmt::format("Device and model agree on all actions ({}) of the schedule ({}).\n",
                    schedule->actions.size(), visible(path)));
}

}  // namespace

OrFailure<void> replay_file(const std::string& path, const std::optional<BackendChoice>& backend) {
    const auto file = host::read_file(path, file_bytes_max);
    if (!file) {
        return failure(file.error().message, Exit::usage);
    }
    const std::string_view text{reinterpret_cast<const char*>(file->data()), file->size()};
    if (text.starts_with(recording_magic)) {
        const auto recording = decode_recording(*file, path);
        if (!recording) {
            return failure(recording.error().message, Exit::usage);
        }
        return replay_recording(*recording, path, backend.value_or(BackendChoice{}));
    }
    if (!text.starts_with("virtaccel-schedule ")) {
        return failure(fmt::format("The file ({}) is neither a recording nor a schedule; give one "
                                   "that virtaccel wrote.",
                                   path),
                       Exit::usage);
    }
    if (backend) {
        return failure(fmt::format("The file ({}) is a schedule, which has a backend of its own; "
                                   "leave --backend out.",
                                   path),
                       Exit::usage);
    }
    return replay_schedule(path, text);
}

OrFailure<void> replay_random(const RandomOptions& options) {
    const auto explored = model::explore(
        {.memory = host::heap()},
        {.first_seed = options.seed, .seeds = options.schedules, .steps = options.steps});
    if (!explored) {
        return failure(explored.error(), Exit::usage);
    }
    if (!explored->finding) {
        return print_out(
            fmt::format("Device and model agree on random schedules ({}) with actions ({}).\n",
                        explored->schedules, explored->actions));
    }
    const std::string text = model::to_text(*explored->finding);
    if (!options.write.empty()) {
        VIRTACCEL_TRY_ASSIGN(auto file,
                             host::NewFile::write(options.write, std::as_bytes(std::span{text})));
        VIRTACCEL_TRY(file.commit());
    }
    VIRTACCEL_TRY(print_out(text));
    return failure(
        fmt::format("Device and model part in the schedule of the seed ({}), which "
                    "stands above, made short; keep it for virtaccel replay.",
                    explored->finding->seed));
}

}  // namespace virtaccel::cli
