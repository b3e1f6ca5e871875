#pragma once
// The step behind most elementwise operators: a function of one element of each input, over shapes
// that broadcast. The one thing to know: only the loop over a row is compiled for each function,
// and a function of floats is for the narrower floating-point types too: the step widens a block of
// elements at a time, runs the same loop, and rounds what comes out once.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// As a type of an input: it has one element, whatever the shape of the others.
template <class T>
struct OneElement {
    using Type = T;
};

// The type of an input's elements.
template <class T>
struct ElementIn {
    using Type = T;
    static constexpr bool is_one = false;
};

template <class T>
struct ElementIn<OneElement<T>> {
    using Type = T;
    static constexpr bool is_one = true;
};

// How much a function may hold.
inline constexpr std::size_t function_bytes_max = 16;

// Writes `count` elements to `output`, which is where an input is or nowhere near it. `function`
// holds one of the loop's own type.
using RowLoop = void (*)(const std::byte* function, const std::byte* const* inputs,
                         std::byte* output, std::uint64_t count);

// Bit k of `moves` says whether operand k walks along the row or stands still.
template <std::size_t moves, class Function, class Out, class... In>
void run_row(const std::byte* function_bytes, const std::byte* const* inputs, std::byte* output,
             std::uint64_t count) {
    [&]<std::size_t... k>(std::index_sequence<k...> /*which*/) {
        const Function function = *reinterpret_cast<const Function*>(function_bytes);
        const std::tuple<const In*...> from{reinterpret_cast<const In*>(inputs[k])...};
        const std::tuple<In...> still{*std::get<k>(from)...};
        auto* const to = reinterpret_cast<Out*>(output);
        for (std::uint64_t i = 0; i < count; ++i) {
            to[i] = static_cast<Out>(
                function(((moves >> k) & 1U) != 0 ? std::get<k>(from)[i] : std::get<k>(still)...));
        }
    }(std::index_sequence_for<In...>{});
}

// The inputs that have one element, as bits.
template <class... In>
[[nodiscard]] constexpr std::size_t inputs_of_one() {
    std::size_t bits = 0;
    std::size_t k = 0;
    ((bits |= std::size_t{ElementIn<In>::is_one ? 1U : 0U} << k++), ...);
    return bits;
}

// Null where the only element of an input would move, or where nothing does: a row of one element
// may as well move.
template <std::size_t moves, class Function, class Out, class... In>
[[nodiscard]] constexpr RowLoop row_loop() {
    if constexpr (moves == 0 || (moves & inputs_of_one<In...>()) != 0) {
        return nullptr;
    } else {
        return &run_row<moves, Function, Out, typename ElementIn<In>::Type...>;
    }
}

// A function and its loops, by the operands that move.
template <std::size_t operands>
struct ElementwiseKernel {
    // What the loops take a tensor for.
    struct Operand {
        std::uint32_t bytes = 0;  // of an element
        bool is_float = false;
        bool is_of_output_type = false;
        bool is_one = false;
    };

    alignas(std::uint64_t) std::array<std::byte, function_bytes_max> function{};
    std::array<RowLoop, std::size_t{1} << operands> rows{};
    std::array<Operand, operands> inputs{};
    Operand output;
};

template <class Out, class... In, class Function>
[[nodiscard]] ElementwiseKernel<sizeof...(In)> elementwise_kernel(const Function& function) {
    static_assert(std::is_trivially_copyable_v<Function> && sizeof(Function) <= function_bytes_max);
    using Kernel = ElementwiseKernel<sizeof...(In)>;
    const auto operand = []<class T>(std::type_identity<T> /*type*/) {
        using Type = typename ElementIn<T>::Type;
        return typename Kernel::Operand{.bytes = sizeof(Type),
                                        .is_float = std::is_same_v<Type, float>,
                                        .is_of_output_type = std::is_same_v<Type, Out>,
                                        .is_one = ElementIn<T>::is_one};
    };
    Kernel kernel;
    std::memcpy(kernel.function.data(), &function, sizeof(Function));
    kernel.rows = []<std::size_t... moves>(std::index_sequence<moves...> /*which*/) {
        return std::array<RowLoop, sizeof...(moves)>{row_loop<moves, Function, Out, In...>()...};
    }(std::make_index_sequence<std::size_t{1} << sizeof...(In)>{});
    kernel.inputs = {operand(std::type_identity<In>{})...};
    kernel.output = operand(std::type_identity<Out>{});
    return kernel;
}

// Emits the step for an operator's first inputs, in place if it can be. For one to three of them.
template <std::size_t operands>
void emit_kernel(Lowering& lowering, const tosa::Operator& op,
                 const ElementwiseKernel<operands>& kernel);

// Emits the step for an operator whose first inputs are In: an element of Out of one of each. Where
// the loop has float, the tensor may be of any floating-point type.
template <class Out, class... In, class Function>
void emit_elementwise(Lowering& lowering, const tosa::Operator& op, const Function& function) {
    emit_kernel(lowering, op, elementwise_kernel<Out, In...>(function));
}

}  // namespace ops

}  // namespace virtaccel::backends::cpu
