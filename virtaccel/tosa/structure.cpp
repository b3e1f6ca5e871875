#include "virtaccel/tosa/structure.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include <flatbuffers/base.h>
#include <flatbuffers/buffer.h>
#include <flatbuffers/string.h>
#include <flatbuffers/table.h>
#include <flatbuffers/vector.h>
#include <flatbuffers/verifier.h>
#include <tosa_generated.h>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::tosa {
namespace {

namespace fb = ::tosa;

// Shapes and constants are read where they lie, as the flatbuffer's little-endian numbers.
static_assert(std::endian::native == std::endian::little);

constexpr std::size_t alignment = 8;
constexpr std::size_t file_bytes_min = 8;  // the root's offset and the identifier

template <class T>
using Tables = flatbuffers::Vector<flatbuffers::Offset<T>>;
using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

// Follows the schema from the root. Each check() of a table begins it and ends it, so that the
// verifier knows the depth; a refusal ends the walk, and with it the need to.
class StructureCheck {
  public:
    StructureCheck(std::span<const std::byte> bytes, const Limits& limits)
        : data_(reinterpret_cast<const std::uint8_t*>(bytes.data())),
          limits_(limits),
          verifier_(data_, bytes.size(), options(limits)) {}

    Checked<Structure> run() {
        if (!flatbuffers::BufferHasIdentifier(data_, fb::TosaGraphIdentifier())) {
            return refuse(Status::invalid_argument,
                          "The file is no TOSA flatbuffer: bytes 4 to 7 must be \"TOSA\".");
        }
        const flatbuffers::uoffset_t root = verifier_.VerifyOffset(std::size_t{0});
        if (root == 0) {
            return malformed("root");
        }
        const auto* graph = reinterpret_cast<const fb::TosaGraph*>(data_ + root);
        VIRTACCEL_TRY(check(*graph));
        return Structure{.graph = graph, .counts = counts_};
    }

  private:
    static flatbuffers::Verifier::Options options(const Limits& limits) {
        flatbuffers::Verifier::Options options;
        options.max_depth = limits.depth_max;
        options.max_tables = limits.tables_max;
        options.check_nested_flatbuffers = false;
        return options;
    }

    static std::unexpected<Refusal> malformed(std::string_view what) {
        return refuse(Status::invalid_argument, "The file is malformed or cut short: its ", what,
                      " does not lie inside it.");
    }

    static std::unexpected<Refusal> malformed(std::string_view what, std::uint32_t index) {
        return refuse(Status::invalid_argument, "The file is malformed or cut short: ", what, " ",
                      index, " does not lie inside it.");
    }

    static Checked<void> within(std::string_view what, std::uint64_t count, std::uint64_t most) {
        if (count <= most) {
            return {};
        }
        return refuse(Status::resource_limit, "The model has (", count, ") ", what, "; at most ",
                      most, " are taken.");
    }

    // Counts tables as often as they are met, before they are.
    Checked<void> charge_tables(std::uint64_t tables) {
        tables_ += tables;
        return within("flatbuffer tables", tables_, limits_.tables_max);
    }

    // The vector of a field, checked but for its elements; null is an empty one.
    template <class Vector>
    bool vector_fits(const flatbuffers::Table& table, flatbuffers::voffset_t field,
                     const Vector*& vector) {
        if (!table.VerifyOffset(verifier_, field)) {
            return false;
        }
        vector = table.GetPointer<const Vector*>(field);
        return verifier_.VerifyVector(vector);
    }

    template <class Vector>
    static std::uint32_t size_of(const Vector* vector) {
        return vector == nullptr ? 0 : vector->size();
    }

    Checked<void> check(const fb::TosaGraph& graph) {
        const auto& table = reinterpret_cast<const flatbuffers::Table&>(graph);
        const Tables<fb::TosaRegion>* regions = nullptr;
        VIRTACCEL_TRY(charge_tables(5));
        if (!table.VerifyTableStart(verifier_) ||
            !table.VerifyOffsetRequired(verifier_, fb::TosaGraph::VT_VERSION) ||
            !verifier_.VerifyTable(graph.version()) ||
            !table.VerifyOffset(verifier_, fb::TosaGraph::VT_SOFTWARE_VERSION) ||
            !verifier_.VerifyTable(graph.software_version()) ||
            !table.VerifyOffset(verifier_, fb::TosaGraph::VT_COMPATIBILITY) ||
            !verifier_.VerifyTable(graph.compatibility()) ||
            !vector_fits(table, fb::TosaGraph::VT_REGIONS, regions)) {
            return malformed("graph");
        }
        VIRTACCEL_TRY(within("regions", size_of(regions), limits_.blocks_max));
        VIRTACCEL_TRY(charge_tables(size_of(regions)));
        for (std::uint32_t i = 0; i < size_of(regions); ++i) {
            VIRTACCEL_TRY(check(*regions->Get(i), i));
        }
        verifier_.EndTable();
        return {};
    }

    Checked<void> check(const fb::TosaRegion& region, std::uint32_t index) {
        const auto& table = reinterpret_cast<const flatbuffers::Table&>(region);
        const Tables<fb::TosaBasicBlock>* blocks = nullptr;
        if (!table.VerifyTableStart(verifier_) ||
            !table.VerifyOffset(verifier_, fb::TosaRegion::VT_NAME) ||
            !verifier_.VerifyString(region.name()) ||
            !vector_fits(table, fb::TosaRegion::VT_BLOCKS, blocks)) {
            return malformed("region", index);
        }
        VIRTACCEL_TRY(
            within("blocks", std::uint64_t{counts_.blocks} + size_of(blocks), limits_.blocks_max));
        VIRTACCEL_TRY(charge_tables(size_of(blocks)));
        for (std::uint32_t i = 0; i < size_of(blocks); ++i) {
            VIRTACCEL_TRY(check(*blocks->Get(i), counts_.blocks++));
        }
        verifier_.EndTable();
        return {};
    }

    Checked<void> check(const fb::TosaBasicBlock& block, std::uint32_t index) {
        const auto& table = reinterpret_cast<const flatbuffers::Table&>(block);
        const Tables<fb::TosaOperator>* operators = nullptr;
        const Tables<fb::TosaTensor>* tensors = nullptr;
        const Tables<fb::TosaShape>* shapes = nullptr;
        if (!table.VerifyTableStart(verifier_) ||
            !table.VerifyOffset(verifier_, fb::TosaBasicBlock::VT_NAME) ||
            !verifier_.VerifyString(block.name()) ||
            !vector_fits(table, fb::TosaBasicBlock::VT_OPERATORS, operators) ||
            !vector_fits(table, fb::TosaBasicBlock::VT_TENSORS, tensors) ||
            !vector_fits(table, fb::TosaBasicBlock::VT_SHAPES, shapes)) {
            return malformed("block", index);
        }
        VIRTACCEL_TRY(check_tensors(tensors, shapes));
        VIRTACCEL_TRY(check_slots(table, index));
        VIRTACCEL_TRY(within("operators", std::uint64_t{counts_.operators} + size_of(operators),
                             limits_.operators_max));
        VIRTACCEL_TRY(charge_tables(std::uint64_t{3} * size_of(operators)));
        for (std::uint32_t i = 0; i < size_of(operators); ++i) {
            VIRTACCEL_TRY(check(*operators->Get(i), i));
        }
        counts_.operators += size_of(operators);
        verifier_.EndTable();
        return {};
    }

    // Tensors and shapes hold no list of tables or names, so the generated walk is safe for them.
    Checked<void> check_tensors(const Tables<fb::TosaTensor>* tensors,
                                const Tables<fb::TosaShape>* shapes) {
        const std::uint64_t count = std::uint64_t{size_of(tensors)} + size_of(shapes);
        VIRTACCEL_TRY(within("tensors and shapes", counts_.tensors + count, limits_.tensors_max));
        VIRTACCEL_TRY(charge_tables(count));
        for (std::uint32_t i = 0; i < size_of(tensors); ++i) {
            if (!tensors->Get(i)->Verify(verifier_)) {
                return malformed("tensor", i);
            }
        }
        for (std::uint32_t i = 0; i < size_of(shapes); ++i) {
            if (!shapes->Get(i)->Verify(verifier_)) {
                return malformed("shape", i);
            }
        }
        counts_.tensors += static_cast<std::uint32_t>(count);
        return {};
    }

    Checked<void> check_slots(const flatbuffers::Table& block, std::uint32_t index) {
        const Strings* inputs = nullptr;
        const Strings* outputs = nullptr;
        if (!vector_fits(block, fb::TosaBasicBlock::VT_INPUTS, inputs) ||
            !vector_fits(block, fb::TosaBasicBlock::VT_OUTPUTS, outputs)) {
            return malformed("block", index);
        }
        VIRTACCEL_TRY(within("inputs and outputs",
                             std::uint64_t{size_of(inputs)} + size_of(outputs), limits_.slots_max));
        return check_names(inputs, outputs, "block", index);
    }

    Checked<void> check_names(const Strings* inputs, const Strings* outputs, std::string_view what,
                              std::uint32_t index) {
        const std::uint64_t count = std::uint64_t{size_of(inputs)} + size_of(outputs);
        VIRTACCEL_TRY(within("operands", counts_.operands + count, limits_.operands_total_max));
        if (!verifier_.VerifyVectorOfStrings(inputs) || !verifier_.VerifyVectorOfStrings(outputs)) {
            return malformed(what, index);
        }
        counts_.operands += static_cast<std::uint32_t>(count);
        return {};
    }

    // An attribute has nothing that repeats but numbers, so it too is left to the generated walk.
    Checked<void> check(const fb::TosaOperator& op, std::uint32_t index) {
        using Field = fb::TosaOperator;
        const auto& table = reinterpret_cast<const flatbuffers::Table&>(op);
        const Strings* inputs = nullptr;
        const Strings* outputs = nullptr;
        if (!table.VerifyTableStart(verifier_) ||
            !table.VerifyField<std::uint32_t>(verifier_, Field::VT_OP, sizeof(std::uint32_t)) ||
            !table.VerifyField<std::uint8_t>(verifier_, Field::VT_ATTRIBUTE_TYPE, 1) ||
            !table.VerifyOffset(verifier_, Field::VT_ATTRIBUTE) ||
            !fb::VerifyAttribute(verifier_, op.attribute(), op.attribute_type()) ||
            !table.VerifyOffset(verifier_, Field::VT_LOCATION) ||
            !verifier_.VerifyTable(op.location()) ||
            !vector_fits(table, Field::VT_INPUTS, inputs) ||
            !vector_fits(table, Field::VT_OUTPUTS, outputs)) {
            return malformed("operator", index);
        }
        VIRTACCEL_TRY(within("inputs at one operator", size_of(inputs), limits_.operands_max));
        VIRTACCEL_TRY(within("outputs at one operator", size_of(outputs), limits_.operands_max));
        VIRTACCEL_TRY(check_names(inputs, outputs, "operator", index));
        verifier_.EndTable();
        return {};
    }

    const std::uint8_t* data_;
    const Limits& limits_;
    flatbuffers::Verifier verifier_;
    std::uint64_t tables_ = 0;
    Counts counts_;
};

}  // namespace

Checked<Structure> check_structure(std::span<const std::byte> bytes, const Limits& limits) {
    if (bytes.size() > limits.bytes_max || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
        return refuse(Status::resource_limit, "The model has (", bytes.size(), ") bytes; at most ",
                      limits.bytes_max, " are taken.");
    }
    if (bytes.size() < file_bytes_min) {
        return refuse(Status::invalid_argument, "The file has (", bytes.size(),
                      ") bytes, which is too few for a TOSA flatbuffer.");
    }
    if (bytes.size() % sizeof(flatbuffers::uoffset_t) != 0) {
        // A flatbuffer is filled up to its words, and a cut in that filling shows in nothing else.
        return refuse(Status::invalid_argument, "The file has (", bytes.size(),
                      ") bytes, which is no multiple of 4: it is cut short or not a flatbuffer.");
    }
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment != 0) {
        return refuse(Status::internal_error,
                      "The model's bytes do not begin at a multiple of 8; copy them to one.");
    }
    return StructureCheck{bytes, limits}.run();
}

}  // namespace virtaccel::tosa
