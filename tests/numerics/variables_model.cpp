// Writes a model that keeps state, for variables_test.py: variables_model FOLDER TYPE, where the
// file FOLDER/first holds the first value, leaves variables.tosa there, and with operators that the
// reference model has, identities.tosa. variables_model alone prints the types that there are.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "host/files.h"
#include "virtaccel/base/result.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/types.h"

namespace {

namespace host = virtaccel::host;
namespace tosa = virtaccel::tosa;

using tosa::Op;
using tosa::Value;

constexpr std::int32_t rows = 6;
constexpr std::int32_t columns = 8;
constexpr std::uint64_t first_bytes_max = 1U << 20U;

// Each run drops the first of the rows and takes the input in as the last. Only data are moved, so
// every bit pattern has to arrive.
tosa::Builder delay_line(tosa::DType dtype, std::span<const std::byte> first) {
    tosa::Builder builder;
    const Value x = builder.input("x", dtype, {1, columns});
    const Value state = builder.variable("state", dtype, {rows, columns}, first);
    builder.declare(state);
    const Value before = builder.read(state);
    const Value kept =
        builder.op(Op::slice, {before, builder.shape({1, 0}), builder.shape({rows - 1, columns})});
    builder.write(state, builder.concat({kept, x}, 0));
    builder.output(before, "before");
    builder.output(builder.read(state), "after");
    return builder;
}

// The reference model keeps state in tensors that are called variables, whoever writes them.
tosa::FileModel with_identities(tosa::FileModel model) {
    auto& operators = model.regions[0].blocks[0].operators;
    std::erase_if(operators, [](const auto& op) { return op.op == Op::variable; });
    for (tosa::FileOperator& op : operators) {
        if (op.op == Op::variable_read || op.op == Op::variable_write) {
            op.op = Op::identity;
        }
    }
    return model;
}

host::OrError<void> write(const std::string& path, std::span<const std::byte> bytes) {
    VIRTACCEL_TRY_ASSIGN(auto file, host::NewFile::write(path, bytes));
    return file.commit();
}

host::OrError<void> write_models(const std::string& folder, tosa::DType dtype) {
    VIRTACCEL_TRY_ASSIGN(const auto first, host::read_file(folder + "/first", first_bytes_max));
    const tosa::Builder builder = delay_line(dtype, first);
    const auto model = builder.finish();
    if (!model) {
        return host::error(std::string{model.error().sentence.view()});
    }
    VIRTACCEL_TRY(write(folder + "/variables.tosa", *model));
    return write(folder + "/identities.tosa", tosa::write_file(with_identities(builder.file())));
}

}  // namespace

int main(int argc, char** argv) {
    const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
    for (const tosa::Signature& signature : tosa::row_of(Op::variable)->signatures) {
        const std::string_view name = tosa::name_of(signature.types[0]);
        if (arguments.size() == 1) {
            std::puts(std::string{name}.c_str());
        } else if (arguments.size() == 3 && name == arguments[2]) {
            const auto done = write_models(arguments[1], signature.types[0]);
            std::fputs(done ? "" : done.error().message.c_str(), stderr);
            return done ? 0 : 1;
        }
    }
    return arguments.size() == 1 ? 0 : 2;
}
