#pragma once
// Everything behind one device of one run: counted memory, the script, the audit, and backends that
// are stacked over each other. The one thing to know: the audit hears what the device hears.

#include <span>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/audit.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::faults {

// Puts another backend in front of one; null for none.
using Twin = Result<backend::AnyBackend> (*)(const Memory& memory, backend::AnyBackend inner);

// Where a negative control goes wrong: as a device that misuses its backend, as a backend that does
// not do what it says, or as one that does not give back what it holds.
struct Twins {
    Twin over_audit = nullptr;
    Twin under_audit = nullptr;
    Twin under_fault = nullptr;
};

// Device options with small frames and a budget for two buffers and half of a third.
[[nodiscard]] device::Options device_options();

// Stays where it is. All memory comes from `memory`, which outlives it.
class World {
  public:
    World(const Memory& memory, std::span<const mock::Fault> faults, const Twins& twins);

    [[nodiscard]] const Memory& memory() const { return memory_; }

    [[nodiscard]] mock::Script& script() { return script_; }

    [[nodiscard]] mock::Audit& audit() { return audit_; }

    // What is scripted, also once it has happened.
    [[nodiscard]] std::span<const mock::Fault> faults() const { return faults_; }

    [[nodiscard]] backend::BackendFactory factory();

  private:
    [[nodiscard]] Result<backend::AnyBackend> make_backend();

    Memory memory_;
    std::span<const mock::Fault> faults_;
    Twins twins_;
    mock::Script script_;
    mock::Audit audit_;
};

}  // namespace virtaccel::faults
