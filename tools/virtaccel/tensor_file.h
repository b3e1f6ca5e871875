#pragma once
// Between a model's tensors and .npy files, by the conventions of the official reference model. The
// one thing to know: a tensor's bytes are as a bound buffer holds them (virtaccel/tosa/types.h), a
// file's are as NumPy holds them; INT4 and INT48 differ.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::cli {

// One input or output of a model.
struct TensorSlot {
    std::string name;
    tosa::DType dtype = tosa::DType::unknown;
    std::vector<std::uint64_t> shape;
    std::uint64_t bytes = 0;  // of a buffer bound to it
};

// How a file spells elements of `dtype`: "<f4". Empty for an unknown type.
[[nodiscard]] std::string_view npy_descr(tosa::DType dtype);

// The most bytes that a file for `input` can have, of whatever type it is; nobody has to read more.
[[nodiscard]] std::uint64_t file_bytes_max(const TensorSlot& input);

// The bytes to write into the buffer of `input`, from the bytes of a whole .npy file; `path` is for
// messages. Refuses another element type or shape, saying what was expected and found, and values
// that the type does not have.
[[nodiscard]] host::OrError<std::vector<std::byte>> decode_input(const TensorSlot& input,
                                                                 std::span<const std::byte> file,
                                                                 std::string_view path);

// The bytes of a whole .npy file, from those that the buffer of `output` holds.
[[nodiscard]] std::vector<std::byte> encode_output(const TensorSlot& output,
                                                   std::span<const std::byte> buffer);

}  // namespace virtaccel::cli
