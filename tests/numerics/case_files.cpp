// The numeric cases as files, so that another implementation can compute them: case_files export
// FOLDER writes models and inputs, and a list of them; case_files judge FOLDER compares what the
// other has put there with the oracles.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "host/files.h"
#include "virtaccel/numerics/accuracy.h"
#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/run_case.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/types.h"

namespace {

namespace host = virtaccel::host;
namespace numerics = virtaccel::numerics;

constexpr std::uint64_t result_bytes_max = 16U << 20U;

bool write(const std::string& path, std::span<const std::byte> bytes) {
    auto file = host::NewFile::write(path, bytes);
    return file && file->commit();
}

// "FP32:2,3"
std::string words_of(const numerics::Tensor& tensor) {
    std::string text{virtaccel::tosa::name_of(tensor.dtype)};
    char separator = ':';
    for (const auto dim : tensor.shape) {
        text += separator + std::to_string(dim);
        separator = ',';
    }
    return text;
}

// One line for each case: its name, its output, its inputs.
bool export_to(const std::string& folder) {
    std::string list;
    for (const numerics::Case& row : numerics::cases()) {
        const numerics::Problem problem = row.make();
        bool is_written = write(folder + "/" + row.name + ".tosa", problem.model);
        list += row.name + " " + words_of(numerics::expectation_of(problem).kept);
        for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
            const std::string path = folder + "/" + row.name + "." + std::to_string(i);
            is_written = write(path, numerics::pack(problem.inputs[i])) && is_written;
            list += " " + words_of(problem.inputs[i]);
        }
        list += '\n';
        if (!is_written) {
            return false;
        }
    }
    return write(folder + "/list", std::as_bytes(std::span{list}));
}

// Results that are not there are not judged.
bool judge(const std::string& folder) {
    std::size_t judged = 0;
    std::size_t wrong = 0;
    for (const numerics::Case& row : numerics::cases()) {
        const auto result = host::read_file(folder + "/" + row.name + ".result", result_bytes_max);
        if (!result) {
            continue;
        }
        ++judged;
        const auto expectation = numerics::expectation_of(row.make());
        if (result->size() != numerics::pack(expectation.kept).size()) {
            ++wrong;
            std::printf("%s: The result has (%zu) bytes.\n", row.name.c_str(), result->size());
            continue;
        }
        const auto comparison = numerics::compare(
            expectation, *result, numerics::accuracy_of(row.op, expectation.kept.dtype));
        if (!comparison.is_right) {
            ++wrong;
            std::printf("%s: %s\n", row.name.c_str(), comparison.reason.c_str());
        }
    }
    std::printf("%zu judged, %zu wrong\n", judged, wrong);
    return judged != 0 && wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
    if (arguments.size() == 3 && std::string_view{arguments[1]} == "export") {
        return export_to(arguments[2]) ? 0 : 1;
    }
    if (arguments.size() == 3 && std::string_view{arguments[1]} == "judge") {
        return judge(arguments[2]) ? 0 : 1;
    }
    static_cast<void>(std::fputs("usage: case_files export|judge FOLDER\n", stderr));
    return 2;
}
