#pragma once
// The reference backend as a subject: the sample is a copy from slot 0 to slot 1.

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/conformance/subject.h"

namespace virtaccel::conformance {

// The sample program for every backend that takes the reference backend's artifacts.
[[nodiscard]] SampleProgram reference_sample();

// The subject of a factory that makes such backends.
[[nodiscard]] BackendSubject reference_subject(const Memory& memory,
                                               backend::BackendFactory factory);

}  // namespace virtaccel::conformance
