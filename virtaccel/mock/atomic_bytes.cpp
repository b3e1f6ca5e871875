#include "virtaccel/mock/atomic_bytes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace virtaccel::mock {

namespace {

using Word = std::uint64_t;

// std::atomic_ref takes no const object before C++26; nothing here writes through it.
template <class T>
T load(const std::byte* at) {
    auto* const object = reinterpret_cast<T*>(const_cast<std::byte*>(at));
    return std::atomic_ref<T>{*object}.load(std::memory_order_relaxed);
}

template <class T>
void store(std::byte* at, T value) {
    std::atomic_ref<T>{*reinterpret_cast<T*>(at)}.store(value, std::memory_order_relaxed);
}

// Compilers do not unroll loops of atomic accesses; unrolled they are twice as fast.
constexpr std::size_t words_at_once = 8;

// Calls `visit(offset, T{})` for every byte before the first aligned word of `shared`, then for
// every whole word, then for every byte after them. T is std::uint8_t or Word. By value, so that
// what `visit` holds stays in registers: stores through std::byte may change anything in memory.
template <class Visit>
void each_word(const std::byte* shared, std::size_t bytes, const Visit visit) {
    const auto misaligned = std::bit_cast<std::uintptr_t>(shared) % sizeof(Word);
    const std::size_t head = std::min((sizeof(Word) - misaligned) % sizeof(Word), bytes);
    std::size_t at = 0;
    for (; at < head; ++at) {
        visit(at, std::uint8_t{});
    }
    for (; bytes - at >= words_at_once * sizeof(Word); at += words_at_once * sizeof(Word)) {
        [&]<std::size_t... word>(std::index_sequence<word...>) {
            (visit(at + (word * sizeof(Word)), Word{}), ...);
        }(std::make_index_sequence<words_at_once>{});
    }
    for (; bytes - at >= sizeof(Word); at += sizeof(Word)) {
        visit(at, Word{});
    }
    for (; at < bytes; ++at) {
        visit(at, std::uint8_t{});
    }
}

// `value` in every byte of a T.
template <class T>
T repeated(std::byte value) {
    return static_cast<T>(Word{0x0101010101010101} * std::to_integer<Word>(value));
}

}  // namespace

void load_bytes(std::byte* target, const std::byte* shared, std::size_t bytes) {
    each_word(shared, bytes, [=]<class T>(std::size_t at, T) {
        const T value = load<T>(shared + at);
        std::memcpy(target + at, &value, sizeof value);
    });
}

void store_bytes(std::byte* shared, const std::byte* source, std::size_t bytes) {
    each_word(shared, bytes, [=]<class T>(std::size_t at, T value) {
        std::memcpy(&value, source + at, sizeof value);
        store(shared + at, value);
    });
}

void move_bytes(std::byte* target, const std::byte* source, std::size_t bytes) {
    // A part is read whole before it is written, from the end that the other range does not reach
    // first.
    std::array<std::byte, 1024> part{};
    const bool forward =
        std::bit_cast<std::uintptr_t>(target) <= std::bit_cast<std::uintptr_t>(source);
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t size = std::min(part.size(), bytes - done);
        const std::size_t at = forward ? done : bytes - done - size;
        load_bytes(part.data(), source + at, size);
        store_bytes(target + at, part.data(), size);
        done += size;
    }
}

void fill_bytes(std::byte* shared, std::byte value, std::size_t bytes) {
    each_word(shared, bytes,
              [=]<class T>(std::size_t at, T) { store(shared + at, repeated<T>(value)); });
}

void xor_bytes(std::byte* shared, std::byte value, std::size_t bytes) {
    each_word(shared, bytes, [=]<class T>(std::size_t at, T) {
        store(shared + at, static_cast<T>(load<T>(shared + at) ^ repeated<T>(value)));
    });
}

}  // namespace virtaccel::mock
