#pragma once
// Names to numbers, for names that a stranger chose: sorted, so that no choice of names is slow.
// Inside `tosa` only.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "virtaccel/tosa/refusal.h"

namespace virtaccel::tosa {

class NameIndex {
  public:
    struct Entry {
        std::string_view name;
        std::uint32_t id = 0;
    };

    void reserve(std::size_t names) { entries_.reserve(names); }

    void add(std::string_view name, std::uint32_t id) { entries_.push_back({name, id}); }

    // To be called once, after the last add() and before the first find(). A name that was added
    // twice is returned; null if there is none.
    const Entry* sort() {
        std::ranges::sort(entries_, {}, &Entry::name);
        const auto twice = std::ranges::adjacent_find(entries_, {}, &Entry::name);
        return twice == entries_.end() ? nullptr : &*twice;
    }

    // The number of `name`, or `nowhere`. The lowest if it has several.
    [[nodiscard]] std::uint32_t find(std::string_view name) const {
        const auto at = std::ranges::lower_bound(entries_, name, {}, &Entry::name);
        return at == entries_.end() || at->name != name ? nowhere : at->id;
    }

  private:
    std::vector<Entry> entries_;
};

}  // namespace virtaccel::tosa
