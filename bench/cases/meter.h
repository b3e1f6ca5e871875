#pragma once
// Who runs the cases and finds out what they cost: in time (bench/protocol) or in instructions and
// bytes (bench/budgets). The one thing to know: a case says what one pass is, and a meter how often
// it passes.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace virtaccel::bench {

class Meter {
  public:
    Meter() = default;
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    // Measures `op`, one pass of the case, which can be passed again and again. `bytes` is the
    // payload of one pass.
    virtual void measure(std::string_view layer, const std::string& name, std::uint64_t bytes,
                         const std::function<void()>& op) = 0;

    // Measures `op` alone, each time after a `prepare` that does not count.
    virtual void measure_after(std::string_view layer, const std::string& name,
                               const std::function<void()>& prepare,
                               const std::function<void()>& op) = 0;

  protected:
    ~Meter() = default;
};

}  // namespace virtaccel::bench
