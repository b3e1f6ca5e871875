#include "bench/budgets/copy_count.h"

#include <cstddef>

namespace {

constinit virtaccel::bench::CopyCount counted;

std::byte* ascend(std::byte* target, const std::byte* source, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        target[i] = source[i];
    }
    return target;
}

std::byte* descend(std::byte* target, const std::byte* source, std::size_t size) {
    for (std::size_t i = size; i > 0; --i) {
        target[i - 1] = source[i - 1];
    }
    return target;
}

}  // namespace

namespace virtaccel::bench {

// They stand in for the C library's in the whole program: these are the names the linker sees.
void* copy_and_count(void* target, const void* source, std::size_t size) noexcept asm("memcpy");
void* move_and_count(void* target, const void* source, std::size_t size) noexcept asm("memmove");
void* fill_and_count(void* target, int value, std::size_t size) noexcept asm("memset");

void* copy_and_count(void* target, const void* source, std::size_t size) noexcept {
    counted.copied_bytes += size;
    return ascend(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), size);
}

void* move_and_count(void* target, const void* source, std::size_t size) noexcept {
    counted.copied_bytes += size;
    auto* to = static_cast<std::byte*>(target);
    const auto* from = static_cast<const std::byte*>(source);
    return to < from ? ascend(to, from, size) : descend(to, from, size);
}

void* fill_and_count(void* target, int value, std::size_t size) noexcept {
    counted.cleared_bytes += size;
    auto* bytes = static_cast<std::byte*>(target);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(value);
    }
    return target;
}

CopyCount copies() {
    return counted;
}

}  // namespace virtaccel::bench
