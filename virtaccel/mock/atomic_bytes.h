#pragma once
// Moving bytes that several threads may touch at once without a lock: every access is a relaxed
// atomic one, of a whole word where the address allows. The one thing to know: a race then loses
// bytes of one of the two, as on a real accelerator, and is never undefined.

#include <cstddef>

namespace virtaccel::mock {

// `shared` to `target`, which nobody else touches.
void load_bytes(std::byte* target, const std::byte* shared, std::size_t bytes);

// `source`, which nobody else touches, to `shared`.
void store_bytes(std::byte* shared, const std::byte* source, std::size_t bytes);

// Between two shared ranges, which may overlap: as memmove.
void move_bytes(std::byte* target, const std::byte* source, std::size_t bytes);

// Every byte of `shared` becomes `value`, or is combined with it by exclusive or.
void fill_bytes(std::byte* shared, std::byte value, std::size_t bytes);
void xor_bytes(std::byte* shared, std::byte value, std::size_t bytes);

}  // namespace virtaccel::mock
