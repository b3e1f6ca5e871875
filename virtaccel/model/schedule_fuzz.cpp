// Any text as a schedule: it is refused with a sentence, or it is a schedule that, written, is read
// as itself again; and on it, if it is short, device and model agree.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "host/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/model/action.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/model/trial.h"

namespace {

namespace model = virtaccel::model;

constexpr std::size_t actions_max = 40;
constexpr std::uint64_t bytes_max = 4096;

// Short enough to be tried thousands of times a second.
bool is_short(const model::Schedule& schedule) {
    if (schedule.actions.size() > actions_max) {
        return false;
    }
    for (const model::Action& action : schedule.actions) {
        for (const char* key : {"data", "extra", "room"}) {
            if (action.number(key).value_or(0) > bytes_max) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const auto schedule = model::parse_schedule({reinterpret_cast<const char*>(data), bytes});
    if (!schedule) {
        VIRTACCEL_CHECK(schedule.error().ends_with('.'));
        return 0;
    }
    const auto again = model::parse_schedule(model::to_text(*schedule, "Written again"));
    VIRTACCEL_CHECK(again && *again == *schedule);
    if (!is_short(*schedule)) {
        return 0;
    }
    const auto run = model::run_schedule({.memory = virtaccel::host::heap()}, *schedule);
    if (run && run->has_value()) {
        std::fprintf(stderr, "%s\n", (*run)->what.c_str());
        VIRTACCEL_CHECK(!run->has_value());
    }
    return 0;
}
