#pragma once
// Runs one case and says what it cost, as one line of JSON on stdout. The one thing to know: a case
// is timed in many short samples; the median and the least are told, and the heap is watched
// throughout.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace virtaccel::bench {

struct Settings {
    std::uint64_t sample_ns = 4'000'000;
    std::uint32_t samples = 15;
    std::string filter;  // only cases whose "layer/case" contains it
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

class Report {
  public:
    explicit Report(Settings settings) : settings_(std::move(settings)) {}

    // Times `op`, one pass of the case, again and again. `bytes` is the payload of one pass.
    void measure(std::string_view layer, const std::string& name, std::uint64_t bytes,
                 const std::function<void()>& op);

    // Times `op` alone, each time after an untimed `prepare`.
    void measure_after(std::string_view layer, const std::string& name,
                       const std::function<void()>& prepare, const std::function<void()>& op);

    [[nodiscard]] bool wants(std::string_view layer, std::string_view name) const;

    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  private:
    void add(Row row, std::vector<double> samples_ns, std::uint64_t bytes);

    Settings settings_;
    std::vector<Row> rows_;
};

}  // namespace virtaccel::bench
