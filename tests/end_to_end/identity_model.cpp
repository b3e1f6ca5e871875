// Writes the model y = x, for tests in other languages: identity_model FILE TYPE [DIMENSION]...

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "host/files.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace {

using virtaccel::tosa::DType;

// The type whose name in the specification this is; an unknown one makes no model.
DType type_of(std::string_view name) {
    for (const DType type : {DType::boolean, DType::int8, DType::int16, DType::int32, DType::fp32,
                             DType::fp16, DType::bf16}) {
        if (name_of(type) == name) {
            return type;
        }
    }
    return DType::unknown;
}

}  // namespace

int main(int argc, char** argv) {
    using virtaccel::host::NewFile;
    namespace tosa = virtaccel::tosa;
    const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
    if (arguments.size() < 3) {
        static_cast<void>(std::fputs("usage: identity_model FILE TYPE [DIMENSION]...\n", stderr));
        return 2;
    }
    std::vector<std::int32_t> shape;
    for (const char* const text : arguments.subspan(3)) {
        shape.push_back(std::stoi(text));
    }
    tosa::Builder builder;
    builder.output(
        builder.op(tosa::Op::identity, {builder.input("x", type_of(arguments[2]), shape)}), "y");
    const auto model = builder.finish();
    auto file = model ? NewFile::write(arguments[1], *model) : virtaccel::host::error("no model");
    return file && file->commit() ? 0 : 1;
}
