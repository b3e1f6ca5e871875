#include "bench/cases/heap_count.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

std::atomic<std::uint64_t> count = 0;

void note() {
    count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The C library's own functions, under the names it keeps for those who replace the public ones.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t elements, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

// NOTIDY(banned_words): this is the function that is counted
void* malloc(std::size_t bytes) {
    note();
    return __libc_malloc(bytes);
}

// NOTIDY(banned_words): this is the function that is counted
void* calloc(std::size_t elements, std::size_t bytes) {
    note();
    return __libc_calloc(elements, bytes);
}

// NOTIDY(banned_words): this is the function that is counted
void* realloc(void* block, std::size_t bytes) {
    note();
    return __libc_realloc(block, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    note();
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    note();
    *block = __libc_memalign(alignment, bytes);
    return *block == nullptr ? ENOMEM : 0;
}
}

namespace virtaccel::bench {

std::uint64_t heap_allocations() {
    return count.load(std::memory_order_relaxed);
}

}  // namespace virtaccel::bench
