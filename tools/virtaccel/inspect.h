#pragma once
// `virtaccel inspect`: what is in a model, what it costs, and whether a backend takes it. The one
// thing to know: nothing is run, and a file that is refused is refused by the same checks that a
// device makes.

#include <optional>
#include <string>

#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

struct InspectOptions {
    std::string model;
    std::optional<BackendChoice> backend;  // which is asked whether it takes the model
    std::string svg;                       // where a picture is written; empty for nowhere
    bool json = false;
};

// Prints the report, and ends with `Exit::refused` if the backend does not take the model.
[[nodiscard]] OrFailure<void> inspect_model(const InspectOptions& options);

}  // namespace virtaccel::cli
