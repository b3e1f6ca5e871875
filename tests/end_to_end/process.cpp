#include "tests/end_to_end/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace virtaccel::end_to_end {
namespace {

struct Pipe {
    int source = -1;
    int target = -1;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::system_error{errno, std::generic_category(), "pipe2"};
    }
    return {.source = ends[0], .target = ends[1]};
}

std::string contents(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

// A child whose words go to files, so that no pipe can be full.
class Child {
  public:
    // `input` and `output` are descriptors, or -1 for nothing to read and a file to write to.
    Child(const std::vector<std::string>& arguments, int input, int output) {
        std::vector<std::string> words{VIRTACCEL_PROGRAM};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        argv.reserve(words.size() + 1);
        for (auto& word : words) {
            argv.push_back(word.data());
        }
        argv.push_back(nullptr);
        posix_spawn_file_actions_t actions{};
        ::posix_spawn_file_actions_init(&actions);
        redirect(actions, STDIN_FILENO, input, "/dev/null", O_RDONLY);
        redirect(actions, STDOUT_FILENO, output, folder_.path("out"), O_WRONLY | O_CREAT);
        redirect(actions, STDERR_FILENO, -1, folder_.path("err"), O_WRONLY | O_CREAT);
        const int failed =
            ::posix_spawn(&id_, VIRTACCEL_PROGRAM, &actions, nullptr, argv.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        if (failed != 0) {
            throw std::system_error{failed, std::generic_category(), VIRTACCEL_PROGRAM};
        }
    }

    [[nodiscard]] Ended wait() const {
        int status = 0;
        while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
        }
        return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
                .out = contents(folder_.path("out")),
                .err = contents(folder_.path("err"))};
    }

  private:
    static void redirect(posix_spawn_file_actions_t& actions, int target, int source,
                         const std::string& path, int flags) {
        if (source >= 0) {
            ::posix_spawn_file_actions_adddup2(&actions, source, target);
        } else {
            ::posix_spawn_file_actions_addopen(&actions, target, path.c_str(), flags, 0600);
        }
    }

    Folder folder_;
    pid_t id_ = -1;
};

}  // namespace

Ended run_virtaccel(const std::vector<std::string>& arguments) {
    return Child{arguments, -1, -1}.wait();
}

Ended conform(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "conform");
    return run_virtaccel(arguments);
}

EndedPair run_piped(const std::vector<std::string>& first, const std::vector<std::string>& second) {
    const Pipe there = make_pipe();
    const Pipe back = make_pipe();
    const Child left{first, back.source, there.target};
    const Child right{second, there.source, back.target};
    // The children have their own; an end that stays open here would never be seen to end there.
    for (const int end : {there.source, there.target, back.source, back.target}) {
        ::close(end);
    }
    return {.first = left.wait(), .second = right.wait()};
}

Folder::Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "virtaccel-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw std::system_error{errno, std::generic_category(), pattern};
    }
    path_ = pattern;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{path_}) {
        names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
}

void Folder::write(const std::string& name, const std::string& bytes) const {
    std::ofstream file{path(name), std::ios::binary};
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string Folder::read(const std::string& name) const {
    return contents(path(name));
}

}  // namespace virtaccel::end_to_end
