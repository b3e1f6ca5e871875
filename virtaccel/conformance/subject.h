#pragma once
// What a conformance run has to be given: what is judged, a program that it takes, and what comes
// out of that. The one thing to know: everything else the cases find out by asking.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/device_under_test.h"

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

// How to wait for an event: called between two polls, at most so many times; may give the processor
// away.
struct Patience {
    void* state = nullptr;
    void (*pause)(void* state) = nullptr;
    std::uint32_t pauses_max = 1'000'000;
};

struct BackendSubject {
    // Outlives the run. Devices and the objects of a run are made from it.
    Memory memory;
    // Every case gets an instance, or several, of its own.
    backend::BackendFactory factory;
    // Without one, the cases that need a program fail.
    std::optional<SampleProgram> program;
    Patience patience;
};

struct DeviceSubject {
    // Outlives the run; for what a case needs on the driver's side.
    Memory memory;
    // Fresh; outlives the run. It is reset before every case, if it can be.
    DeviceUnderTest* device = nullptr;
    // Without one, what needs a program is left out, and the case that is about nothing else is
    // skipped.
    std::optional<SampleProgram> program;
    Patience patience;
};

}  // namespace virtaccel::conformance
