#include "virtaccel/mock/script.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/status.h"

namespace virtaccel::mock {

namespace {

std::string print(const Script& script) {
    std::array<char, script_text_bytes_max> room{};
    return std::string{script.print(room)};
}

// The sentence about what is wrong with `text`, or what was read of it.
std::string sentence(std::string_view text) {
    const auto script = Script::parse(text);
    if (script) {
        return print(*script);
    }
    std::array<char, script_refusal_bytes_max> room{};
    return std::string{explain(script.error(), room)};
}

// Every entry that there is, for the first call of each kind.
template <class Visit>
void each_fault(Visit visit) {
    for (const CallRow& row : call_rows) {
        for (const ActionRow& action : action_rows) {
            for (const StatusRow& status : status_rows) {
                if (row.actions.has(action.action) && status.status != Status::ok) {
                    visit(Fault{.call = row.call,
                                .occurrence = ~std::uint64_t{0},
                                .action = action.action,
                                .status = status.status});
                }
            }
        }
    }
}

TEST(Script, has_a_row_for_every_call_in_their_order) {
    for (std::size_t i = 0; i < call_count; ++i) {
        EXPECT_EQ(static_cast<std::size_t>(call_rows[i].call), i);
        EXPECT_EQ(row_of(call_rows[i].call).name, call_rows[i].name);
    }
}

TEST(Script, reads_what_it_prints) {
    std::size_t faults = 0;
    each_fault([&](const Fault& fault) {
        Script script;
        ASSERT_TRUE(script.add(fault));
        const std::string text = print(script);
        const auto again = Script::parse(text);
        ASSERT_TRUE(again) << text;
        EXPECT_EQ(print(*again), text);
        EXPECT_LE(text.size(), script_line_bytes_max);
        ++faults;
    });
    EXPECT_EQ(faults, 12U * 31U);
}

TEST(Script, prints_one_line_an_entry) {
    Script script;
    ASSERT_TRUE(script.add({.call = Call::submit,
                            .occurrence = 2,
                            .action = Action::indeterminate,
                            .status = Status::device_lost}));
    ASSERT_TRUE(script.add({.call = Call::allocate,
                            .occurrence = 1,
                            .action = Action::error_after,
                            .status = Status::out_of_memory}));
    EXPECT_EQ(print(script),
              "submit 2 indeterminate DEVICE_LOST\nallocate 1 error_after OUT_OF_MEMORY\n");
}

TEST(Script, passes_over_comments_and_blanks) {
    EXPECT_EQ(sentence("# the first\n\n \t submit\t1   event_fails BUSY # or so\r\n#"),
              "submit 1 event_fails BUSY\n");
    EXPECT_EQ(sentence(""), "");
    EXPECT_EQ(sentence("poll 18446744073709551615 error_before BUSY"),
              "poll 18446744073709551615 error_before BUSY\n");
}

TEST(Script, says_in_a_sentence_what_is_wrong_with_a_line) {
    EXPECT_EQ(sentence("\nsubmit 1 rejected"),
              "The line (2) of the fault script that begins with (submit) is not four words: write "
              "a call, its occurrence, an action and a status.");
    EXPECT_EQ(sentence("submit 1 rejected BUSY now"), sentence("submit 1 rejected"));
    EXPECT_EQ(sentence("sumbit 1 rejected BUSY"),
              "The line (1) of the fault script names a call (sumbit) that can do nothing wrong: "
              "write one of create_context, destroy_context, allocate, free, write, read, prepare, "
              "load, unload, create_queue, destroy_queue, submit, poll, cancel, destroy_event.");
    EXPECT_EQ(sentence("submit 0 rejected BUSY"),
              "The line (1) of the fault script has the occurrence (0) of the call (submit): they "
              "are counted from 1, write that for the first.");
    EXPECT_EQ(sentence("submit 1 lost BUSY"),
              "The line (1) of the fault script names an action (lost) that there is not: write "
              "one that the call (submit) has, which are error_after, rejected, indeterminate, "
              "event_fails.");
    EXPECT_EQ(sentence("cancel 1 rejected BUSY"),
              "The line (1) of the fault script names an action (rejected) that the call (cancel) "
              "does not have: write one of its own, which are error_before.");
    EXPECT_EQ(sentence("submit 1 rejected GONE"),
              "The line (1) of the fault script names a status (GONE) that there is not: write one "
              "of UNSUPPORTED, INCOMPATIBLE, INVALID_ARGUMENT, OUT_OF_BOUNDS, BUSY, OUT_OF_MEMORY, "
              "RESOURCE_LIMIT, DEADLINE_EXPIRED, DEVICE_LOST, PERMISSION_DENIED, STALE_OBJECT, "
              "INTERNAL_ERROR.");
    EXPECT_EQ(sentence("submit 1 rejected OK"),
              "The line (1) of the fault script lets the call (submit) go wrong with (OK), which "
              "is success: write the status of a failure.");
    EXPECT_EQ(sentence("poll 3 error_before BUSY\npoll 3 error_after BUSY"),
              "The line (2) of the fault script is about an occurrence of the call (poll) that an "
              "earlier one is about: give each occurrence one action.");
    EXPECT_NE(sentence("abandon 1 error_before BUSY").find("a call (abandon)"), std::string::npos);
}

TEST(Script, takes_only_a_number_for_an_occurrence) {
    for (const auto* const word : {"first", "-1", "+1", "1st", "0x1", "18446744073709551616"}) {
        EXPECT_EQ(sentence(std::string{"submit "} + word + " rejected BUSY"),
                  std::string{"The line (1) of the fault script has an occurrence ("} + word +
                      ") of the call (submit) that is no number: write 1 for the first.");
    }
}

TEST(Script, holds_so_many_entries_and_no_more) {
    Script script;
    Fault fault{.call = Call::poll};
    for (fault.occurrence = 1; fault.occurrence <= script_entries_max; ++fault.occurrence) {
        ASSERT_TRUE(script.add(fault));
    }
    const auto added = script.add(fault);
    ASSERT_FALSE(added);
    std::array<char, script_refusal_bytes_max> room{};
    EXPECT_EQ(explain(added.error(), room),
              "An entry of the fault script is one more than the (64) that a script can hold: "
              "leave some out.");
    EXPECT_EQ(script.left(), script_entries_max);
    EXPECT_EQ(sentence(print(script)), print(script));
}

TEST(Script, refuses_a_status_that_the_protocol_does_not_know) {
    Script script;
    const auto added = script.add({.call = Call::poll, .status = Status{77}});
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().flaw, ScriptFlaw::unknown_status);
    EXPECT_EQ(script.left(), 0U);
}

TEST(Script, cuts_its_sentences_off_where_the_room_ends) {
    std::array<char, 8> room{};
    EXPECT_EQ(explain({.flaw = ScriptFlaw::too_many}, room), "An entry");
    EXPECT_EQ(explain({.flaw = ScriptFlaw::too_many}, {}), "");
}

TEST(Script, repeats_no_more_of_a_long_word_than_its_sentences_have_room_for) {
    const std::string word(4000, 'x');
    for (const std::string& text :
         {word, word + " 1 rejected BUSY", "poll " + word + " rejected BUSY",
          "poll 1 " + word + " BUSY", "poll 1 error_after " + word}) {
        const std::string said = sentence(text);
        EXPECT_LT(said.size(), script_refusal_bytes_max) << said;
        EXPECT_TRUE(said.ends_with('.')) << said;
        EXPECT_NE(said.find("(" + std::string(48, 'x') + "...)"), std::string::npos) << said;
    }
}

TEST(Script, happens_once_at_the_occurrence_it_names) {
    auto script = *Script::parse("poll 2 error_after BUSY\nfree 1 rejected BUSY");
    EXPECT_FALSE(script.take(Call::poll));
    const auto fault = script.take(Call::poll);
    EXPECT_EQ(fault, (Fault{.call = Call::poll,
                            .occurrence = 2,
                            .action = Action::error_after,
                            .status = Status::busy}));
    EXPECT_FALSE(script.take(Call::poll));
    EXPECT_EQ(script.calls(Call::poll), 3U);
    EXPECT_EQ(print(script), "free 1 rejected BUSY\n");
}

TEST(Script, lets_the_next_call_fail_in_place_of_what_it_was_to_do) {
    auto script = *Script::parse("submit 1 event_fails BUSY\npoll 1 error_before BUSY");
    script.fail_next(Call::submit, {.status = Status::device_lost,
                                    .certainty = backend::Certainty::indeterminate});
    script.fail_next(Call::free, {.status = Status::busy});
    script.fail_next(Call::read, {.status = Status::out_of_memory});
    EXPECT_EQ(print(script),
              "poll 1 error_before BUSY\nsubmit 1 indeterminate DEVICE_LOST\nfree 1 rejected BUSY\n"
              "read 1 error_before OUT_OF_MEMORY\n");
}

TEST(Script, leaves_what_only_happens_before_a_call_out_of_its_text) {
    Script script;
    int happened = 0;
    script.fail_next(Call::poll, {.status = Status::ok, .state = &happened, .before = [](void* it) {
                                      ++*static_cast<int*>(it);
                                  }});
    EXPECT_EQ(print(script), "");
    EXPECT_EQ(script.left(), 1U);
    EXPECT_EQ(script.take(Call::poll), std::nullopt);
    EXPECT_EQ(happened, 1);
    EXPECT_EQ(script.left(), 0U);
}

}  // namespace

}  // namespace virtaccel::mock
