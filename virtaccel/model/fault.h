#pragma once
// One failure that the trial's backend is told to have, for the duration of one action: the model
// knows of it too, so that it can say what a right device makes of it.

#include <array>
#include <cstdint>

#include "virtaccel/mock/script.h"

namespace virtaccel::model {

using mock::Call;

// The calls that can be told to fail: all that act for a command. The names are the mock's.
inline constexpr std::array failing_calls{
    Call::create_context, Call::destroy_context,
    Call::allocate,       Call::free,
    Call::write,          Call::read,
    Call::prepare,        Call::load,
    Call::unload,         Call::create_queue,
    Call::destroy_queue,  Call::submit,
    Call::destroy_event,
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
