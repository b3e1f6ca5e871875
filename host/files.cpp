#include "host/files.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"
#include "host/streams.h"
#include "virtaccel/base/result.h"

namespace virtaccel::host {
namespace {

constexpr std::size_t first_read_bytes = std::size_t{64} << 10U;
constexpr int temporary_names_max = 100;

// Closes a descriptor when its owner is done.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }

    [[nodiscard]] int number() const { return number_; }

    // Closes now; false if what was written could not be kept.
    [[nodiscard]] bool close() { return ::close(std::exchange(number_, -1)) == 0; }

  private:
    int number_;
};

std::unexpected<Error> too_large(const std::string& path, std::uint64_t bytes_max) {
    return error("The file (" + path + ") holds more than the " + std::to_string(bytes_max) +
                 " bytes that are taken; give a smaller one.");
}

std::unexpected<Error> cannot_read(const std::string& path, int code) {
    return system_error({.thing = "file",
                         .name = path,
                         .done = "read",
                         .advice = "give the path of a file that you may read"},
                        code);
}

std::unexpected<Error> cannot_write(const std::string& path, int code) {
    return system_error({.thing = "file",
                         .name = path,
                         .done = "written",
                         .advice = "give a path in a folder that you may write to"},
                        code);
}

// Where a file named `path` really lies: a link is followed, so that it stays a link.
OrError<std::string> place_of(const std::string& path) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (!std::filesystem::exists(status)) {
        return path;
    }
    if (!std::filesystem::is_regular_file(status)) {
        return error("The file (" + path +
                     ") cannot be written: it exists and is no regular file; give another path.");
    }
    const auto place = std::filesystem::canonical(path, code);
    if (code) {
        return cannot_write(path, code.value());
    }
    return place.string();
}

// Makes a new file beside `place`, under a name of its own, which goes to `name`; the descriptor,
// or -1 and errno.
int make_temporary(const std::string& place, std::string& name) {
    for (int i = 0; i < temporary_names_max; ++i) {
        name = place + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".part";
        const int number = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (number >= 0 || errno != EEXIST) {
            return number;
        }
    }
    return -1;
}

}  // namespace

OrError<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t bytes_max) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat status{};
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0) {
        return cannot_read(path, errno);
    }
    if (S_ISDIR(status.st_mode)) {
        return cannot_read(path, EISDIR);
    }
    const auto expected = static_cast<std::uint64_t>(S_ISREG(status.st_mode) ? status.st_size : 0);
    if (expected > bytes_max) {
        return too_large(path, bytes_max);
    }
    // One byte more than expected shows the end without a second round.
    std::vector<std::byte> bytes(std::max<std::size_t>(expected + 1, first_read_bytes));
    std::size_t used = 0;
    while (true) {
        const auto got = read_fully(file.number(), std::span{bytes}.subspan(used));
        if (!got) {
            return error("The file (" + path + ") cannot be read: " + got.error().message);
        }
        used += *got;
        if (used > bytes_max) {
            return too_large(path, bytes_max);
        }
        if (used < bytes.size()) {
            bytes.resize(used);
            return bytes;
        }
        bytes.resize(bytes.size() * 2);
    }
}

OrError<NewFile> NewFile::write(const std::string& path, std::span<const std::byte> bytes) {
    VIRTACCEL_TRY_ASSIGN(const std::string place, place_of(path));
    std::string name;
    Descriptor file{make_temporary(place, name)};
    if (file.number() < 0) {
        return cannot_write(path, errno);
    }
    NewFile made{place, name};
    if (const auto written = write_fully(file.number(), bytes); !written) {
        return error("The file (" + path + ") cannot be written: " + written.error().message);
    }
    if (!file.close()) {
        return cannot_write(path, errno);
    }
    return made;
}

NewFile::NewFile(std::string path, std::string temporary)
    : path_(std::move(path)), temporary_(std::move(temporary)) {}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}

NewFile& NewFile::operator=(NewFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(temporary_, other.temporary_);
    return *this;
}

NewFile::~NewFile() {
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
    }
}

OrError<void> NewFile::commit() {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
        return cannot_write(path_, errno);
    }
    temporary_.clear();
    return {};
}

}  // namespace virtaccel::host
