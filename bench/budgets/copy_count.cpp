#include "bench/budgets/copy_count.h"

#include <cstddef>
#include <cstdint>

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

extern "C" {
void* memcpy(void* target, const void* source, std::size_t size) noexcept {
    counted.copied_bytes += size;
    return ascend(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), size);
}

void* memmove(void* target, const void* source, std::size_t size) noexcept {
    counted.copied_bytes += size;
    auto* to = static_cast<std::byte*>(target);
    const auto* from = static_cast<const std::byte*>(source);
    return to < from ? ascend(to, from, size) : descend(to, from, size);
}

void* memset(void* target, int value, std::size_t size) noexcept {
    counted.cleared_bytes += size;
    auto* bytes = static_cast<std::byte*>(target);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(value);
    }
    return target;
}
}

namespace virtaccel::bench {

CopyCount copies() {
    return counted;
}

}  // namespace virtaccel::bench
