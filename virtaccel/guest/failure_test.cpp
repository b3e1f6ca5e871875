#include "virtaccel/guest/failure.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/guest/resident_bytes.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest {
namespace {

constexpr auto causes = static_cast<int>(Cause::parts) + 1;
constexpr auto kinds = static_cast<int>(FailureKind::recovery_required) + 1;

std::string described(const Failure& failure) {
    std::array<char, description_bytes_max> room{};
    return std::string{describe(failure, room)};
}

TEST(Failure, is_told_in_full_sentences) {
    EXPECT_EQ(described({.status = Status::resource_limit,
                         .opcode = wire::Opcode::allocate_buffer,
                         .kind = FailureKind::retryable,
                         .cause = Cause::answer}),
              "The device refuses the command (ALLOCATE_BUFFER) with the status (RESOURCE_LIMIT). "
              "A frame, binding, object or quota limit is exceeded. Nothing was lost: correct the "
              "request, or try again later.");
}

TEST(Failure, names_an_unknown_status_by_its_number) {
    const auto text = described({.status = static_cast<Status>(4711),
                                 .opcode = wire::Opcode::submit,
                                 .kind = FailureKind::unknown_status,
                                 .cause = Cause::answer});
    EXPECT_NE(text.find("(SUBMIT) with the status (4711)."), std::string::npos) << text;
}

TEST(Failure, of_every_cause_and_kind_has_its_own_text_that_fits) {
    std::set<std::string> texts;
    for (int cause = 0; cause < causes; ++cause) {
        for (int kind = 0; kind < kinds; ++kind) {
            const auto text = described({.status = Status::invalid_argument,
                                         .opcode = wire::Opcode::get_device_info,
                                         .kind = static_cast<FailureKind>(kind),
                                         .cause = static_cast<Cause>(cause)});
            EXPECT_TRUE(text.ends_with('.')) << text;
            EXPECT_LT(text.size(), description_bytes_max) << text;
            texts.insert(text);
        }
    }
    // Parts are one sentence, whatever holds afterwards.
    EXPECT_EQ(texts.size(), static_cast<std::size_t>(((causes - 1) * kinds) + 1));
}

TEST(Failure, of_a_device_that_joins_no_parts_is_one_sentence) {
    EXPECT_EQ(described({.status = Status::unsupported,
                         .opcode = wire::Opcode::load_program,
                         .kind = FailureKind::retryable,
                         .cause = Cause::parts}),
              "The artifact is larger than one frame, and the device does not join parts "
              "(LOAD_PROGRAM of the first one answers UNSUPPORTED): choose a smaller artifact, or "
              "a device that follows spec/parts.md.");
}

TEST(Failure, is_cut_off_where_the_room_ends) {
    std::array<char, 10> room{};
    EXPECT_EQ(describe({}, room), "The reques");
    EXPECT_EQ(describe({}, {}), "");
}

TEST(ResidentBytes, grow_with_the_artifact_and_never_wrap) {
    EXPECT_EQ(resident_bytes_for(0), std::uint64_t{64} << 20U);
    EXPECT_EQ(resident_bytes_for(1000), (std::uint64_t{64} << 20U) + 8000);
    EXPECT_EQ(resident_bytes_for(~std::uint64_t{0}), ~std::uint64_t{0});
    EXPECT_EQ(resident_bytes_for(std::uint64_t{1} << 61U), ~std::uint64_t{0});
}

}  // namespace
}  // namespace virtaccel::guest
