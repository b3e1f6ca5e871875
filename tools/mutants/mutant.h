#pragma once
// What an instrumented source calls: every mutant of a module is compiled in, and the environment
// says at start which one is on. The one thing to know: where the compiler evaluates an expression
// itself, the original counts; that includes the value that a const integer begins with, so none
// here is const.
//
// VIRTACCEL_MUTANT=N        the mutant that is on; none where it is missing
// VIRTACCEL_MUTANT_TRACE=F  at the end, the numbers of all mutants whose place was passed go to F

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace mutant {

inline constexpr int count_max = 1 << 14;

class Choice {
  public:
    Choice() {
        if (const char* text = std::getenv("VIRTACCEL_MUTANT"); text != nullptr) {
            active = static_cast<int>(std::strtol(text, nullptr, 10));
        }
    }

    ~Choice() {
        const char* path = std::getenv("VIRTACCEL_MUTANT_TRACE");
        std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
        if (file == nullptr) {
            return;
        }
        for (int i = 0; i < count_max; ++i) {
            if (passed[i]) {
                std::fprintf(file, "%d\n", i);
            }
        }
        std::fclose(file);
    }

    Choice(const Choice&) = delete;
    Choice& operator=(const Choice&) = delete;

    int active = 0;
    bool passed[count_max] = {};
};

inline Choice choice;

// Which of `count` mutants numbered from `first` is on, counted from 1; 0 if none is.
template <int first, int count = 1>
[[nodiscard]] constexpr int chosen() {
    if (std::is_constant_evaluated()) {
        return 0;
    }
    for (int i = first; i < first + count; ++i) {
        choice.passed[i] = true;
    }
    int at = choice.active - first;
    return at >= 0 && at < count ? at + 1 : 0;
}

template <int id>
[[nodiscard]] constexpr bool on() {
    return chosen<id>() != 0;
}

// A value and what it may become.
template <int first, class T>
[[nodiscard]] constexpr T pick(T original, std::type_identity_t<T> other) {
    return on<first>() ? other : original;
}

template <int first, class T>
[[nodiscard]] constexpr T pick(T original, std::type_identity_t<T> one,
                               std::type_identity_t<T> two) {
    int now = chosen<first, 2>();
    return now == 0 ? original : now == 1 ? one : two;
}

template <int id>
[[nodiscard]] constexpr bool flip(bool condition) {
    return condition != on<id>();
}

// In the place of `!x`: `Not<id>{} ->* x`.
template <int id>
struct Not {
    template <class T>
    constexpr bool operator->*(const T& value) const {
        return static_cast<bool>(value) == on<id>();
    }
};

// In the place of a binary operator: `a < At<first>{} < b`, which has the same precedence. `At`
// takes the left operand along, and what comes of both chooses.
template <int first>
struct At {};

template <int first, class T>
struct Held {
    const T& left;
};

// The operator as it stands, and what it may become: NAME(original, alternatives).
#define MUTANT_ONE(OP, ONE)                                               \
    template <class T, int first>                                         \
    constexpr Held<first, T> operator OP(const T & left, At<first>) {     \
        return {left};                                                    \
    }                                                                     \
    template <int first, class T, class U>                                \
    constexpr auto operator OP(Held<first, T> held, const U& right) {     \
        using Result = std::remove_cvref_t<decltype(held.left OP right)>; \
        return on<first>() ? static_cast<Result>(held.left ONE right)     \
                           : static_cast<Result>(held.left OP right);     \
    }
#define MUTANT_TWO(OP, ONE, TWO)                                      \
    template <class T, int first>                                     \
    constexpr Held<first, T> operator OP(const T & left, At<first>) { \
        return {left};                                                \
    }                                                                 \
    template <int first, class T, class U>                            \
    constexpr bool operator OP(Held<first, T> held, const U& right) { \
        int now = chosen<first, 2>();                                 \
        return now == 0   ? held.left OP right                        \
               : now == 1 ? held.left ONE right                       \
                          : held.left TWO right;                      \
    }

MUTANT_ONE(==, !=)
MUTANT_ONE(!=, ==)
MUTANT_TWO(<, <=, >=)
MUTANT_TWO(<=, <, >)
MUTANT_TWO(>, >=, <=)
MUTANT_TWO(>=, >, <)
MUTANT_ONE(+, -)
MUTANT_ONE(-, +)
MUTANT_ONE(*, +)
MUTANT_ONE(/, *)
MUTANT_ONE(<<, >>)
MUTANT_ONE(>>, <<)
MUTANT_ONE(&, |)
MUTANT_ONE(|, &)

#undef MUTANT_ONE
#undef MUTANT_TWO

}  // namespace mutant
