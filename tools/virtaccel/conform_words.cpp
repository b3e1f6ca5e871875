#include "tools/virtaccel/conform_words.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace virtaccel::cli {

std::optional<std::vector<std::string>> split_words(std::string_view command) {
    std::vector<std::string> words;
    std::optional<std::string> word;
    char quote = '\0';  // the one that is open
    bool kept = false;  // the last character was a backslash
    for (const char character : command) {
        const bool blank = character == ' ' || character == '\t';
        if (quote == '\0' && blank && !kept) {
            if (word) {
                words.push_back(*std::exchange(word, std::nullopt));
            }
            continue;
        }
        word = word.value_or("");
        if (kept || (quote != '\0' && character != quote && (character != '\\' || quote == '\''))) {
            *word += character;
            kept = false;
        } else if (character == '\\') {
            kept = true;
        } else if (character == '\'' || character == '"') {
            quote = quote == '\0' ? character : '\0';
        } else {
            *word += character;
        }
    }
    if (quote != '\0' || kept) {
        return std::nullopt;
    }
    if (word) {
        words.push_back(*std::move(word));
    }
    return words;
}

bool matches(std::string_view pattern, std::string_view name) {
    std::size_t p = 0;
    std::size_t n = 0;
    // The last star, and where in `name` what follows it is tried.
    std::size_t star = std::string_view::npos;
    std::size_t tried = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            tried = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++tried;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace virtaccel::cli
