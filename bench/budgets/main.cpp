// What each case of the bench takes, counted and not timed. Run by tools/budgets/budgets.py under
// callgrind, which counts the instructions of every `virtaccel_counted` by itself; this program
// prints, in the same order, one line of JSON per case with what it counted here.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "bench/budgets/copy_count.h"
#include "bench/cases/cases.h"
#include "bench/cases/heap_count.h"
#include "bench/cases/meter.h"

extern "C" {
// The name that callgrind starts and stops at.
[[gnu::noinline]] void virtaccel_counted(const std::function<void()>& op) {
    op();
}
}

namespace virtaccel::bench {
namespace {

#ifdef __clang__
constexpr std::string_view compiler = "clang";
constexpr int compiler_version = __clang_major__;
#else
constexpr std::string_view compiler = "g++";
constexpr int compiler_version = __GNUC__;
#endif
#if defined(__x86_64__)
constexpr std::string_view processor = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view processor = "aarch64";
#else
constexpr std::string_view processor = "other";
#endif

// Counts the third pass: the first ones fill pools and tables that later ones find full.
class Counter final : public Meter {
  public:
    void measure(std::string_view layer, const std::string& name, std::uint64_t /*bytes*/,
                 const std::function<void()>& op) override {
        op();
        op();
        count(layer, name, op);
    }

    void measure_after(std::string_view layer, const std::string& name,
                       const std::function<void()>& prepare,
                       const std::function<void()>& op) override {
        for (int pass = 0; pass < 2; ++pass) {
            prepare();
            op();
        }
        prepare();
        count(layer, name, op);
    }

  private:
    static void count(std::string_view layer, const std::string& name,
                      const std::function<void()>& op) {
        const std::uint64_t allocations = heap_allocations();
        const CopyCount before = copies();
        virtaccel_counted(op);
        const CopyCount after = copies();
        fmt::print(R"({{"case": "{}/{}", "allocations": {}, "copied_bytes": {}, )"
                   R"("cleared_bytes": {}}})"
                   "\n",
                   layer, name, heap_allocations() - allocations,
                   after.copied_bytes - before.copied_bytes,
                   after.cleared_bytes - before.cleared_bytes);
    }
};

}  // namespace
}  // namespace virtaccel::bench

int main() {
    fmt::print(R"({{"compiler": "{} {}", "processor": "{}"}})"
               "\n",
               virtaccel::bench::compiler, virtaccel::bench::compiler_version,
               virtaccel::bench::processor);
    virtaccel::bench::Counter counter;
    const auto layer = virtaccel::bench::plain_layer();
    virtaccel::bench::run_full_cases(counter, layer);
    virtaccel::bench::run_device_cases(counter, layer);
    return EXIT_SUCCESS;
}
