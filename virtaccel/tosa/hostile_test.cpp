// Files that somebody broke on purpose: whatever the bytes are, verify() ends soon, in bounds, with
// an answer.

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <flatbuffers/buffer.h>
#include <flatbuffers/flatbuffer_builder.h>
#include <flatbuffers/string.h>
#include <gtest/gtest.h>
#include <tosa_generated.h>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::tosa {
namespace {

// All that a backend does with a file before it lowers it. Returns the first refusal.
testing::Verdict whole_way(std::span<const std::byte> bytes) {
    const Checked<Graph> graph = verify(bytes);
    if (!graph) {
        return testing::verdict_of(graph);
    }
    const Checked<void> valid = validate_for(*graph, target_of(*graph));
    if (!valid) {
        return testing::verdict_of(valid);
    }
    return testing::verdict_of(analyze(*graph));
}

// What becomes of a file whose one block has `op` so many times.
testing::Verdict verdict_on_many(flatbuffers::FlatBufferBuilder& builder,
                                 flatbuffers::Offset<flatbuffers::String> name,
                                 flatbuffers::Offset<::tosa::TosaOperator> op, std::size_t count) {
    namespace fb = ::tosa;
    const auto operators = builder.CreateVector(std::vector(count, op));
    const auto block = fb::CreateTosaBasicBlock(builder, name, operators);
    const auto blocks = builder.CreateVector(std::vector(1, block));
    const auto region = fb::CreateTosaRegion(builder, name, blocks);
    const auto regions = builder.CreateVector(std::vector(1, region));
    builder.Finish(
        fb::CreateTosaGraph(builder, fb::CreateVersion(builder, 1, 0, 0, false), regions),
        fb::TosaGraphIdentifier());
    const auto bytes = std::as_bytes(std::span{builder.GetBufferPointer(), builder.GetSize()});
    return testing::verify_verdict(std::vector<std::byte>{bytes.begin(), bytes.end()});
}

TEST(Hostile, truncated_files_are_refused_at_every_length) {
    const std::vector<std::byte> whole = testing::small_network().finish().value();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        // A copy of its own, so that one byte too far is seen.
        const std::vector<std::byte> part(whole.begin(),
                                          whole.begin() + static_cast<std::ptrdiff_t>(size));
        const testing::Verdict verdict = whole_way(part);
        EXPECT_NE(verdict.status, Status::ok) << size;
        EXPECT_TRUE(verdict.sentence.ends_with('.')) << verdict;
    }
}

TEST(Hostile, files_with_flipped_bits_get_an_answer) {
    const std::vector<std::byte> whole = testing::small_network().finish().value();
    std::mt19937_64 random{20240501};
    std::size_t refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::byte> bytes = whole;
        const std::uint64_t flips = 1 + (random() % 3);
        for (std::uint64_t flip = 0; flip < flips; ++flip) {
            bytes[random() % bytes.size()] ^= std::byte{1} << (random() % 8);
        }
        const testing::Verdict verdict = whole_way(bytes);
        refused += verdict.status == Status::ok ? 0 : 1;
        ASSERT_LE(verdict.sentence.size(), Text::capacity);
    }
    EXPECT_GT(refused, 1000U);
}

TEST(Hostile, files_with_overwritten_words_get_an_answer) {
    const std::vector<std::byte> whole = testing::small_network().finish().value();
    constexpr std::uint32_t words[] = {0, 1, 4, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc};
    std::size_t refused = 0;
    for (std::size_t at = 0; at + 4 <= whole.size(); at += 4) {
        for (const std::uint32_t word : words) {
            std::vector<std::byte> bytes = whole;
            for (std::size_t i = 0; i < 4; ++i) {
                bytes[at + i] = static_cast<std::byte>(word >> (8 * i));
            }
            refused += whole_way(bytes).status == Status::ok ? 0 : 1;
        }
    }
    EXPECT_GT(refused, 1000U);
}

// A few megabytes in which a million operators share one list of a million names: a walk that
// follows every offset would take 10^12 steps.
TEST(Hostile, shared_lists_do_not_multiply) {
    namespace fb = ::tosa;
    constexpr std::size_t count = 60000;
    flatbuffers::FlatBufferBuilder builder;
    const auto name = builder.CreateString("n");
    const auto names = builder.CreateVector(std::vector(count, name));
    const auto attribute = fb::CreateAddAttribute(builder).Union();
    const auto op = fb::CreateTosaOperator(builder, fb::Op::ADD, fb::Attribute::AddAttribute,
                                           attribute, names, names);
    const testing::Verdict verdict = verdict_on_many(builder, name, op, count);
    EXPECT_TRUE(verdict.says(Status::resource_limit, "(60000) inputs at one operator")) << verdict;
}

TEST(Hostile, shared_operators_are_counted_as_often_as_they_are_met) {
    namespace fb = ::tosa;
    flatbuffers::FlatBufferBuilder builder;
    const auto name = builder.CreateString("n");
    const auto names = builder.CreateVector(std::vector(1000, name));
    const auto attribute = fb::CreateConcatAttribute(builder, 0).Union();
    const auto op = fb::CreateTosaOperator(builder, fb::Op::CONCAT, fb::Attribute::ConcatAttribute,
                                           attribute, names);
    const testing::Verdict verdict = verdict_on_many(builder, name, op, 60000);
    EXPECT_TRUE(verdict.says(Status::resource_limit, "operands; at most 262144")) << verdict;
}

TEST(Hostile, long_names_make_no_long_sentences) {
    FileModel model = testing::two_additions().file();
    testing::main_of(model).operators[1].inputs[0] = std::string(1000, '\n');
    const testing::Verdict verdict = testing::verify_verdict(model);
    EXPECT_EQ(verdict.status, Status::invalid_argument);
    EXPECT_LT(verdict.sentence.size(), 200U);
    EXPECT_EQ(verdict.sentence.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace virtaccel::tosa
