#pragma once
// One way to run a model: through the whole stack, or on the backend alone. The one thing to know:
// both do the same work in the same order, so that their times can be compared.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/model.h"
#include "tools/virtaccel/recording_port.h"
#include "virtaccel/backend/contract.h"

namespace virtaccel::cli {

class Engine {
  public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    // Makes a context, a queue, the program and a buffer for each slot; once. The result is how
    // long loading the program took, in ns. `Exit::refused` if the backend does not take the model;
    // its reasons went to standard error.
    [[nodiscard]] virtual OrFailure<std::uint64_t> load(const Model& model) = 0;

    // Writes and reads all of a slot's buffer.
    [[nodiscard]] virtual OrFailure<void> write(std::size_t slot,
                                                std::span<const std::byte> bytes) = 0;
    [[nodiscard]] virtual OrFailure<std::vector<std::byte>> read(std::size_t slot) = 0;

    // Submits once, waits to the end, and destroys the event.
    [[nodiscard]] virtual OrFailure<void> run() = 0;

    // What runs the model, and what it counted.
    [[nodiscard]] virtual std::string description() = 0;
    [[nodiscard]] virtual backend::Diagnostics diagnostics() = 0;
};

// Guest client, virtqueue and device in this process. `source` outlives the engine, and so does
// `recorder`, if there is one: it stands before the device and writes down what goes through.
[[nodiscard]] OrFailure<std::unique_ptr<Engine>> make_loopback_engine(
    BackendSource& source, RecordingPort* recorder = nullptr);

// The backend's own calls and nothing else.
[[nodiscard]] OrFailure<std::unique_ptr<Engine>> make_direct_engine(const BackendSource& source);

}  // namespace virtaccel::cli
