#include "host/memory.h"

#include <cstddef>
#include <new>

#include "virtaccel/base/memory.h"

namespace virtaccel::host {

Memory heap() {
    return {
        .state = nullptr,
        .allocate =
            [](void*, std::size_t bytes, std::size_t alignment) {
                return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
            },
        .release =
            [](void*, void* block, std::size_t bytes, std::size_t alignment) {
                ::operator delete(block, bytes, std::align_val_t{alignment});
            },
    };
}

}  // namespace virtaccel::host
