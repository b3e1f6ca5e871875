#include "tools/virtaccel/numeric_suite.h"

#include <memory>
#include <utility>
#include <vector>

#include "tools/virtaccel/conform_suite.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/run_case.h"

namespace virtaccel::cli {

void append_numeric_cases(std::vector<SuiteCase>& cases,
                          const std::shared_ptr<const conformance::BackendSubject>& subject) {
    for (const numerics::Case& row : numerics::cases()) {
        SuiteCase suite_case{
            .name = row.name, .title = row.title, .group = numerics::group, .run = nullptr};
        if (subject != nullptr) {
            suite_case.run = [subject, &row] { return numerics::run_case(*subject, row); };
        }
        cases.push_back(std::move(suite_case));
    }
}

}  // namespace virtaccel::cli
