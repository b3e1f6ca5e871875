#include "virtaccel/backend/parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {
namespace {

using Bytes = std::vector<std::byte>;

constexpr parts::Key key{std::byte{7}};
constexpr parts::Key other_key{std::byte{8}};
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t artifact_bytes_max = 1000;

// What a guest sends of an artifact.
struct Sent {
    Bytes payload;
    TargetWords target = parts::part_target;
    std::uint64_t resident_bytes_max = largest;
};

template <class T>
Status status_of(const Result<T>& result) {
    return result ? Status::ok : result.error();
}

Sent part_of(const parts::PartHead& head, std::span<const std::byte> bytes) {
    Sent sent;
    sent.payload.resize(parts::part_head_bytes);
    parts::encode(head, std::span{sent.payload}.first<parts::part_head_bytes>());
    sent.payload.insert(sent.payload.end(), bytes.begin(), bytes.end());
    return sent;
}

Sent join_of(const parts::JoinHead& head) {
    Sent sent;
    sent.payload.resize(parts::join_head_bytes);
    parts::encode(head, std::span{sent.payload}.first<parts::join_head_bytes>());
    return sent;
}

// A store in a counted memory, one context, and an artifact of 200 bytes.
class PartsTest : public ::testing::Test {
  protected:
    static constexpr std::uint32_t format = 0x1234;

    PartsTest() {
        for (std::size_t i = 0; i < whole.size(); ++i) {
            whole.at(i) = static_cast<std::byte>((i * 7) + 1);
        }
        store.emplace(heap.memory(), heap.memory());
    }

    ~PartsTest() override {
        store.reset();
        EXPECT_EQ(heap.live_blocks(), 0U);
    }

    [[nodiscard]] Artifact artifact(const Sent& sent) {
        piece = {.data = const_cast<std::byte*>(sent.payload.data()), .size = sent.payload.size()};
        return {
            .format = parts::part_format,
            .target = sent.target,
            .resident_bytes_max = sent.resident_bytes_max,
            .payload = Reader{PieceList::of({&piece, 1}, lease)},
            .refusals = {.state = &sentences,
                         .say =
                             [](void* state, std::string_view line) {
                                 static_cast<std::vector<std::string>*>(state)->emplace_back(line);
                             }},
            .stable = {}};
    }

    Result<LoadedPart> load(const Sent& sent) {
        auto loaded = store->load(context, artifact(sent), artifact_bytes_max);
        if (loaded) {
            charges.push_back(loaded->resident_bytes);
            loaded->part->charged_bytes = &charges.back();
        }
        return loaded;
    }

    Result<LoadedPart> load(std::uint64_t offset, std::uint64_t bytes, const parts::Key& of = key) {
        return load(part_of({.key = of, .total_bytes = whole.size(), .offset = offset},
                            std::span{whole}.subspan(offset, bytes)));
    }

    // A part that is taken.
    Part& taken(std::uint64_t offset, std::uint64_t bytes, const parts::Key& of = key) {
        const auto loaded = load(offset, bytes, of);
        EXPECT_TRUE(loaded.has_value());
        return *loaded->part;
    }

    Result<Joined> join(const parts::Key& of = key) {
        return Parts::join(context, artifact(join_of({.key = of, .format = format})));
    }

    // A part is refused with a sentence, and nothing has changed.
    void expect_refused(const Sent& sent, Status status) {
        sentences.clear();
        const auto before = heap.live_bytes();
        EXPECT_EQ(status_of(load(sent)), status);
        EXPECT_EQ(heap.live_bytes(), before);
        ASSERT_EQ(sentences.size(), 1U);
        EXPECT_TRUE(sentences.front().ends_with('.'));
    }

    void expect_join_refused(const Sent& sent, Status status) {
        sentences.clear();
        EXPECT_EQ(status_of(Parts::join(context, artifact(sent))), status);
        ASSERT_EQ(sentences.size(), 1U);
        EXPECT_TRUE(sentences.front().ends_with('.'));
    }

    testing::CountingMemory heap{host::heap()};
    std::optional<Parts> store;
    PartedArtifacts context;
    std::array<std::byte, 200> whole{};
    std::deque<std::uint64_t> charges;
    std::vector<std::string> sentences;
    Lease lease;
    Piece piece;
};

TEST_F(PartsTest, make_the_artifact_in_any_order) {
    for (const auto& order :
         {std::array<std::uint64_t, 3>{0, 64, 199}, {64, 199, 0}, {199, 64, 0}}) {
        std::vector<Part*> loaded;
        for (const auto offset : order) {
            EXPECT_EQ(status_of(join()), Status::invalid_argument);
            loaded.push_back(&taken(offset, offset == 0 ? 64 : offset == 64 ? 135 : 1));
        }
        const auto joined = join();
        ASSERT_TRUE(joined.has_value());
        const auto made = Parts::artifact_of(*joined, artifact(join_of({})));
        EXPECT_EQ(made.format, format);
        EXPECT_TRUE(std::ranges::equal(made.stable, whole));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made.stable.data()) % 64, 0U);
        Reader payload = made.payload;
        Bytes read(payload.remaining());
        EXPECT_TRUE(payload.copy_to(read.data(), read.size()));
        EXPECT_TRUE(std::ranges::equal(read, whole));
        for (Part* const part : loaded) {
            store->unload(context, *part);
        }
    }
}

TEST_F(PartsTest, are_copied_once_and_reserve_one_block) {
    taken(0, 100);
    const auto granted = heap.granted();
    taken(100, 99);
    taken(199, 1);
    EXPECT_EQ(heap.granted(), granted);
    EXPECT_TRUE(join().has_value());
}

TEST_F(PartsTest, of_different_keys_and_contexts_do_not_meet) {
    taken(0, 200);
    taken(0, 100, other_key);
    EXPECT_TRUE(join().has_value());
    EXPECT_FALSE(join(other_key).has_value());
    PartedArtifacts elsewhere;
    EXPECT_EQ(status_of(Parts::join(elsewhere, artifact(join_of({.key = key, .format = format})))),
              Status::invalid_argument);
    std::swap(elsewhere, context);
    EXPECT_TRUE(load(50, 100).has_value());
    EXPECT_FALSE(join().has_value());
    std::swap(elsewhere, context);
    EXPECT_TRUE(join().has_value());
}

TEST_F(PartsTest, that_make_no_sense_are_refused) {
    const std::array<std::byte, 1> one{};
    const auto head = [](std::uint64_t total, std::uint64_t offset) {
        return parts::PartHead{.key = key, .total_bytes = total, .offset = offset};
    };
    expect_refused({}, Status::invalid_argument);
    expect_refused(part_of(head(8, 0), {}), Status::invalid_argument);
    auto sent = part_of(head(8, 0), one);
    sent.target[1] = 2;
    expect_refused(sent, Status::incompatible);
    expect_refused(part_of(head(0, 0), one), Status::invalid_argument);
    expect_refused(part_of(head(8, largest), one), Status::invalid_argument);
    expect_refused(part_of(head(artifact_bytes_max + 1, 0), one), Status::resource_limit);
    expect_refused(part_of(head(largest, 0), one), Status::resource_limit);
    expect_refused(part_of(head(8, 8), one), Status::out_of_bounds);
    expect_refused(part_of(head(8, largest - 1), one), Status::out_of_bounds);
    EXPECT_EQ(context.first, nullptr);
    EXPECT_TRUE(load(part_of(head(artifact_bytes_max, artifact_bytes_max - 1), one)).has_value());
}

TEST_F(PartsTest, that_do_not_fit_their_key_are_refused) {
    taken(64, 64);
    const auto part = [this](std::uint64_t total, std::uint64_t offset, std::uint64_t bytes) {
        return part_of({.key = key, .total_bytes = total, .offset = offset},
                       std::span{whole}.first(bytes));
    };
    expect_refused(part(201, 0, 10), Status::incompatible);
    expect_refused(part(199, 0, 10), Status::incompatible);
    expect_refused(part(200, 64, 64), Status::invalid_argument);
    expect_refused(part(200, 0, 65), Status::invalid_argument);
    expect_refused(part(200, 127, 1), Status::invalid_argument);
    expect_refused(part(200, 0, 200), Status::invalid_argument);
    taken(0, 64);
    taken(128, 72);
    EXPECT_TRUE(join().has_value());
}

TEST_F(PartsTest, may_cost_as_much_as_is_declared) {
    const auto sent_for = [this](std::uint64_t offset, std::uint64_t resident_bytes_max) {
        auto sent = part_of({.key = key, .total_bytes = 200, .offset = offset},
                            std::span{whole}.subspan(offset, 100));
        sent.resident_bytes_max = resident_bytes_max;
        return sent;
    };
    expect_refused(sent_for(0, parts::resident_bytes_of(200) - 1), Status::resource_limit);
    const auto first = load(sent_for(0, parts::resident_bytes_of(200)));
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->resident_bytes, 256U + 64);
    expect_refused(sent_for(100, parts::part_cost_bytes - 1), Status::resource_limit);
    const auto second = load(sent_for(100, parts::part_cost_bytes));
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->resident_bytes, 64U);
}

TEST_F(PartsTest, hand_on_what_they_are_charged_for) {
    Part& first = taken(0, 10);
    Part& second = taken(10, 10);
    Part& third = taken(20, 10);
    EXPECT_EQ(charges, (std::deque<std::uint64_t>{320, 64, 64}));
    store->unload(context, first);
    EXPECT_EQ(charges[0], 64U);
    EXPECT_EQ(charges[1] + charges[2], 320U + 64);
    store->unload(context, third);
    EXPECT_EQ(charges[2], 64U);
    EXPECT_EQ(charges[1], 320U);
    const auto before = heap.live_bytes();
    store->unload(context, second);
    EXPECT_EQ(charges[1], 320U) << "the last one takes it along";
    EXPECT_EQ(heap.live_bytes(), before - 256);
}

TEST_F(PartsTest, that_are_unloaded_are_missing_and_can_come_again) {
    Part& first = taken(0, 100);
    taken(100, 100);
    EXPECT_TRUE(join().has_value());
    store->unload(context, first);
    EXPECT_FALSE(join().has_value());
    taken(50, 50);
    taken(0, 50);
    EXPECT_TRUE(join().has_value());
}

TEST_F(PartsTest, stay_while_a_join_reads_them) {
    Part& part = taken(0, 200);
    const auto joined = join();
    ASSERT_TRUE(joined.has_value());
    EXPECT_FALSE(Parts::is_in_use(part));
    Parts::begin_join(*joined->artifact);
    Parts::begin_join(*joined->artifact);
    EXPECT_TRUE(Parts::is_in_use(part));
    const auto again = part_of({.key = key, .total_bytes = 200, .offset = 5}, whole);
    EXPECT_EQ(status_of(load(again)), Status::out_of_bounds);
    EXPECT_EQ(status_of(load(5, 1)), Status::invalid_argument);
    store->end_join(*joined->artifact);
    EXPECT_TRUE(Parts::is_in_use(part));
    // What a reset does: the part goes, its key is free, and the bytes stay until the join ends.
    store->unload(context, part);
    EXPECT_EQ(context.first, nullptr);
    const auto made = Parts::artifact_of(*joined, artifact(join_of({})));
    taken(0, 10);
    EXPECT_TRUE(std::ranges::equal(made.stable, whole));
    const auto before = heap.live_bytes();
    store->end_join(*joined->artifact);
    EXPECT_EQ(heap.live_bytes(), before - 256);
}

TEST_F(PartsTest, are_joined_by_payloads_that_make_sense) {
    taken(0, 200);
    auto sent = join_of({.key = key, .format = format});
    sent.payload.pop_back();
    expect_join_refused(sent, Status::invalid_argument);
    sent.payload.resize(parts::join_head_bytes + 1);
    expect_join_refused(sent, Status::invalid_argument);
    expect_join_refused(join_of({.key = key, .format = 0}), Status::invalid_argument);
    expect_join_refused(join_of({.key = key, .format = format, .reserved = 1}),
                        Status::invalid_argument);
    expect_join_refused(join_of({.key = key, .format = parts::part_format}), Status::unsupported);
    expect_join_refused(join_of({.key = key, .format = parts::join_format}), Status::unsupported);
    expect_join_refused(join_of({.key = other_key, .format = format}), Status::invalid_argument);
}

TEST_F(PartsTest, whose_bytes_were_revoked_leave_nothing) {
    const std::uint32_t epoch = 1;
    lease = {.live = &epoch, .epoch = 0};
    EXPECT_EQ(status_of(load(0, 200)), Status::internal_error);
    EXPECT_EQ(status_of(join()), Status::internal_error);
    EXPECT_EQ(context.first, nullptr);
    lease = {};
    taken(0, 100);
    lease = {.live = &epoch, .epoch = 0};
    EXPECT_EQ(status_of(load(100, 100)), Status::internal_error);
    lease = {};
    EXPECT_FALSE(join().has_value());
    taken(100, 100);
    EXPECT_TRUE(join().has_value());
}

// A memory that ends a lease while it allocates, as a reset on another thread may.
struct Revoking {
    Memory inner;
    std::uint32_t epoch = 0;

    Memory memory() {
        return {.state = this,
                .allocate =
                    [](void* state, std::size_t bytes, std::size_t alignment) {
                        auto& self = *static_cast<Revoking*>(state);
                        ++self.epoch;
                        return self.inner.allocate(self.inner.state, bytes, alignment);
                    },
                .release =
                    [](void* state, void* block, std::size_t bytes, std::size_t alignment) {
                        const Memory& heap = static_cast<Revoking*>(state)->inner;
                        heap.release(heap.state, block, bytes, alignment);
                    }};
    }
};

TEST_F(PartsTest, whose_bytes_are_revoked_while_they_are_copied_leave_nothing) {
    Revoking revoking{.inner = heap.memory()};
    store.emplace(heap.memory(), revoking.memory());
    taken(0, 200, other_key);
    lease = {.live = &revoking.epoch, .epoch = revoking.epoch};
    EXPECT_EQ(status_of(load(0, 200)), Status::internal_error);
    lease = {};
    EXPECT_FALSE(join().has_value());
    EXPECT_TRUE(join(other_key).has_value());
    taken(0, 200);
    EXPECT_TRUE(join().has_value());
    store.reset();  // before its memory goes
}

TEST_F(PartsTest, are_refused_at_any_allocation_and_leave_nothing) {
    std::uint64_t refusals = 0;
    for (std::uint64_t n = 0;; ++n) {
        store.emplace(heap.memory(), heap.memory());
        context = {};
        heap.refuse_after(n);
        const auto first = load(0, 100);
        heap.refuse_nothing();
        if (first) {
            break;
        }
        ++refusals;
        EXPECT_EQ(first.error(), Status::out_of_memory);
        EXPECT_EQ(context.first, nullptr);
        taken(0, 100);
        taken(100, 100);
        EXPECT_TRUE(join().has_value());
    }
    EXPECT_EQ(refusals, 3U) << "two pools and the artifact";
}

TEST_F(PartsTest, past_the_pools_are_given_back_with_the_store) {
    for (std::uint8_t i = 0; i < 100; ++i) {
        taken(i, 1);
        taken(0, 1, {std::byte{9}, std::byte{i}});
    }
}

}  // namespace
}  // namespace virtaccel::backend
