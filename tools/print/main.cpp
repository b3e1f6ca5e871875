// virtaccel-print DIR writes every printed document into DIR; --check DIR compares instead.

#include <cstdio>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "tools/print/tables.h"

namespace {

constexpr int exit_usage = 2;

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return file.good();
}

int run(bool check, const std::string& folder) {
    int failures = 0;
    for (const auto& document : virtaccel::print::documents()) {
        const std::string path = folder + "/" + std::string(document.file);
        const std::string text = document.text();
        if (check && read(path) != text) {
            fmt::print(stderr, "The file ({}) is not what the schema prints: run ./run print.\n",
                       path);
            ++failures;
        }
        if (!check && !write(path, text)) {
            fmt::print(stderr, "The file ({}) cannot be written: check the folder.\n", path);
            ++failures;
        }
    }
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const bool check = argc == 3 && std::string_view(argv[1]) == "--check";
    if (!check && argc != 2) {
        fmt::print(stderr, "Usage: virtaccel-print [--check] DIR\n");
        return exit_usage;
    }
    return run(check, argv[argc - 1]);
}
