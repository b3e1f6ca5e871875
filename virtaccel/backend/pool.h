#pragma once
// Objects of one type that never move and are used again. The one thing to know: an object is made
// once, with its chunk, and lives as long as the pool; taking and giving back do not construct it,
// so that whoever still holds an old pointer looks at a live object and not at freed memory.

#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>

#include "virtaccel/base/memory.h"

namespace virtaccel::backend {

// A pool of T, grown by chunks from a `Memory`. One thread takes and gives; `each` may run on any.
template <class T>
class Pool {
  public:
    static constexpr std::size_t objects_per_chunk = 32;

    explicit Pool(const Memory& memory) : memory_(memory) {}

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    ~Pool() {
        Chunk* chunk = chunks_.load(std::memory_order_relaxed);
        while (chunk != nullptr) {
            Chunk* const next = chunk->next;
            memory_.release_array(chunk, 1);
            chunk = next;
        }
    }

    // An object nobody else has, as its last user left it; null if the memory refuses.
    [[nodiscard]] T* take() {
        if (free_ == nullptr && !grow()) {
            return nullptr;
        }
        Node* const node = free_;
        free_ = node->next_free;
        return node;
    }

    // Gives back what `take` gave.
    void give(T* object) {
        auto* const node = static_cast<Node*>(object);
        node->next_free = free_;
        free_ = node;
    }

    // Calls `visit(T&)` for every object, in use or not.
    template <class Visit>
    void each(Visit&& visit) {
        for (Chunk* chunk = chunks_.load(std::memory_order_acquire); chunk != nullptr;
             chunk = chunk->next) {
            for (Node& node : chunk->nodes) {
                visit(static_cast<T&>(node));
            }
        }
    }

  private:
    struct Node : T {
        Node* next_free = nullptr;
    };

    struct Chunk {
        Chunk* next = nullptr;
        std::array<Node, objects_per_chunk> nodes;
    };

    bool grow() {
        // Here and not on the class, so that T may be a member of the class that has the pool.
        static_assert(std::is_trivially_destructible_v<T>);
        static_assert(std::is_nothrow_default_constructible_v<T>);
        auto* const chunk = memory_.make_array<Chunk>(1);
        if (chunk == nullptr) {
            return false;
        }
        for (Node& node : chunk->nodes) {
            give(&node);
        }
        chunk->next = chunks_.load(std::memory_order_relaxed);
        chunks_.store(chunk, std::memory_order_release);
        return true;
    }

    Memory memory_;
    Node* free_ = nullptr;
    std::atomic<Chunk*> chunks_ = nullptr;
};

}  // namespace virtaccel::backend
