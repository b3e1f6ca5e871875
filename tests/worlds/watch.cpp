#include "tests/worlds/watch.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "virtaccel/queue/testing/watched_words.h"

namespace virtaccel::worlds {

namespace {

// A global, since a fence has no argument by which it could find its recorder.
Recorder* running = nullptr;

}  // namespace

std::uint64_t Recorder::pass(const Access& access) {
    if (left_ == 0) {
        next_ = access;
        throw Paused{};
    }
    --left_;
    if (access.kind != AccessKind::load) {
        return 0;
    }
    const std::uint64_t word = loads_.front();
    loads_ = loads_.subspan(1);
    return word;
}

Watching::Watching(Recorder& recorder) {
    running = &recorder;
}

Watching::~Watching() {
    running = nullptr;
}

void watched_notify(void* /*state*/) {
    if (running != nullptr) {
        running->pass({.kind = AccessKind::notify});
    }
}

}  // namespace virtaccel::worlds

namespace virtaccel::queue::testing {

using worlds::AccessKind;
using worlds::running;

std::uint64_t watched_load(const std::byte* at, std::size_t bytes, int /*order*/) {
    if (running != nullptr) {
        return running->pass({.kind = AccessKind::load,
                              .offset = running->offset_of(at),
                              .bytes = static_cast<std::uint8_t>(bytes)});
    }
    std::uint64_t word = 0;
    std::memcpy(&word, at, bytes);
    return word;
}

void watched_store(std::byte* at, std::size_t bytes, std::uint64_t word, int order) {
    if (running != nullptr) {
        running->pass({.kind = AccessKind::store,
                       .is_release = order == __ATOMIC_RELEASE,
                       .offset = running->offset_of(at),
                       .bytes = static_cast<std::uint8_t>(bytes),
                       .word = word});
        return;
    }
    std::memcpy(at, &word, bytes);
}

void watched_fence() {
    if (running != nullptr) {
        running->pass({.kind = AccessKind::fence});
    }
}

}  // namespace virtaccel::queue::testing
