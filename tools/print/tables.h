#pragma once
// The documents that are printed from the schema: one function a file. The one thing to know:
// nothing in them is written by hand, and a test compares them with what stands in spec/printed/.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace virtaccel::print {

// One printed file: its name below spec/printed/ and its whole text.
struct Document {
    std::string_view file;
    std::function<std::string()> text;
};

// Every record: offsets, widths, checks in the protocol's order (Markdown).
[[nodiscard]] std::string records_page();

// Every command, status and limit (Markdown).
[[nodiscard]] std::string commands_page();

// The layouts and commands for programs (JSON).
[[nodiscard]] std::string layout_json();

// The wire structures for a C driver, in the kernel or out of it (C11).
[[nodiscard]] std::string c_header();

// All of them.
[[nodiscard]] const std::vector<Document>& documents();

}  // namespace virtaccel::print
