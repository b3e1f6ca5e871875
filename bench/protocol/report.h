#pragma once
// Runs cases and says what each cost, as one line of JSON on stdout. The one thing to know: all
// cases are timed in rounds, some short samples in each, because a shared machine is slow for
// seconds at a time; the median and the least of all rounds are told, and the heap is watched
// throughout.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/cases/meter.h"

namespace virtaccel::bench {

struct Settings {
    std::uint64_t sample_ns = 4'000'000;
    std::uint32_t samples = 5;  // of a case in one round
    std::string filter;         // only cases whose "layer/case" contains it
};

// What one case cost. `gb_per_s` is zero where no payload moves.
struct Row {
    std::string layer;
    std::string name;
    double ns_median = 0;
    double ns_min = 0;
    double gb_per_s = 0;
    double allocations = 0;
};

class Report final : public Meter {
  public:
    explicit Report(Settings settings) : settings_(std::move(settings)) {}

    // Times `op`, one pass of the case, again and again. `bytes` is the payload of one pass. A case
    // that was measured in an earlier round gets more samples.
    void measure(std::string_view layer, const std::string& name, std::uint64_t bytes,
                 const std::function<void()>& op) override;

    // Times `op` alone, each time after an untimed `prepare`.
    void measure_after(std::string_view layer, const std::string& name,
                       const std::function<void()>& prepare,
                       const std::function<void()>& op) override;

    [[nodiscard]] bool wants(std::string_view layer, std::string_view name) const;

    // All rounds are done: prints and gives a row for each case, in the order of the first round.
    [[nodiscard]] std::vector<Row> finish();

  private:
    struct Case {
        Row row;
        std::uint64_t bytes = 0;
        std::uint64_t passes = 0;
        std::uint64_t allocations = 0;
        std::vector<double> samples_ns;
    };

    Case& find(std::string_view layer, const std::string& name, std::uint64_t bytes);

    Settings settings_;
    std::vector<Case> cases_;
};

}  // namespace virtaccel::bench
