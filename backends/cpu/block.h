#pragma once
// Bytes from a `Memory`, owned: arenas, constants, packed weights, a copied artifact.

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "virtaccel/base/memory.h"

namespace virtaccel::backends::cpu {

// A zeroed block, aligned to whole vectors and a multiple of them, so that a kernel may read and
// write whole vectors at its end. Throws std::bad_alloc if the memory refuses.
class Block {
  public:
    static constexpr std::size_t alignment = 64;

    Block() = default;

    Block(const Memory& memory, std::size_t bytes)
        : memory_(memory), size_((bytes + alignment - 1) / alignment * alignment) {
        if (size_ < bytes) {
            throw std::bad_alloc{};
        }
        if (size_ != 0) {
            data_ = static_cast<std::byte*>(memory.allocate(memory.state, size_, alignment));
            if (data_ == nullptr) {
                throw std::bad_alloc{};
            }
            std::memset(data_, 0, size_);
        }
    }

    Block(Block&& other) noexcept
        : memory_(other.memory_),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}

    Block& operator=(Block&& other) noexcept {
        if (this != &other) {
            release();
            memory_ = other.memory_;
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
        }
        return *this;
    }

    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    ~Block() { release(); }

    [[nodiscard]] std::byte* data() const { return data_; }

    [[nodiscard]] std::size_t size() const { return size_; }

    [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

  private:
    void release() {
        if (data_ != nullptr) {
            memory_.release(memory_.state, data_, size_, alignment);
        }
    }

    Memory memory_;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace virtaccel::backends::cpu
