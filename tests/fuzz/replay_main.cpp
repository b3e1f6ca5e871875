// Gives files to a fuzzer's function, one after the other, without the fuzzer: what keeps seeds and
// regressions tested in every lane. The one thing to know: an input that breaks a promise ends the
// program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <span>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace {

// The files in `folder`, in the order of their names.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

void replay(const std::filesystem::path& file) {
    std::ifstream stream{file, std::ios::binary};
    const std::vector<char> text{std::istreambuf_iterator<char>{stream}, {}};
    // A copy of just that size, so that a byte too many is seen.
    const std::vector<std::uint8_t> bytes{text.begin(), text.end()};
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

int replay_all(std::span<const char* const> folders) {
    std::size_t count = 0;
    for (const char* const folder : folders) {
        for (const auto& file : files_in(folder)) {
            // The last line before an end says which file it was.
            std::printf("%s\n", file.c_str());
            std::fflush(stdout);
            replay(file);
            ++count;
        }
    }
    std::printf("Inputs that keep every promise: %zu.\n", count);
    return count == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return replay_all(
            std::span<const char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "The inputs cannot be read (%s): give folders that exist.\n",
                     error.what());
        return 2;
    }
}
