#include "host/files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>

namespace virtaccel::host {
namespace {

// A folder of its own for each test, gone afterwards.
class Files : public testing::Test {
  protected:
    Files() { std::filesystem::create_directories(folder_); }

    ~Files() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string path(std::string_view name) const { return folder_ / name; }

    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{folder_},
                                                      std::filesystem::directory_iterator{}));
    }

    void put(std::string_view name, std::string_view text) const {
        auto file = NewFile::write(path(name), std::as_bytes(std::span{text}));
        ASSERT_TRUE(file.has_value()) << file.error().message;
        ASSERT_TRUE(file->commit().has_value());
    }

    [[nodiscard]] std::string get(std::string_view name, std::uint64_t bytes_max = 1000) const {
        const auto bytes = read_file(path(name), bytes_max);
        if (!bytes) {
            return bytes.error().message;
        }
        return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
    }

  private:
    std::filesystem::path folder_ = std::filesystem::path{testing::TempDir()} /
                                    ("virtaccel-files-" + std::to_string(::getpid()) + "-" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Files, read_what_was_written) {
    put("a", "hello");
    EXPECT_EQ(get("a"), "hello");
    put("a", "");
    EXPECT_EQ(get("a"), "");
    EXPECT_EQ(count(), 1U);
}

TEST_F(Files, read_larger_files_than_one_call_brings) {
    const std::string text(300'000, 'x');
    put("a", text);
    EXPECT_EQ(get("a", text.size()), text);
}

TEST_F(Files, larger_than_the_limit_are_refused_by_name) {
    put("a", "hello");
    EXPECT_EQ(get("a", 5), "hello");
    EXPECT_EQ(get("a", 4), "The file (" + path("a") +
                               ") holds more than the 4 bytes that are taken; give a smaller one.");
}

TEST_F(Files, without_a_known_size_are_still_limited) {
    const auto bytes = read_file("/dev/zero", 1'000'000);
    ASSERT_FALSE(bytes.has_value());
    EXPECT_EQ(bytes.error().message,
              "The file (/dev/zero) holds more than the 1000000 bytes that are taken; give a "
              "smaller one.");
}

TEST_F(Files, missing_and_folders_are_refused_with_the_reason) {
    EXPECT_EQ(get("none"), "The file (" + path("none") +
                               ") cannot be read: No such file or directory; give the path of a "
                               "file that you may read.");
    EXPECT_EQ(get(""), "The file (" + path("") +
                           ") cannot be read: Is a directory; give the path of a file that you may "
                           "read.");
}

TEST_F(Files, not_committed_leave_what_was_there) {
    put("a", "old");
    {
        const auto file = NewFile::write(path("a"), std::as_bytes(std::span{"new", 3}));
        ASSERT_TRUE(file.has_value());
        EXPECT_EQ(get("a"), "old");
        EXPECT_EQ(count(), 2U);
    }
    EXPECT_EQ(get("a"), "old");
    EXPECT_EQ(count(), 1U);
}

TEST_F(Files, replace_the_target_of_a_link_and_not_the_link) {
    put("a", "old");
    std::filesystem::create_symlink(path("a"), path("link"));
    put("link", "new");
    EXPECT_EQ(get("a"), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
}

TEST_F(Files, that_are_no_regular_files_are_never_replaced) {
    const auto file = NewFile::write("/dev/null", {});
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().message,
              "The file (/dev/null) cannot be written: it exists and is no regular file; give "
              "another path.");
}

TEST_F(Files, in_a_missing_folder_are_refused_with_the_reason) {
    const auto file = NewFile::write(path("none/a"), {});
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().message, "The file (" + path("none/a") +
                                        ") cannot be written: No such file or directory; give a "
                                        "path in a folder that you may write to.");
}

}  // namespace
}  // namespace virtaccel::host
