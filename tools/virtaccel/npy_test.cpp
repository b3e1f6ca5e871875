#include "tools/virtaccel/npy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tools/virtaccel/npy_header.h"

namespace virtaccel::cli {
namespace {

using std::literals::operator""s;

// A file as NumPy lays it out, with a header of `text` padded to `header_bytes` in all.
std::string file_of(std::string_view text, std::string_view data, int version = 1,
                    std::size_t header_bytes = 128) {
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    const std::size_t length = header_bytes - file.size() - length_bytes;
    for (std::size_t i = 0; i < length_bytes; ++i) {
        file += static_cast<char>(length >> (8 * i));
    }
    file += text;
    file.resize(header_bytes - 1, ' ');
    return file + '\n' + std::string{data};
}

std::string dictionary(std::string_view descr, std::string_view shape, bool fortran = false) {
    return "{'descr': '" + std::string{descr} +
           "', 'fortran_order': " + (fortran ? "True" : "False") +
           ", 'shape': " + std::string{shape} + ", }";
}

template <class T>
std::string little_endian(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string big_endian(const std::vector<float>& values) {
    std::string bytes = little_endian(values);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
        std::reverse(&bytes[i], &bytes[i] + sizeof(float));
    }
    return bytes;
}

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text});
}

std::vector<float> floats(const NpyArray& array) {
    std::vector<float> values(array.data.size() / sizeof(float));
    std::ranges::copy(array.data, std::as_writable_bytes(std::span{values}).begin());
    return values;
}

void expect_array(const std::string& file, const std::vector<std::uint64_t>& shape,
                  const std::vector<float>& values) {
    const auto array = parse_npy(bytes_of(file), "a.npy");
    ASSERT_TRUE(array.has_value()) << array.error().message;
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(floats(*array), values);
}

void expect_refusal(const std::string& file, std::string_view message) {
    const auto array = parse_npy(bytes_of(file), "a.npy");
    ASSERT_FALSE(array.has_value());
    EXPECT_EQ(array.error().message, message);
}

const std::vector<float> row_by_row{0, 1, 2, 3, 4, 5};
const std::vector<float> column_by_column{0, 3, 1, 4, 2, 5};

TEST(Npy, keeps_c_order_and_turns_fortran_order) {
    expect_array(file_of(dictionary("<f4", "(2, 3)"), little_endian(row_by_row)), {2, 3},
                 row_by_row);
    expect_array(file_of(dictionary("<f4", "(2, 3)", true), little_endian(column_by_column)),
                 {2, 3}, row_by_row);
}

TEST(Npy, turns_fortran_order_of_higher_rank) {
    // a[i][j][k] = 100 i + 10 j + k, the first index fastest in the file.
    std::vector<float> file;
    std::vector<float> expected;
    for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < 3; ++j) {
            for (int i = 0; i < 2; ++i) {
                file.push_back(static_cast<float>((100 * i) + (10 * j) + k));
            }
        }
    }
    expected = file;
    std::ranges::sort(expected);
    expect_array(file_of(dictionary("<f4", "(2, 3, 4)", true), little_endian(file)), {2, 3, 4},
                 expected);
}

TEST(Npy, turns_big_endian_numbers_in_either_order) {
    expect_array(file_of(dictionary(">f4", "(2, 3)"), big_endian(row_by_row)), {2, 3}, row_by_row);
    expect_array(file_of(dictionary(">f4", "(2, 3)", true), big_endian(column_by_column)), {2, 3},
                 row_by_row);
}

TEST(Npy, knows_the_shapes_of_rank_zero_and_one_and_of_nothing) {
    expect_array(file_of(dictionary("<f4", "()"), little_endian<float>({7})), {}, {7});
    expect_array(file_of(dictionary("<f4", "()", true), little_endian<float>({7})), {}, {7});
    expect_array(file_of(dictionary("<f4", "(3,)"), little_endian<float>({1, 2, 3})), {3},
                 {1, 2, 3});
    expect_array(file_of(dictionary("<f4", "(0, 3)"), ""), {0, 3}, {});
    expect_array(file_of(dictionary("<f4", "(0, 3)", true), ""), {0, 3}, {});
}

TEST(Npy, reads_every_header_version_and_any_padding) {
    const auto data = little_endian(row_by_row);
    for (const int version : {1, 2, 3}) {
        expect_array(file_of(dictionary("<f4", "(2, 3)"), data, version), {2, 3}, row_by_row);
        expect_array(file_of(dictionary("<f4", "(2, 3)"), data, version, 5000), {2, 3}, row_by_row);
    }
}

TEST(Npy, reads_keys_in_any_order_and_either_quote) {
    expect_array(file_of(R"({"shape":(2,3,), 'fortran_order' : False,"descr":"=f4"})",
                         little_endian(row_by_row)),
                 {2, 3}, row_by_row);
}

TEST(Npy, refuses_what_is_no_npy_file) {
    const auto* const message =
        "The file (a.npy) is no .npy file: it does not begin with NumPy's magic; save the array "
        "with numpy.save.";
    expect_refusal("", message);
    expect_refusal("\x93NUMPY\x01", message);
    expect_refusal("PK\x03\x04 and so on", message);
    expect_refusal("\x93NUMPY\x04\x00"s,
                   "The file (a.npy) is of .npy version (4.0), which is not taken; save it as 1.0, "
                   "2.0 or 3.0.");
}

TEST(Npy, refuses_a_header_that_is_cut_off_at_any_byte) {
    const auto file = file_of(dictionary("<f4", "(2, 3)"), "");
    for (std::size_t size = 8; size < file.size(); ++size) {
        expect_refusal(file.substr(0, size),
                       "The file (a.npy) ends inside its .npy header, or has one of more than "
                       "(1048576) bytes; save the array again.");
    }
}

TEST(Npy, refuses_headers_that_are_not_the_three_entries) {
    for (const std::string_view text :
         {"", "{}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
          "{'descr': '<f4', 'fortran_order': False}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3 4), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
          "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,), }",
          "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
          "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } {}"}) {
        const auto array = parse_npy(bytes_of(file_of(text, "")), "a.npy");
        ASSERT_FALSE(array.has_value()) << text;
        EXPECT_TRUE(array.error().message.starts_with("The file (a.npy) has a .npy header ("))
            << array.error().message;
    }
}

TEST(Npy, refuses_python_objects_by_name) {
    expect_refusal(file_of(dictionary("|O", "(2,)"), "anything"),
                   "The file (a.npy) holds elements of type (|O), which is a Python object and no "
                   "number; save the array as plain numbers.");
}

TEST(Npy, refuses_elements_that_are_no_plain_numbers) {
    for (const std::string_view descr :
         {"<U3", "|S4", "<c8", "<M8[s]", "<f", "f", "", "<f0", "<f-4", "<f4x", "<f99999999999"}) {
        expect_refusal(file_of(dictionary(descr, "(2,)"), ""),
                       "The file (a.npy) holds elements of type (" + std::string{descr} +
                           "), which is not taken; save the array as plain numbers.");
    }
    expect_refusal(file_of(dictionary(">V2", "(1,)"), "ab"),
                   "The file (a.npy) holds raw elements of a byte order of their own (>V2), which "
                   "is not taken; save them as |V2.");
}

TEST(Npy, refuses_files_one_byte_short_or_long) {
    const auto file = file_of(dictionary("<f4", "(2, 3)"), little_endian(row_by_row));
    expect_refusal(file.substr(0, file.size() - 1),
                   "The file (a.npy) holds fewer bytes of data (23) than the 24 its header "
                   "promises; save the array again.");
    expect_refusal(file + '\0',
                   "The file (a.npy) holds more bytes of data (25) than the 24 its header "
                   "promises; save the array again.");
}

TEST(Npy, refuses_shapes_that_no_memory_can_hold) {
    expect_refusal(file_of(dictionary("<f4", "(4294967296, 4294967296)"), ""),
                   "The file (a.npy) claims a shape (4294967296, 4294967296) that no memory can "
                   "hold; save the array again.");
}

TEST(Npy, writes_byte_for_byte_what_numpy_writes) {
    const auto written = [](std::string_view descr, const std::vector<std::uint64_t>& shape) {
        return format_npy_header(descr, shape);
    };
    EXPECT_EQ(written("<f4", {2, 3}), file_of(dictionary("<f4", "(2, 3)"), ""));
    EXPECT_EQ(written("<f4", {}), file_of(dictionary("<f4", "()"), ""));
    EXPECT_EQ(written("|i1", {3}), file_of(dictionary("|i1", "(3,)"), ""));
    EXPECT_EQ(written("<V2", {0, 3}), file_of(dictionary("<V2", "(0, 3)"), ""));
}

TEST(Npy, pads_longer_headers_to_a_multiple_of_64) {
    const std::vector<std::uint64_t> shape(20, 1000);
    const auto header = format_npy_header("<f4", shape);
    EXPECT_EQ(header.size(), 192U);
    EXPECT_EQ(header.back(), '\n');
    EXPECT_EQ(header[8], static_cast<char>(192 - 10));
    EXPECT_EQ(header[9], 0);
}

TEST(Npy, reads_back_what_it_writes) {
    const auto data = little_endian(row_by_row);
    const auto file = format_npy("<f4", std::vector<std::uint64_t>{2, 3}, bytes_of(data));
    expect_array({reinterpret_cast<const char*>(file.data()), file.size()}, {2, 3}, row_by_row);
}

}  // namespace
}  // namespace virtaccel::cli
