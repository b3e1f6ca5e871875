#pragma once
// The end of a program with a bug of ours. Bad input never comes here; a broken invariant always
// does, in every build, because going on would turn a bug into damage.

// Defined by the embedder (host/ has the usual one): reports and never returns.
extern "C" [[noreturn]] void virtaccel_panic(const char* what, const char* file, int line);

// Stops the program if an invariant of ours does not hold. On in every build; an expression.
#define VIRTACCEL_CHECK(condition)                       \
    (static_cast<bool>(condition) ? static_cast<void>(0) \
                                  : virtaccel_panic(#condition, __FILE_NAME__, __LINE__))
