#pragma once
// What a user writes in one word of a command line and means as several, or as a pattern.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace virtaccel::cli {

// The words of a command, between blanks. Single or double quotes keep blanks in a word; a
// backslash keeps the next character, but inside single quotes is itself. Nothing if a quote is not
// closed.
[[nodiscard]] std::optional<std::vector<std::string>> split_words(std::string_view command);

// True if `pattern` is all of `name`: `*` stands for any characters, `?` for one.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

}  // namespace virtaccel::cli
