#pragma once
// The schema as plain data, gathered once from the templates so that each document is an ordinary
// loop.

#include <cstddef>
#include <string>
#include <vector>

namespace virtaccel::print {

// A member of a record. `width` is one element's bytes, `count` the elements of an array (1
// otherwise).
struct FieldData {
    std::string name;
    std::size_t offset = 0;
    std::size_t width = 0;
    std::size_t count = 1;
    bool opaque = false;  // bytes without a number's meaning: reserved, or a uuid
    std::string doc;
};

// A check, in the protocol's order, with the names of the fields it looks at.
struct CheckData {
    std::vector<std::string> fields;
    std::string says;
};

struct RecordData {
    std::string name;
    std::string doc;
    std::size_t bytes = 0;
    std::vector<FieldData> fields;
    std::vector<CheckData> checks;
};

struct RefusalData {
    std::string status;
    std::string when;
};

// A command. Record names are empty where there is no fixed part; tails are "none", "data",
// "artifact" or "bindings"; `reply_bytes` is the writable capacity without a data tail.
struct CommandData {
    unsigned opcode = 0;
    std::string name;
    std::string doc;
    std::string request;
    std::string request_tail;
    std::string reply;
    std::string reply_tail;
    std::size_t reply_bytes = 0;
    std::vector<RefusalData> refusals;
};

[[nodiscard]] const std::vector<RecordData>& records();
[[nodiscard]] const std::vector<CommandData>& commands();
[[nodiscard]] const std::vector<RefusalData>& common_refusals();

}  // namespace virtaccel::print
