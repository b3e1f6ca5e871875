// Writes the model y = x of FP32, for tests in other languages: identity_model FILE [DIMENSION]...

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/files.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

int main(int argc, char** argv) {
    using virtaccel::host::NewFile;
    namespace tosa = virtaccel::tosa;
    const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
    if (arguments.size() < 2) {
        static_cast<void>(std::fputs("usage: identity_model FILE [DIMENSION]...\n", stderr));
        return 2;
    }
    std::vector<std::int32_t> shape;
    for (const char* const text : arguments.subspan(2)) {
        shape.push_back(std::stoi(text));
    }
    tosa::Builder builder;
    builder.output(builder.op(tosa::Op::identity, {builder.input("x", tosa::DType::fp32, shape)}),
                   "y");
    const auto model = builder.finish();
    auto file = model ? NewFile::write(arguments[1], *model) : virtaccel::host::error("no model");
    return file && file->commit() ? 0 : 1;
}
