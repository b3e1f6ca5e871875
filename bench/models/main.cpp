// One runtime of ./run bench models: this project's, guest client, virtqueue, device and backend in
// one process. Does what bench.py tells it on standard input, as worker.py does for the others, and
// answers one line of JSON each time.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "host/clock.h"
#include "host/files.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/engine.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/model.h"
#include "tools/virtaccel/tensor_file.h"
#include "virtaccel/base/result.h"

namespace {

using virtaccel::cli::OrFailure;

struct Worker {
    std::string model_path;
    std::string input_path;
    virtaccel::cli::BackendSource source;
    std::unique_ptr<virtaccel::cli::Engine> engine = nullptr;
};

void answer(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

// From the file to a model that can run, the device and its threads included.
OrFailure<void> load(Worker& worker) {
    const std::uint64_t start = virtaccel::host::now_ns();
    VIRTACCEL_TRY_ASSIGN(const auto model, virtaccel::cli::read_model(worker.model_path));
    VIRTACCEL_TRY_ASSIGN(worker.engine, virtaccel::cli::make_loopback_engine(worker.source));
    VIRTACCEL_TRY(worker.engine->load(model));
    const std::uint64_t end = virtaccel::host::now_ns();
    const auto& slot = model.slots.front();
    VIRTACCEL_TRY_ASSIGN(const auto file,
                         virtaccel::host::read_file(worker.input_path, file_bytes_max(slot)));
    VIRTACCEL_TRY_ASSIGN(const auto input, decode_input(slot, file, worker.input_path));
    VIRTACCEL_TRY(worker.engine->write(0, input));
    answer(fmt::format(R"({{"load_ns": {}}})", end - start));
    return {};
}

OrFailure<void> run(Worker& worker, std::uint64_t count) {
    std::vector<std::uint64_t> taken;
    taken.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t start = virtaccel::host::now_ns();
        VIRTACCEL_TRY(worker.engine->run());
        taken.push_back(virtaccel::host::now_ns() - start);
    }
    answer(fmt::format(R"({{"ns": [{}]}})", fmt::join(taken, ", ")));
    return {};
}

OrFailure<void> obey(Worker& worker) {
    answer("{}");
    std::string word;
    while (std::cin >> word) {
        if (word == "load") {
            VIRTACCEL_TRY(load(worker));
        } else if (word == "run" && worker.engine != nullptr) {
            std::uint64_t count = 0;
            std::cin >> count;
            VIRTACCEL_TRY(run(worker, count));
        } else {
            return virtaccel::cli::failure(
                fmt::format("The order ({}) is none that this takes; it is for bench.py.", word));
        }
    }
    return {};
}

OrFailure<void> work(const char* model, const char* input, const char* threads) {
    VIRTACCEL_TRY_ASSIGN(
        auto source, virtaccel::cli::BackendSource::find(
                         virtaccel::host::heap(),
                         {.name = "cpu",
                          .threads = static_cast<std::uint32_t>(std::strtoul(threads, nullptr, 10)),
                          .limits = {},
                          .mock = {}}));
    Worker worker{.model_path = model, .input_path = input, .source = std::move(source)};
    return obey(worker);
}

}  // namespace

// virtaccel_worker MODEL.tosa INPUT.npy THREADS
int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "usage: virtaccel_worker MODEL.tosa INPUT.npy THREADS\n");
        return EXIT_FAILURE;
    }
    if (const auto done = work(argv[1], argv[2], argv[3]); !done) {
        fmt::print(stderr, "virtaccel_worker: {}\n", done.error().message);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
