#include "tools/virtaccel/refusals.h"

#include <string_view>

#include <fmt/core.h>

#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/status.h"

namespace virtaccel::cli {
namespace {

bool is_refusal(Status status) {
    return status == Status::unsupported || status == Status::incompatible ||
           status == Status::invalid_argument;
}

}  // namespace

backend::RefusalSink Refusals::sink() {
    return {
        .state = this,
        .say =
            [](void* self, std::string_view line) {
                const auto before = static_cast<Refusals*>(self)->count_.fetch_add(1);
                if (before < shown_max) {
                    say(fmt::format("virtaccel: {}", line));
                } else if (before == shown_max) {
                    say(fmt::format("virtaccel: More reasons than {} are not shown.", shown_max));
                }
            },
    };
}

Failure Refusals::judge(std::string_view backend, std::string_view model, Status status) const {
    if (is_refusal(status) || count_ != 0) {
        return Failure{fmt::format("The backend ({}) refuses the model ({}) with {}; {}.", backend,
                                   model, status_name(status),
                                   count_ != 0 ? "change what the reasons above name"
                                               : "choose a backend that runs such models"),
                       Exit::refused};
    }
    return Failure{
        fmt::format("The model ({}) cannot be loaded on the backend ({}): {}; free "
                    "memory or choose a smaller model.",
                    model, backend, status_name(status))};
}

}  // namespace virtaccel::cli
