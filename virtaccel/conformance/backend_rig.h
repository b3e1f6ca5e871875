#pragma once
// One instance of a backend under test with a device over it, in the hands of a case.

#include <cstdint>
#include <expected>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/plain_device.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/device.h"

namespace virtaccel::conformance {

// The device, so that it is there before the stage on it.
struct RigDevice {
    explicit RigDevice(device::Device made) : plain(std::move(made)) {}

    PlainDevice plain;
};

class BackendRig : private RigDevice, public Stage {
  public:
    BackendRig(const BackendSubject& subject, device::Device made)
        : RigDevice(std::move(made)),
          Stage(plain, subject.program, subject.patience, plain.device().identity().capabilities),
          subject_(&subject) {}

    [[nodiscard]] const DeviceIdentity& identity() { return device().identity(); }

    [[nodiscard]] backend::Diagnostics diagnostics() { return device().backend().diagnostics(); }

    [[nodiscard]] device::Device& device() { return plain.device(); }

    [[nodiscard]] const BackendSubject& subject() const { return *subject_; }

  private:
    const BackendSubject* subject_;
};

// A fresh backend; the case ends if there is none.
[[nodiscard]] Checked<backend::AnyBackend> make_backend(const BackendSubject& subject);

// A device over `backend`, which may put so many loads off.
[[nodiscard]] Checked<device::Device> device_over(const BackendSubject& subject,
                                                  backend::AnyBackend backend,
                                                  std::uint32_t deferred_loads_max = 0);

// The device over a fresh backend; the case ends if there is none.
[[nodiscard]] Checked<device::Device> make_device(const BackendSubject& subject);

// A case that runs on a rig of its own.
template <class Body>
[[nodiscard]] Check on_rig(const BackendSubject& subject, Body body) {
    auto made = make_device(subject);
    if (!made) {
        return std::unexpected{made.error()};
    }
    BackendRig rig{subject, *std::move(made)};
    return body(rig);
}

}  // namespace virtaccel::conformance
