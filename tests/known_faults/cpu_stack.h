#pragma once
// A model on its way through the whole stack to the CPU backend, as a guest sends it: what came of
// the load, and what the run gave. The one thing to know: after a refusal the device must hold
// nothing, and every use of this checks that.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/builder.h"

namespace virtaccel::known_faults {

using Bytes = std::vector<std::byte>;

// `loaded` says which step `status` is of. `refusals` are the backend's sentences, a line each;
// `output` is the first one's, if all went well.
struct Ran {
    bool loaded = false;
    Status status = Status::ok;
    std::string refusals;
    Bytes output;
};

class CpuStack {
  public:
    CpuStack();
    CpuStack(const CpuStack&) = delete;
    CpuStack& operator=(const CpuStack&) = delete;
    ~CpuStack();

    // Sends `model` with the target words that suit it.
    [[nodiscard]] Ran load(std::span<const std::byte> model);

    // The same, and runs it on `inputs`, each the bytes of one.
    [[nodiscard]] Ran run(std::span<const std::byte> model, std::span<const Bytes> inputs);
    [[nodiscard]] Ran run(const tosa::Builder& builder, std::span<const Bytes> inputs);

  private:
    struct State;

    std::unique_ptr<State> state_;
};

// The bytes of `values`.
template <class T>
[[nodiscard]] Bytes bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span{values});
    return {bytes.begin(), bytes.end()};
}

}  // namespace virtaccel::known_faults
