#pragma once
// One failure that the trial's backend is told to have, for the duration of one action: the model
// knows of it too, so that it can say what a right device makes of it.

#include <array>
#include <cstdint>
#include <string_view>

namespace virtaccel::model {

// The calls that can be told to fail.
enum class Call : std::uint8_t {
    create_context,
    destroy_context,
    allocate,
    free,
    write,
    read,
    prepare,
    load,
    unload,
    create_queue,
    destroy_queue,
    submit,
    destroy_event,
};

inline constexpr std::array<std::string_view, 13> call_names{
    "create_context", "destroy_context", "allocate",      "free",   "write",
    "read",           "prepare",         "load",          "unload", "create_queue",
    "destroy_queue",  "submit",          "destroy_event",
};

// The call answers `status`, as the backend spells it (it may be a number that the protocol does
// not know), and nothing has happened; or, if it is indeterminate, nobody knows what has. Only
// releases and submissions can be indeterminate.
struct Fault {
    Call call = Call::create_context;
    std::uint16_t status = 0;
    bool indeterminate = false;
};

}  // namespace virtaccel::model
