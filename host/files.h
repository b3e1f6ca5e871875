#pragma once
// Whole files in, whole files out. The one thing to know: a file is written beside its final name
// and takes that name at the end, so that nobody ever finds half of one.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"

namespace virtaccel::host {

// The bytes of the file `path`; refuses one of more than `bytes_max` bytes without keeping more.
// Regular files, pipes and the like are read to their end.
[[nodiscard]] OrError<std::vector<std::byte>> read_file(const std::string& path,
                                                        std::uint64_t bytes_max);

// A file being written. Until `commit` there is nothing under `path` but what was there before.
class NewFile {
  public:
    // Writes `bytes` beside `path`, in the same folder.
    [[nodiscard]] static OrError<NewFile> write(const std::string& path,
                                                std::span<const std::byte> bytes);

    NewFile(NewFile&& other) noexcept;
    NewFile& operator=(NewFile&& other) noexcept;
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    // Takes away what was not committed.
    ~NewFile();

    // Gives the file its name, in place of an older one. Once.
    [[nodiscard]] OrError<void> commit();

  private:
    NewFile(std::string path, std::string temporary);

    std::string path_;
    std::string temporary_;  // empty once committed or moved from
};

}  // namespace virtaccel::host
