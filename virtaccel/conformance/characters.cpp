#include "virtaccel/conformance/characters.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace virtaccel::conformance {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

// One character: its bytes, and its number. What is no UTF-8 is one byte without a number.
struct Character {
    std::string_view bytes;
    char32_t code = 0;
    bool valid = true;
};

constexpr unsigned char byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

// The first character of `text`, which is not empty. Overlong forms and surrogates are no UTF-8.
Character first_character(std::string_view text) {
    constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const unsigned lead = byte_at(text, 0);
    if (lead < 0x80) {
        return {.bytes = text.substr(0, 1), .code = lead};
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    char32_t code = lead & (0x7fU >> length);
    bool valid = lead >= 0xc2 && lead <= 0xf4 && length <= text.size();
    for (std::size_t i = 1; valid && i < length; ++i) {
        const unsigned next = byte_at(text, i);
        valid = (next & 0xc0U) == 0x80;
        code = (code << 6U) | (next & 0x3fU);
    }
    valid =
        valid && code >= least.at(length) && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return {.bytes = text.substr(0, valid ? length : 1), .code = code, .valid = valid};
}

// `text`, each character as `spelling` gives it.
template <class Spelling>
std::string escaped(std::string_view text, Spelling spelling) {
    std::string result;
    while (!text.empty()) {
        const Character character = first_character(text);
        result += character.valid ? spelling(character) : std::string{replacement};
        text.remove_prefix(character.bytes.size());
    }
    return result;
}

std::string json_spelling(const Character& character) {
    constexpr std::string_view digits = "0123456789abcdef";
    switch (character.code) {
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        case '\n':
            return "\\n";
        case '\t':
            return "\\t";
        default:
            break;
    }
    if (character.code < 0x20) {
        return std::string{"\\u00"} + digits[character.code >> 4U] + digits[character.code & 0xfU];
    }
    return std::string{character.bytes};
}

std::string xml_spelling(const Character& character) {
    switch (character.code) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\t':
        case '\n':
        case '\r':
            return "&#" + std::to_string(static_cast<unsigned>(character.code)) + ';';
        default:
            break;
    }
    const bool nameless =
        character.code < 0x20 || character.code == 0xfffe || character.code == 0xffff;
    return std::string{nameless ? replacement : character.bytes};
}

}  // namespace

std::string json_escaped(std::string_view text) {
    return escaped(text, json_spelling);
}

std::string xml_escaped(std::string_view text) {
    return escaped(text, xml_spelling);
}

}  // namespace virtaccel::conformance
