#pragma once
// Where fuzzers start: good inputs, made from what the tests use, so that the engine does not have
// to find out by itself what a frame or a model is. One folder for each fuzzer.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace virtaccel::fuzz {

using Bytes = std::vector<std::uint8_t>;

class Seeds {
  public:
    // Seeds go to folders below `folder`; files of earlier seeds go.
    explicit Seeds(std::filesystem::path folder);

    // Throws if the file cannot be written.
    void add(std::string_view fuzzer, std::string_view name, const Bytes& bytes);
    void add(std::string_view fuzzer, std::string_view name, std::string_view text);

    [[nodiscard]] std::size_t count() const { return count_; }

  private:
    std::filesystem::path folder_;
    std::size_t count_ = 0;
};

// Models: tosa, backends_cpu_prepare.
void add_models(Seeds& seeds);

// Sessions with a device: model_device, model_schedule, tools_virtaccel_recording.
void add_sessions(Seeds& seeds);

}  // namespace virtaccel::fuzz
