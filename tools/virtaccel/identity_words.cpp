#include "tools/virtaccel/identity_words.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "virtaccel/base/vocabulary.h"

namespace virtaccel::cli {
namespace {

constexpr std::array<std::string_view, 6> capability_words{
    "host-visible memory", "device-local memory", "event cancellation",
    "external memory",     "secure contexts",     "shared memory"};

constexpr std::array<std::string_view, 4> class_words{"other", "NPU", "GPU", "DSP"};

}  // namespace

std::string uuid_text(const std::array<std::uint8_t, 16>& uuid) {
    std::string text;
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        text += fmt::format("{}{:02x}", dash ? "-" : "", uuid.at(i));
    }
    return text;
}

std::string class_name(AcceleratorClass accelerator_class) {
    const auto number = static_cast<std::uint16_t>(accelerator_class);
    return number < class_words.size() ? std::string{class_words.at(number)}
                                       : fmt::format("class {}", number);
}

std::vector<std::string> capability_names(Capabilities capabilities) {
    std::vector<std::string> names;
    for (std::size_t bit = 0; bit < 64; ++bit) {
        if ((capabilities.bits >> bit & 1U) != 0) {
            names.push_back(bit < capability_words.size() ? std::string{capability_words.at(bit)}
                                                          : fmt::format("bit {}", bit));
        }
    }
    return names;
}

}  // namespace virtaccel::cli
