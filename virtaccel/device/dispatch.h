#pragma once
// From a checked header to its handler and back to a response. The jump table is made from the
// command table, so that a row without a handler does not compile.

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

struct Core;

// True if `Host` has a handler for the command.
template <class Host, Opcode op>
concept Handles = requires(Host& host, const Call<op>& call) {
    { on(host, call) } -> std::same_as<Answer>;
};

// True if `Host` has a handler for every row of the command table.
template <class Host>
inline constexpr bool handles_every_command = [] {
    return []<std::size_t... row>(std::index_sequence<row...>) {
        return (Handles<Host, std::tuple_element_t<
                                  row, std::remove_const_t<decltype(wire::commands)>>::opcode> &&
                ...);
    }(std::make_index_sequence<wire::command_count>{});
}();

// Answers a frame that failed with 16 bytes.
[[nodiscard]] Served refuse(const Frame& frame, Status status);

// Answers a LOAD_PROGRAM whose answer was deferred.
[[nodiscard]] Served respond_late(Core& core, const Frame& frame, Answer answer,
                                  const wire::Object<ProgramKind>& reply);

}  // namespace virtaccel::device
