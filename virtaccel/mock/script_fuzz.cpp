// Any text as a fault script: it is refused with a sentence, or it is a script that, printed, is
// read as itself again, and of which every entry happens once.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/script.h"

namespace {

namespace mock = virtaccel::mock;

using mock::Script;

void check_refusal(const mock::ScriptRefusal& refusal, std::string_view text) {
    std::array<char, mock::script_refusal_bytes_max> room{};
    const auto sentence = mock::explain(refusal, room);
    VIRTACCEL_CHECK(sentence.size() > 1 && sentence.size() < room.size());
    VIRTACCEL_CHECK(sentence.ends_with('.'));
    VIRTACCEL_CHECK(refusal.line >= 1);
    VIRTACCEL_CHECK(refusal.word.empty() || text.find(refusal.word) != std::string_view::npos);
}

void check_again(const Script& script) {
    std::array<char, mock::script_text_bytes_max> room{};
    const auto printed = script.print(room);
    const auto again = Script::parse(printed);
    VIRTACCEL_CHECK(again && again->left() == script.left());
    std::array<char, mock::script_text_bytes_max> other_room{};
    VIRTACCEL_CHECK(again->print(other_room) == printed);
}

// Makes every call as often as an entry can wait for, within reason.
void run_out(Script script) {
    std::size_t before = script.left();
    for (std::size_t call = 0; call < mock::call_count; ++call) {
        for (int i = 0; i < 4; ++i) {
            const auto fault = script.take(static_cast<mock::Call>(call));
            VIRTACCEL_CHECK(script.left() == before - (fault ? 1U : 0U));
            before = script.left();
            if (fault) {
                VIRTACCEL_CHECK(fault->call == static_cast<mock::Call>(call));
                VIRTACCEL_CHECK(fault->occurrence == script.calls(fault->call));
                VIRTACCEL_CHECK(fault->status != virtaccel::Status::ok);
                VIRTACCEL_CHECK(mock::row_of(fault->call).actions.has_any(fault->action));
            }
        }
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const std::string_view text{reinterpret_cast<const char*>(data), bytes};
    const auto script = Script::parse(text);
    if (!script) {
        check_refusal(script.error(), text);
        return 0;
    }
    VIRTACCEL_CHECK(script->left() <= mock::script_entries_max);
    check_again(*script);
    run_out(*script);
    return 0;
}
