// Any bytes as a .npy file: it is refused with a sentence, or it is an array that, written, is read
// as itself again; and as the input of a model it becomes exactly the bytes of that tensor.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/virtaccel/npy.h"
#include "tools/virtaccel/npy_header.h"
#include "tools/virtaccel/tensor_file.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/tosa/types.h"

namespace {

namespace cli = virtaccel::cli;
namespace tosa = virtaccel::tosa;

using Bytes = std::span<const std::byte>;

constexpr std::array dtypes{tosa::DType::boolean, tosa::DType::int4,    tosa::DType::int8,
                            tosa::DType::int16,   tosa::DType::int32,   tosa::DType::int48,
                            tosa::DType::shape,   tosa::DType::fp32,    tosa::DType::fp16,
                            tosa::DType::bf16,    tosa::DType::fp8e4m3, tosa::DType::fp8e5m2};

void check_header(Bytes file) {
    const auto header = cli::parse_npy_header(file, "input");
    if (!header) {
        VIRTACCEL_CHECK(header.error().message.ends_with('.'));
        return;
    }
    VIRTACCEL_CHECK(header->header_bytes <= file.size());
    VIRTACCEL_CHECK(header->element.bytes != 0);
    std::uint64_t count = 1;
    bool empty = false;
    for (const auto size : header->shape) {
        empty = empty || size == 0;
        count *= size;
    }
    VIRTACCEL_CHECK((empty ? 0 : count) == header->element_count);
    // Nothing past the header is looked at.
    const std::vector<std::byte> start{
        file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header->header_bytes)};
    VIRTACCEL_CHECK(cli::parse_npy_header(start, "input").has_value());
}

// How an array is spelt once it is little-endian.
std::string descr_of(const cli::NpyElement& element) {
    std::string text = element.text;
    if (text.front() == '>') {
        text.front() = '<';
    }
    return text;
}

void check_as_input(Bytes file, const cli::NpyArray& array) {
    for (const tosa::DType dtype : dtypes) {
        const cli::TensorSlot slot{.name = "x", .dtype = dtype, .shape = array.shape, .bytes = 0};
        const auto taken = cli::decode_input(slot, file, "input");
        if (!taken) {
            VIRTACCEL_CHECK(taken.error().message.ends_with('.'));
            continue;
        }
        std::uint64_t count = 1;
        for (const auto size : array.shape) {
            count *= size;
        }
        VIRTACCEL_CHECK(tosa::byte_count(dtype, count) == taken->size());
        const auto written = cli::encode_output(slot, *taken);
        const auto again = cli::decode_input(slot, written, "again");
        VIRTACCEL_CHECK(again && *again == *taken);
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const Bytes file = std::as_bytes(std::span{data, bytes});
    check_header(file);
    const auto array = cli::parse_npy(file, "input");
    if (!array) {
        VIRTACCEL_CHECK(array.error().message.ends_with('.'));
        return 0;
    }
    const auto written = cli::format_npy(descr_of(array->element), array->shape, array->data);
    const auto again = cli::parse_npy(written, "again");
    VIRTACCEL_CHECK(again && again->shape == array->shape && again->data == array->data);
    check_as_input(file, *array);
    return 0;
}
