#include <cstddef>
#include <string>
#include <string_view>

#include "virtaccel/conformance/reports.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

namespace {

constexpr std::string_view label = "virtio-accel 1.0";
constexpr std::size_t margin = 6;
// Whatever font a viewer has, a text is set as wide as this says.
constexpr std::size_t character_width = 7;

struct Verdict {
    std::string words;
    std::string_view colour;
};

Verdict verdict_of(const Counts& counts) {
    if (counts.failed != 0) {
        return {.words = say(counts.failed, " fail"), .colour = "#b3261e"};
    }
    return {.words = say(counts.passed, " of ", counts.total()),
            .colour = counts.passed != 0 ? "#2e7d32" : "#6b6b6b"};
}

// A box of the badge, and how far it reaches.
struct Box {
    std::string_view text;
    std::size_t left = 0;

    [[nodiscard]] std::size_t text_width() const { return text.size() * character_width; }

    [[nodiscard]] std::size_t width() const { return text_width() + (2 * margin); }

    [[nodiscard]] std::string area(std::string_view colour) const {
        return say(R"(<rect x=")", left, R"(" width=")", width(), R"(" height="20" fill=")", colour,
                   "\"/>");
    }

    [[nodiscard]] std::string words() const {
        return say(R"(<text x=")", left + margin, R"(" y="14" textLength=")", text_width(), "\">",
                   text, "</text>");
    }
};

}  // namespace

std::string to_badge(const Report& report) {
    const Verdict verdict = verdict_of(count(report));
    const Box left{.text = label};
    const Box right{.text = verdict.words, .left = left.width()};
    const std::size_t width = right.left + right.width();
    const std::string all = say(label, ": ", verdict.words);
    return say(R"(<svg xmlns="http://www.w3.org/2000/svg" width=")", width,
               R"(" height="20" role="img" aria-label=")", all, "\">\n<title>", all,
               "</title>\n<clipPath id=\"shape\"><rect width=\"", width,
               "\" height=\"20\" rx=\"3\"/></clipPath>\n<g clip-path=\"url(#shape)\">",
               left.area("#3a3a3a"), right.area(verdict.colour),
               "</g>\n<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" "
               "font-size=\"11\">",
               left.words(), right.words(), "</g>\n</svg>\n");
}

}  // namespace virtaccel::conformance
