#pragma once
// What a conformance run has to be given besides a backend: a program that the backend takes, and
// what comes out of it. The one thing to know: everything else the cases find out from the
// backend's identity.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::conformance {

// One slot of a sample program: how it is bound, what its buffer holds before and, exactly, after.
struct SampleSlot {
    std::uint32_t slot = 0;
    Access access = Access::read;
    std::vector<std::byte> before;
    std::vector<std::byte> after;
};

// A valid artifact. At least one slot is written, and some byte of it changes; slots are ascending.
// The first half of `artifact` is no valid artifact.
struct SampleProgram {
    std::uint32_t format = 0;
    TargetWords target{};
    std::uint64_t resident_bytes = 0;
    std::vector<std::byte> artifact;
    std::vector<SampleSlot> slots;
};

struct BackendSubject {
    // Outlives the run. Devices and the objects of a run are made from it.
    Memory memory;
    // Every case gets an instance, or several, of its own.
    backend::BackendFactory factory;
    // Without one, the cases that need a program fail.
    std::optional<SampleProgram> program;
    // Called between two polls of a pending event; may give the processor away. At most so many
    // times for one event.
    void* state = nullptr;
    void (*pause)(void* state) = nullptr;
    std::uint32_t pauses_max = 1'000'000;
};

}  // namespace virtaccel::conformance
