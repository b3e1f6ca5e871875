#include "host/panic.h"

#include <cstdio>
#include <cstdlib>

void virtaccel_panic(const char* what, const char* file, int line) {
    // The result changes nothing: the program ends either way.
    static_cast<void>(std::fprintf(
        stderr, "virtaccel: An invariant (%s) does not hold (%s:%d); please report this.\n", what,
        file, line));
    std::abort();
}
