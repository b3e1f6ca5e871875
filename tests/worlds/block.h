#pragma once
// Memory that can be put back as it was: real objects, and all they allocate, live in one block of
// bytes, whose copy is their state. The one thing to know: nothing in a block is destroyed, and
// what points into it goes on pointing, because the bytes are put back where they were.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"

namespace virtaccel::worlds {

class Block {
  public:
    explicit Block(std::size_t bytes) : lines_((bytes + sizeof(Line) - 1) / sizeof(Line)) {}

    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() = default;

    // Room in the block until it is full; nothing is ever given back.
    [[nodiscard]] Memory memory() {
        return {.state = this,
                .allocate = [](void* self, std::size_t bytes, std::size_t alignment) -> void* {
                    return static_cast<Block*>(self)->take(bytes, alignment);
                },
                .release = [](void*, void*, std::size_t, std::size_t) {}};
    }

    // An object that lives as long as the block and is not destroyed.
    template <class T, class... Arguments>
    [[nodiscard]] T* make(Arguments&&... arguments) {
        void* const room = take(sizeof(T), alignof(T));
        VIRTACCEL_CHECK(room != nullptr);
        return std::construct_at(static_cast<T*>(room), std::forward<Arguments>(arguments)...);
    }

    // All that was taken. It goes when the block changes; keep a copy.
    [[nodiscard]] std::string_view image() const {
        return {reinterpret_cast<const char*>(lines_.data()), taken_};
    }

    // Puts back what `image` gave when as much was taken as now.
    void restore(std::string_view image) {
        VIRTACCEL_CHECK(image.size() == taken_);
        std::ranges::copy(image, reinterpret_cast<char*>(lines_.data()));
    }

  private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };

    void* take(std::size_t bytes, std::size_t alignment) {
        VIRTACCEL_CHECK(alignment <= sizeof(Line));
        const std::size_t start = (taken_ + alignment - 1) & ~(alignment - 1);
        if (bytes > lines_.size() * sizeof(Line) - start) {
            return nullptr;
        }
        taken_ = start + bytes;
        return reinterpret_cast<std::byte*>(lines_.data()) + start;
    }

    std::vector<Line> lines_;
    std::size_t taken_ = 0;
};

}  // namespace virtaccel::worlds
