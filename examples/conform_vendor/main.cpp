// How a vendor outside this project judges a backend of its own: link virtaccel_conformance, hand
// in a factory and a program that the backend takes, and run every case.

#include <cstdio>
#include <exception>

#include "host/memory.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/conformance/backend_cases.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/reports.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/mock/reference.h"

namespace {

namespace conformance = virtaccel::conformance;

// The vendor's class, which satisfies `concept Backend`. This one runs copies, fills and the like.
using AcmeBackend = virtaccel::mock::Reference;

}  // namespace

int main() try {
    const auto memory = virtaccel::host::heap();
    auto make_acme = [&memory] {
        return virtaccel::backend::make_owned<AcmeBackend>(memory, memory);
    };
    conformance::BackendSubject subject;
    subject.memory = memory;
    subject.factory = virtaccel::backend::factory_from(make_acme);
    // An artifact of the vendor's own, what its slots hold before, and what they have to hold
    // after; for a backend that takes TOSA models there is conformance::tosa_sample().
    subject.program = conformance::reference_sample();

    const conformance::Report report{.subject = "backend acme",
                                     .results = conformance::run_backend_cases(subject)};
    const bool conforms = conformance::count(report).failed == 0;
    const auto text = conforms ? conformance::text_summary(report) : conformance::to_text(report);
    (void)std::fputs(text.c_str(), stdout);
    return conforms ? 0 : 1;
} catch (const std::exception& thrown) {
    (void)std::fprintf(stderr, "The run ends early (%s).\n", thrown.what());
    return 1;
}
