#pragma once

// How one end of a queue wakes the other: a function and its state. The one thing to know: it may
// be called from inside `kick` or `flush`, and whatever it does must be safe there.

namespace virtaccel::queue {

// An empty one does nothing: the other side polls.
struct Notify {
    void* state = nullptr;
    void (*call)(void* state) = nullptr;

    void operator()() const {
        if (call != nullptr) {
            call(state);
        }
    }
};

}  // namespace virtaccel::queue
