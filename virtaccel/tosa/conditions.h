#pragma once
// What a valid graph still demands of the data it is run on. The one thing to know: an ERROR_IF
// that needs data comes only from operands that TOSA wants constant and the DYNAMIC extension lets
// arrive at run time, and must then be checked (dynamic_operands.h); a REQUIRE is the caller's
// duty: breaking it makes results undefined, never the program.

#include <cstdint>
#include <string_view>
#include <vector>

#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::tosa {

enum class Demand : std::uint8_t {
    operand_values,    // ERROR_IF: the operand's values fit the operator and its declared output
    index_range,       // the rest are REQUIRE: GATHER, SCATTER
    distinct_indices,  // SCATTER
    shift_range,       // shifts
    divisor,           // INTDIV
    table_slope,       // TABLE of INT16
    no_overflow,       // integer sums, products and accumulators
    value_range,       // RESCALE
    power_domain,      // POW
};

// Whether the demand is an ERROR_IF, which has to be checked; else it is a REQUIRE.
[[nodiscard]] constexpr bool is_error_if(Demand demand) {
    return demand == Demand::operand_values;
}

// Whether it is about results that leave their type, and nothing but results: a backend whose
// integers wrap need not know of it.
[[nodiscard]] constexpr bool is_arithmetic(Demand demand) {
    return demand >= Demand::table_slope;
}

// What is demanded, as a clause about the operand: "must hold indices of rows that are there".
[[nodiscard]] std::string_view describe(Demand demand);

// One demand of one live operator. `operand` is the input it is about.
struct RuntimeCondition {
    OperatorIndex op = nowhere;
    std::uint32_t operand = 0;
    Demand demand = Demand::operand_values;
    bool is_broken = false;  // by a constant of the model: it holds for no data
};

// All conditions of the live operators, in their order. Those that constants of the model fulfil
// are left out. Throws std::bad_alloc, as specialising_slots() does.
[[nodiscard]] std::vector<RuntimeCondition> conditions_of(const Graph& graph,
                                                          const Analysis& analysis);

// What must be known to compile a graph as if it had no dynamic operands.
struct Specialisation {
    std::vector<TensorIndex> operands;  // dynamic operands of live operators, ascending
    std::vector<std::uint32_t> slots;   // the input slots they are computed from, ascending
    bool is_possible = true;            // false if one depends on state or on blocks
};

[[nodiscard]] Specialisation specialisation_of(const Graph& graph, const Analysis& analysis);

}  // namespace virtaccel::tosa
