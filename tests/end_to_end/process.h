#pragma once
// Runs the program as a user does: arguments in, exit code and words out.

#include <string>
#include <string_view>
#include <vector>

namespace virtaccel::end_to_end {

struct Ended {
    int code = -1;  // the exit code, or minus the signal
    std::string out;
    std::string err;
};

// Runs `virtaccel` with `arguments` and an empty standard input, and waits for its end.
[[nodiscard]] Ended run_virtaccel(const std::vector<std::string>& arguments);

// `virtaccel conform` with `arguments`.
[[nodiscard]] Ended conform(std::vector<std::string> arguments);

[[nodiscard]] inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

struct EndedPair {
    Ended first;
    Ended second;
};

// Runs two of them, each one's standard output being the other's standard input; `out` stays empty.
[[nodiscard]] EndedPair run_piped(const std::vector<std::string>& first,
                                  const std::vector<std::string>& second);

// A folder that is empty at first and gone at the end.
class Folder {
  public:
    Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();

    [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }

    // The names of what is in it, sorted.
    [[nodiscard]] std::vector<std::string> names() const;

    void write(const std::string& name, const std::string& bytes) const;
    [[nodiscard]] std::string read(const std::string& name) const;

  private:
    std::string path_;
};

}  // namespace virtaccel::end_to_end
