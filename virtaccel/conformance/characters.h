#pragma once
// Any bytes as text inside JSON and XML. Internal to this folder. The one thing to know: what comes
// in may be no UTF-8 at all, and what goes out always is: U+FFFD stands for what cannot be said.

#include <string>
#include <string_view>

namespace virtaccel::conformance {

// `text` as the inside of a JSON string.
[[nodiscard]] std::string json_escaped(std::string_view text);

// `text` as XML character data or the inside of an attribute in double quotes.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace virtaccel::conformance
