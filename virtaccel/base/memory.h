#pragma once
// The allocation functions a module is given. Nothing in the portable core calls `new`: growth goes
// through a `Memory`, may be refused, and is answered with OUT_OF_MEMORY before the backend is
// called.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace virtaccel {

// Two functions and their state. Copies are cheap and refer to the same source; the source outlives
// all that was allocated from it. `allocate` returns null when it has nothing; `release` gets the
// same size and alignment back.
struct Memory {
    void* state = nullptr;
    void* (*allocate)(void* state, std::size_t bytes, std::size_t alignment) = nullptr;
    void (*release)(void* state, void* block, std::size_t bytes, std::size_t alignment) = nullptr;

    // `count` value-initialised objects of T, or null.
    template <class T>
        requires std::is_trivially_destructible_v<T>
    [[nodiscard]] T* make_array(std::size_t count) const {
        std::size_t bytes = 0;
        if (__builtin_mul_overflow(count, sizeof(T), &bytes) || bytes == 0) {
            return nullptr;
        }
        void* block = allocate(state, bytes, alignof(T));
        if (block == nullptr) {
            return nullptr;
        }
        T* first = static_cast<T*>(block);
        for (std::size_t i = 0; i < count; ++i) {
            std::construct_at(first + i);
        }
        return first;
    }

    template <class T>
    void release_array(T* first, std::size_t count) const {
        if (first != nullptr) {
            release(state, static_cast<void*>(first), sizeof(T) * count, alignof(T));
        }
    }
};

// A fixed-length array from a `Memory`: made once, never grown, freed by its destructor. Empty
// after a refused allocation.
template <class T>
class Array {
  public:
    Array() = default;

    // `count` value-initialised elements; `empty()` if the memory refuses or `count` is zero.
    Array(const Memory& memory, std::size_t count)
        : memory_(memory),
          data_(memory.make_array<T>(count)),
          size_(data_ == nullptr ? 0 : count) {}

    Array(Array&& other) noexcept
        : memory_(other.memory_),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}

    Array& operator=(Array&& other) noexcept {
        if (this != &other) {
            memory_.release_array(data_, size_);
            memory_ = other.memory_;
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
        }
        return *this;
    }

    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    ~Array() { memory_.release_array(data_, size_); }

    [[nodiscard]] bool empty() const { return size_ == 0; }

    [[nodiscard]] std::size_t size() const { return size_; }

    [[nodiscard]] T* data() { return data_; }

    [[nodiscard]] const T* data() const { return data_; }

    [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }

    [[nodiscard]] const T& operator[](std::size_t i) const { return data_[i]; }

    [[nodiscard]] T* begin() { return data_; }

    [[nodiscard]] T* end() { return data_ + size_; }

    [[nodiscard]] const T* begin() const { return data_; }

    [[nodiscard]] const T* end() const { return data_ + size_; }

  private:
    Memory memory_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace virtaccel
