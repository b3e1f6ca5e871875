#pragma once
// `virtaccel run`: a model from a file, arrays in, arrays out. The one thing to know: nothing is
// written before everything has succeeded.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/named_file.h"

namespace virtaccel::cli {

enum class Way : std::uint8_t {
    loopback,  // guest client, virtqueue, device, backend
    direct,    // the backend's own calls
};

struct RunOptions {
    std::string model;
    std::vector<NamedFile> inputs;
    std::vector<NamedFile> outputs;
    BackendChoice backend;
    Way way = Way::loopback;
    std::uint32_t repeat = 1;
    std::string record;    // where the frames of `loopback` are written; empty for nowhere
    bool compare = false;  // both ways in turns; outputs are those of `loopback`
    bool json = false;
};

[[nodiscard]] OrFailure<void> run_model(const RunOptions& options);

}  // namespace virtaccel::cli
