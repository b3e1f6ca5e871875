#include "tools/virtaccel/conform.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "host/files.h"
#include "tools/virtaccel/conform_suite.h"
#include "tools/virtaccel/conform_words.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/reports.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/numerics/table.h"

namespace virtaccel::cli {
namespace {

using conformance::CaseResult;
using conformance::Outcome;
using conformance::Report;

constexpr std::string_view standard_output = "-";

// Those that match a pattern. A pattern that nothing matches is wrong usage.
OrFailure<std::vector<SuiteCase>> choose_cases(std::vector<SuiteCase> cases,
                                               const std::vector<std::string>& patterns) {
    if (patterns.empty()) {
        return cases;
    }
    for (const std::string& pattern : patterns) {
        if (std::ranges::none_of(
                cases, [&](const SuiteCase& row) { return matches(pattern, row.name); })) {
            return failure(
                fmt::format("No case has a name like ({}); --list shows the names.", pattern),
                Exit::usage);
        }
    }
    std::vector<SuiteCase> chosen;
    std::ranges::copy_if(cases, std::back_inserter(chosen), [&](const SuiteCase& row) {
        return std::ranges::any_of(
            patterns, [&](const std::string& pattern) { return matches(pattern, row.name); });
    });
    return chosen;
}

std::size_t name_columns(std::span<const SuiteCase> cases) {
    std::size_t columns = 0;
    for (const SuiteCase& row : cases) {
        columns = std::max(columns, row.name.size());
    }
    return columns;
}

// Says which part of the cases comes next, if there are several.
class GroupLines {
  public:
    explicit GroupLines(std::span<const SuiteCase> cases)
        : has_parts_(!cases.empty() && std::ranges::any_of(cases, [&](const SuiteCase& row) {
              return row.group != cases.front().group;
          })) {}

    // The line before `row`, or nothing.
    [[nodiscard]] std::string before(const SuiteCase& row) {
        if (!has_parts_ || row.group == group_) {
            return {};
        }
        group_ = row.group;
        return conformance::text_group(group_);
    }

  private:
    bool has_parts_;
    std::string_view group_;
};

OrFailure<void> show_list(const ConformOptions& options) {
    VIRTACCEL_TRY_ASSIGN(const auto cases, choose_cases(list_cases(options), options.patterns));
    const std::size_t columns = name_columns(cases);
    GroupLines groups{cases};
    std::string list;
    for (const SuiteCase& row : cases) {
        list += fmt::format("{}{:<{}}  {}\n", groups.before(row), row.name, columns, row.title);
    }
    return print_out(list);
}

// A row of the table appears as soon as its case has ended; `shown` says whether all of it could.
Report run_cases(const Suite& suite, bool with_table, OrFailure<void>& shown) {
    const std::size_t columns = name_columns(suite.cases);
    const auto show = [&](std::string_view line) {
        if (with_table && shown) {
            shown = print_out(line);
        }
    };
    Report report{.subject = suite.subject, .results = {}};
    show(conformance::text_head(columns));
    GroupLines groups{suite.cases};
    for (const SuiteCase& row : suite.cases) {
        show(groups.before(row));
        report.results.push_back(row.run());
        show(conformance::text_row(report.results.back(), columns));
    }
    show(conformance::text_summary(report));
    return report;
}

struct ReportFile {
    std::string path;
    std::string (*write)(const Report& report) = nullptr;
};

std::vector<ReportFile> report_files(const ConformOptions& options) {
    std::vector<ReportFile> files{
        {.path = options.json,
         .write = [](const Report& report) { return conformance::to_json(report) + '\n'; }},
        {.path = options.junit, .write = conformance::to_junit},
        {.path = options.badge, .write = conformance::to_badge},
        {.path = options.ulp,
         .write = [](const Report& report) { return numerics::to_table(report.results); }}};
    std::erase_if(files, [](const ReportFile& file) { return file.path.empty(); });
    return files;
}

// Finds out before a long run what cannot be written after it.
OrFailure<void> check_writable(const std::vector<ReportFile>& files) {
    for (const ReportFile& file : files) {
        if (file.path != standard_output) {
            VIRTACCEL_TRY(host::NewFile::write(file.path, {}));
        }
    }
    return {};
}

// All of the files, or none that was not there before.
OrFailure<void> write_reports(const std::vector<ReportFile>& files, const Report& report) {
    std::vector<host::NewFile> written;
    for (const ReportFile& file : files) {
        const std::string text = file.write(report);
        if (file.path == standard_output) {
            VIRTACCEL_TRY(print_out(text));
            continue;
        }
        VIRTACCEL_TRY_ASSIGN(auto made,
                             host::NewFile::write(file.path, std::as_bytes(std::span{text})));
        written.push_back(std::move(made));
    }
    for (host::NewFile& file : written) {
        VIRTACCEL_TRY(file.commit());
    }
    return {};
}

OrFailure<void> verdict_of(const Report& report) {
    const auto counts = conformance::count(report);
    if (counts.failed == 0) {
        return {};
    }
    const auto first = std::ranges::find(report.results, Outcome::failed, &CaseResult::outcome);
    return failure(fmt::format("The subject ({}) fails cases ({} of {}), first ({}): {}",
                               report.subject, counts.failed, counts.total(), first->name,
                               first->reason));
}

}  // namespace

OrFailure<void> run_conform(const ConformOptions& options) {
    if (options.list) {
        return show_list(options);
    }
    // What is wrong with the command line shows before anything is started.
    const auto files = report_files(options);
    VIRTACCEL_TRY(choose_cases(list_cases(options), options.patterns));
    VIRTACCEL_TRY(check_writable(files));
    VIRTACCEL_TRY_ASSIGN(Suite suite, make_suite(options));
    VIRTACCEL_TRY_ASSIGN(suite.cases, choose_cases(std::move(suite.cases), options.patterns));
    OrFailure<void> shown;
    const Report report = run_cases(suite, options.json != standard_output, shown);
    VIRTACCEL_TRY(write_reports(files, report));
    VIRTACCEL_TRY(shown);
    return verdict_of(report);
}

}  // namespace virtaccel::cli
