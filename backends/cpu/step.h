#pragma once
// What a program is made of: steps over a frame of addresses. The one thing to know: a step knows
// its operands by number, and whoever runs it puts the addresses of this run behind the numbers, so
// that a caller's buffers are used where they are.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "virtaccel/base/status.h"

namespace virtaccel::backends::cpu {

// A tensor of the program, or bytes that the program keeps for itself.
using ValueId = std::uint32_t;

// Where every value is during one run. Constants may not be written.
struct Frame {
    std::span<std::byte* const> addresses;

    template <class T>
    [[nodiscard]] T* at(ValueId value) const {
        return reinterpret_cast<T*>(addresses[value]);
    }
};

// One piece of work. Parts are independent of each other and may run on different threads at the
// same time; steps run one after the other. `run` allocates nothing and throws nothing; it is false
// if it gives up, and the submission then fails.
class Step {
  public:
    Step() = default;
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    virtual ~Step() = default;

    [[nodiscard]] virtual std::uint32_t parts() const { return 1; }

    virtual bool run(const Frame& frame, std::uint32_t part) noexcept = 0;

    // Why `run` gives up, where it does: a library that it calls, or an operand that TOSA forbids.
    [[nodiscard]] virtual Status failure() const { return Status::internal_error; }

    // The step that comes after this one, which stands at `position`.
    [[nodiscard]] virtual std::uint32_t next(const Frame& /*frame*/,
                                             std::uint32_t position) noexcept {
        return position + 1;
    }

    // What the step keeps besides its values: packed weights, scratch of its own.
    [[nodiscard]] virtual std::uint64_t resident_bytes() const { return 0; }
};

using Steps = std::vector<std::unique_ptr<Step>>;

}  // namespace virtaccel::backends::cpu
