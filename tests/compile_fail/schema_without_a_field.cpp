// fails: constraints not satisfied|does not satisfy|constraint failure
// A schema that forgets a member of its record is no schema.

#include <tuple>

#include "virtaccel/wire/schema.h"

struct Pair {
    virtaccel::wire::le16 first;
    virtaccel::wire::le16 second;
};

namespace virtaccel::wire {

template <>
struct Schema<Pair> {
    static constexpr auto name = "Pair";
    static constexpr auto doc = "Two numbers.";
    static constexpr auto checks = std::tuple{};
#ifdef VIRTACCEL_BAD
    static constexpr std::tuple fields{Field{"first", &Pair::first, "One."}};
#else
    static constexpr std::tuple fields{Field{"first", &Pair::first, "One."},
                                       Field{"second", &Pair::second, "The other."}};
#endif
};

}  // namespace virtaccel::wire

static_assert(sizeof(virtaccel::wire::encode(Pair{})) == 4);
