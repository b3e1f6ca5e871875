// virtaccel-operators print PASSED COVERED PAGE writes docs/operators.md out of both lists; check
// compares instead. virtaccel-operators cells reads lines of an operator's name and a model's path
// from standard input and says for each in which cell the model uses the operator.

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "host/error.h"
#include "host/files.h"
#include "tools/operators/cells.h"
#include "tools/operators/page.h"
#include "virtaccel/base/result.h"

namespace virtaccel::operators {
namespace {

constexpr int exit_usage = 2;
constexpr std::uint64_t model_bytes_max = std::uint64_t{1} << 31U;
constexpr std::uint64_t text_bytes_max = std::uint64_t{1} << 20U;

host::OrError<std::string> read_text(const std::string& path) {
    VIRTACCEL_TRY_ASSIGN(const auto bytes, host::read_file(path, text_bytes_max));
    return std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

host::OrError<void> print_cells() {
    std::string name;
    std::string path;
    while (std::cin >> name && std::cin.get() == ' ' && std::getline(std::cin, path)) {
        VIRTACCEL_TRY_ASSIGN(const auto bytes, host::read_file(path, model_bytes_max));
        VIRTACCEL_TRY_ASSIGN(const auto cell, cell_of(bytes, name));
        fmt::print("{}\n", cell);
    }
    return {};
}

host::OrError<void> check(const Evidence& evidence, const std::string& path) {
    VIRTACCEL_TRY_ASSIGN(const auto found, read_text(path));
    if (found != operators_page(evidence)) {
        return host::error(
            fmt::format("The file ({}) is not what the tables say: run ./run print.", path));
    }
    const auto names = without_evidence(evidence);
    for (const std::string& name : names) {
        fmt::print(stderr, "The CPU backend takes ({}), and no test shows that it is right.\n",
                   name);
    }
    if (!names.empty()) {
        return host::error(
            "Combinations are taken that nothing tests: run ./run test tosa --record, or name a "
            "test of ours in tools/operators/covered.txt.");
    }
    return {};
}

host::OrError<void> write(const Evidence& evidence, const std::string& path) {
    const std::string page = operators_page(evidence);
    VIRTACCEL_TRY_ASSIGN(auto file, host::NewFile::write(path, std::as_bytes(std::span{page})));
    return file.commit();
}

host::OrError<void> run_page(std::string_view command, const std::string& passed,
                             const std::string& covered, const std::string& page) {
    VIRTACCEL_TRY_ASSIGN(const auto official, read_text(passed));
    VIRTACCEL_TRY_ASSIGN(const auto ours, read_text(covered));
    VIRTACCEL_TRY_ASSIGN(const auto evidence, read_evidence(official, ours));
    return command == "check" ? check(evidence, page) : write(evidence, page);
}

int run(const std::vector<std::string>& arguments) {
    const bool is_page =
        arguments.size() == 4 && (arguments[0] == "print" || arguments[0] == "check");
    if (!is_page && arguments != std::vector<std::string>{"cells"}) {
        fmt::print(stderr,
                   "Usage: virtaccel-operators cells\n"
                   "       virtaccel-operators print|check PASSED COVERED PAGE\n");
        return exit_usage;
    }
    const auto done =
        is_page ? run_page(arguments[0], arguments[1], arguments[2], arguments[3]) : print_cells();
    if (!done) {
        fmt::print(stderr, "{}\n", done.error().message);
    }
    return done ? 0 : 1;
}

}  // namespace
}  // namespace virtaccel::operators

int main(int argc, char** argv) {
    return virtaccel::operators::run({argv + 1, argv + argc});
}
