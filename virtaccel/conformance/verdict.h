#pragma once
// How a conformance case ends, and the small steps that cases are written in. The one thing to
// know: a step that does not hold ends its case at once, with one full sentence for a person.

#include <concepts>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "virtaccel/base/status.h"

namespace virtaccel::conformance {

enum class Outcome : std::uint8_t { passed, skipped, failed };

// One case's end. `name` is stable over releases, `title` says what the case is about; `reason` is
// empty for a passed case. The names and titles of our own cases live as long as the program.
struct CaseResult {
    std::string_view name;
    std::string_view title{};
    Outcome outcome = Outcome::passed;
    std::string reason{};
    // The part of the suite that the case belongs to; empty if the suite has no parts.
    std::string_view group{};
    // The greatest error in ULPs, of a case about numbers that has compared some (numerics/).
    std::optional<double> ulp{};
};

using Results = std::vector<CaseResult>;

// Why a case ended early.
struct Stop {
    Outcome outcome = Outcome::failed;
    std::string reason;
};

// Nothing, or a value, or the end of the case. VIRTACCEL_TRY passes the end on.
using Check = std::expected<void, Stop>;
template <class T>
using Checked = std::expected<T, Stop>;

// The parts of a sentence in a row: text, numbers, and statuses by their protocol name.
namespace detail {

inline void append(std::string& sentence, std::string_view text) {
    sentence.append(text);
}

inline void append(std::string& sentence, Status status) {
    sentence.append(status_name(status));
}

inline void append(std::string& sentence, std::integral auto number) {
    sentence.append(std::to_string(number));
}

}  // namespace detail

template <class... Parts>
[[nodiscard]] std::string say(const Parts&... parts) {
    std::string sentence;
    (detail::append(sentence, parts), ...);
    return sentence;
}

template <class... Parts>
[[nodiscard]] std::unexpected<Stop> failed(const Parts&... parts) {
    return std::unexpected{Stop{.outcome = Outcome::failed, .reason = say(parts...)}};
}

template <class... Parts>
[[nodiscard]] std::unexpected<Stop> skipped(const Parts&... parts) {
    return std::unexpected{Stop{.outcome = Outcome::skipped, .reason = say(parts...)}};
}

// Ends the case as failed, with that sentence, unless `holds`.
template <class... Parts>
[[nodiscard]] Check expect(bool holds, const Parts&... parts) {
    if (!holds) {
        return failed(parts...);
    }
    return {};
}

// Ends the case as failed unless `what` was answered with `wanted`.
[[nodiscard]] inline Check expect_status(std::string_view what, Status answered, Status wanted) {
    return expect(answered == wanted, what, " is answered with (", answered,
                  "); the protocol demands (", wanted, ").");
}

// Ends the case as failed unless both numbers are the same.
[[nodiscard]] inline Check expect_equal(std::string_view what, std::uint64_t found,
                                        std::uint64_t wanted) {
    return expect(found == wanted, what, " is (", found, ") and not (", wanted, ").");
}

// The result of the case `name`, which is about `title`.
[[nodiscard]] inline CaseResult result_of(std::string_view name, std::string_view title,
                                          const Check& check) {
    CaseResult result{
        .name = name, .title = title, .outcome = Outcome::passed, .reason = {}, .group = {}};
    if (!check) {
        result.outcome = check.error().outcome;
        result.reason = check.error().reason;
    }
    return result;
}

}  // namespace virtaccel::conformance
