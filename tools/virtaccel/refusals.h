#pragma once
// Where a backend's reasons against a model go: to standard error, as they come. The one thing to
// know: a guest can cause any number of them, so only the first ones are shown.

#include <atomic>
#include <cstdint>
#include <string_view>

#include "tools/virtaccel/failure.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/status.h"

namespace virtaccel::cli {

class Refusals {
  public:
    static constexpr std::uint32_t shown_max = 1000;

    // This stays where it is while the sink is used; any thread may use it.
    [[nodiscard]] backend::RefusalSink sink();

    // What to say of a load that failed with `status`: `Exit::refused` if the backend looked at the
    // model and does not take it, else the host could not.
    [[nodiscard]] Failure judge(std::string_view backend, std::string_view model,
                                Status status) const;

  private:
    std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace virtaccel::cli
