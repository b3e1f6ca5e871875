#pragma once
// Equal strings of bytes under one number, so that a state of many parts is a few numbers. The one
// thing to know: numbers count up from 0 in the order of first sight.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace virtaccel::worlds {

class Interner {
  public:
    [[nodiscard]] std::uint32_t number_of(std::string_view bytes) {
        if (const auto known = numbers_.find(bytes); known != numbers_.end()) {
            return known->second;
        }
        const auto number = static_cast<std::uint32_t>(strings_.size());
        numbers_.emplace(strings_.emplace_back(bytes), number);
        return number;
    }

    [[nodiscard]] std::string_view at(std::uint32_t number) const { return strings_[number]; }

    [[nodiscard]] std::size_t size() const { return strings_.size(); }

  private:
    std::deque<std::string> strings_;
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

// The same for values of one type without padding.
template <class T>
    requires std::has_unique_object_representations_v<T>
class ValueInterner {
  public:
    [[nodiscard]] std::uint32_t number_of(const T& value) {
        return bytes_.number_of({reinterpret_cast<const char*>(&value), sizeof value});
    }

    [[nodiscard]] T at(std::uint32_t number) const {
        T value{};
        std::memcpy(&value, bytes_.at(number).data(), sizeof value);
        return value;
    }

    [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  private:
    Interner bytes_;
};

}  // namespace virtaccel::worlds
