#include "tools/virtaccel/inspect_picture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "tools/virtaccel/inspect_report.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::cli {
namespace {

constexpr std::size_t label_lines_max = 24;

std::string_view color_of(tosa::OperatorClass kind) {
    switch (kind) {
        case tosa::OperatorClass::tensor:
            return "#cfe2ff";
        case tosa::OperatorClass::elementwise:
            return "#d9f2d9";
        case tosa::OperatorClass::layout:
            return "#f0f0f0";
        default:
            return "#fff3cd";
    }
}

constexpr std::string_view refused_color = "#f8b4b4";

class Picture {
  public:
    explicit Picture(const InspectReport& report)
        : report_(report),
          graph_(report.file.graph),
          analysis_(report.analysis.graph),
          boxes_(graph_.operators().size(), tosa::nowhere),
          is_refused_(graph_.operators().size()) {
        if (report.verdict) {
            for (const OperatorVerdict& verdict : report.verdict->operators) {
                is_refused_[verdict.index] = !verdict.reason.empty();
            }
        }
    }

    std::string draw() {
        text_ =
            "digraph model {\n"
            "  graph [rankdir=TB, nodesep=0.25, ranksep=0.35, fontname=\"Helvetica\"];\n"
            "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=10, "
            "margin=\"0.12,0.06\"];\n"
            "  edge [arrowsize=0.6, color=\"#666666\"];\n";
        put_into_boxes();
        draw_slots();
        for (std::size_t box = 0; box < members_.size(); ++box) {
            draw_box(box);
        }
        return std::move(text_) + "}\n";
    }

  private:
    // Constants and what is computed from them are part of whoever reads them.
    [[nodiscard]] bool is_drawn(tosa::OperatorIndex index) const {
        const tosa::Operator& op = graph_.operators()[index];
        const bool is_of_main = index < graph_.main().operators.end();
        return is_of_main && (op.outputs.empty() || !is_known(op.outputs.front()));
    }

    [[nodiscard]] bool is_known(tosa::TensorIndex tensor) const {
        const tosa::Origin origin = analysis_.tensors[tensor].origin;
        return origin == tosa::Origin::constant || origin == tosa::Origin::folded;
    }

    // One operator a box, or all that follow one another without a branch if there are many.
    void put_into_boxes() {
        const auto drawn = std::ranges::count_if(
            analysis_.order, [this](tosa::OperatorIndex index) { return is_drawn(index); });
        const bool shares = static_cast<std::size_t>(drawn) > picture_boxes_max;
        for (const tosa::OperatorIndex index : analysis_.order) {
            if (!is_drawn(index)) {
                continue;
            }
            const std::uint32_t before = shares ? box_before(index) : tosa::nowhere;
            if (before == tosa::nowhere) {
                boxes_[index] = static_cast<std::uint32_t>(members_.size());
                members_.push_back({index});
            } else {
                boxes_[index] = before;
                members_[before].push_back(index);
            }
        }
    }

    // The box of the only operator that this one reads from, if nobody else reads from that.
    [[nodiscard]] std::uint32_t box_before(tosa::OperatorIndex index) const {
        tosa::OperatorIndex source = tosa::nowhere;
        for (const tosa::TensorIndex input : graph_.operators()[index].inputs) {
            if (is_known(input)) {
                continue;
            }
            const tosa::TensorLife& life = analysis_.tensors[input];
            if (source != tosa::nowhere || life.producer == tosa::nowhere ||
                life.first_use != life.last_use || life.slot != tosa::nowhere) {
                return tosa::nowhere;
            }
            source = life.producer;
        }
        return source == tosa::nowhere || graph_.operators()[source].outputs.size() != 1
                   ? tosa::nowhere
                   : boxes_[source];
    }

    void draw_slots() {
        for (std::size_t slot = 0; slot < analysis_.slots.size(); ++slot) {
            const tosa::TensorIndex tensor = analysis_.slots[slot].tensor;
            fmt::format_to(std::back_inserter(text_),
                           "  slot{} [shape=ellipse, style=filled, fillcolor=\"#ffe8cc\", "
                           "label=\"{}\\n{}\"];\n",
                           slot, dot_text(graph_.tensors()[tensor].name), type_of(tensor));
            if (slot >= analysis_.input_count) {
                draw_edge(tensor, fmt::format("slot{}", slot));
            }
        }
    }

    // "FP32 1x128x128x3".
    [[nodiscard]] std::string type_of(tosa::TensorIndex index) const {
        const tosa::Tensor& tensor = graph_.tensors()[index];
        return fmt::format("{} {}", tosa::name_of(tensor.dtype), fmt::join(tensor.shape, "x"));
    }

    void draw_box(std::size_t box) {
        const std::vector<tosa::OperatorIndex>& members = members_[box];
        std::vector<std::string> lines;
        bool is_refused = false;
        for (const tosa::OperatorIndex index : members) {
            describe(index, lines);
            is_refused = is_refused || is_refused_[index];
        }
        if (lines.size() > label_lines_max) {
            const std::size_t hidden = lines.size() - label_lines_max;
            lines.resize(label_lines_max);
            lines.push_back(fmt::format("... and {} more lines", hidden));
        }
        const tosa::OperatorRow* const row = row_of(graph_.operators()[members.front()].op);
        const std::string_view color =
            is_refused ? refused_color
                       : color_of(row == nullptr ? tosa::OperatorClass::custom : row->kind);
        fmt::format_to(std::back_inserter(text_), "  box{} [fillcolor=\"{}\", label=\"{}\"];\n",
                       box, color, fmt::join(lines, "\\n"));
        for (const tosa::OperatorIndex index : members) {
            for (const tosa::TensorIndex input : graph_.operators()[index].inputs) {
                draw_edge(input, fmt::format("box{}", box));
            }
        }
    }

    void describe(tosa::OperatorIndex index, std::vector<std::string>& lines) const {
        const tosa::Operator& op = graph_.operators()[index];
        lines.push_back(fmt::format("{} {}", op.index, tosa::name_of(op.op)));
        for (const tosa::TensorIndex input : op.inputs) {
            if (is_known(input) && graph_.tensors()[input].elements > 1) {
                lines.push_back("with " + type_of(input));
            }
        }
        for (const tosa::TensorIndex output : op.outputs) {
            lines.push_back(type_of(output));
        }
    }

    // From whoever makes `tensor`. Inside one box nothing is drawn.
    void draw_edge(tosa::TensorIndex tensor, std::string_view target) {
        const tosa::TensorLife& life = analysis_.tensors[tensor];
        std::string source;
        if (life.producer != tosa::nowhere && boxes_[life.producer] != tosa::nowhere) {
            source = fmt::format("box{}", boxes_[life.producer]);
        } else if (life.slot < analysis_.input_count) {
            source = fmt::format("slot{}", life.slot);
        }
        if (!source.empty() && source != target) {
            fmt::format_to(std::back_inserter(text_), "  {} -> {};\n", source, target);
        }
    }

    const InspectReport& report_;
    const tosa::Graph& graph_;
    const tosa::Analysis& analysis_;
    std::vector<std::uint32_t> boxes_;  // of each operator; `nowhere` if it is not drawn
    std::vector<bool> is_refused_;
    std::vector<std::vector<tosa::OperatorIndex>> members_;
    std::string text_;
};

}  // namespace

std::string dot_text(std::string_view name) {
    constexpr std::size_t shown_max = 64;
    std::string text;
    for (const char character : name.substr(0, shown_max)) {
        if (character == '"' || character == '\\') {
            text += '\\';
            text += character;
        } else if (character == '&') {
            text += "&amp;";  // or the label would be read as HTML's entities are
        } else {
            text += character < ' ' || character > '~' ? '?' : character;
        }
    }
    return name.size() > shown_max ? text + "..." : text;
}

std::string picture_of(const InspectReport& report) {
    return Picture{report}.draw();
}

}  // namespace virtaccel::cli
