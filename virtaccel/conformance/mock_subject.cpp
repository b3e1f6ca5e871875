#include "virtaccel/conformance/mock_subject.h"

#include <cstddef>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/mock/reference_artifact.h"

namespace virtaccel::conformance {

SampleProgram reference_sample() {
    constexpr std::size_t bytes = 100;
    std::vector<std::byte> source(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        source[i] = static_cast<std::byte>(i + 1);
    }
    const auto artifact =
        mock::encode({.operation = mock::Operation::copy, .first_slot = 0, .second_slot = 1});
    return {.format = mock::reference_format,
            .target = mock::reference_target,
            .resident_bytes = mock::reference_resident_bytes,
            .artifact = {artifact.begin(), artifact.end()},
            .slots = {{.slot = 0, .access = Access::read, .before = source, .after = source},
                      {.slot = 1,
                       .access = Access::write,
                       .before = std::vector<std::byte>(bytes, std::byte{0xee}),
                       .after = source}}};
}

BackendSubject reference_subject(const Memory& memory, backend::BackendFactory factory) {
    BackendSubject subject;
    subject.memory = memory;
    subject.factory = factory;
    subject.program = reference_sample();
    return subject;
}

}  // namespace virtaccel::conformance
