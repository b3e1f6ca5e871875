#include "virtaccel/lowering/specialisation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/tosa/dynamic_operands.h"

namespace virtaccel::lowering {
namespace {

Memory heap() {
    return {.state = nullptr,
            .allocate = [](void*, std::size_t bytes, std::size_t alignment) -> void* {
                return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
            },
            .release =
                [](void*, void* block, std::size_t, std::size_t alignment) {
                    ::operator delete(block, std::align_val_t{alignment});
                }};
}

// Parts with up to two operands, and the bytes behind them.
struct Sample {
    std::uint64_t graph = 1;
    std::string first;
    std::string second;
    TargetWords target{};
    std::vector<tosa::SuppliedOperand> operands;

    [[nodiscard]] SpecialisationParts parts() {
        operands.clear();
        for (const std::string* text : {&first, &second}) {
            operands.push_back({.tensor = static_cast<std::uint32_t>(operands.size() + 3),
                                .bytes = std::as_bytes(std::span{*text})});
        }
        return {.graph = graph, .target = target, .operands = operands};
    }
};

Sample sample(const std::string& first, const std::string& second = "") {
    Sample made;
    made.first = first;
    made.second = second;
    return made;
}

// A variant that counts how many of its kind there are.
class Counted {
  public:
    explicit Counted(int& live, std::string name) : live_(&live), name_(std::move(name)) {
        ++*live_;
    }

    Counted(Counted&& other) noexcept : live_(other.live_), name_(std::move(other.name_)) {
        ++*live_;
    }

    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    Counted& operator=(Counted&&) = delete;

    ~Counted() { --*live_; }

    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    int* live_;
    std::string name_;
};

class Cache : public ::testing::Test {
  protected:
    Cache() : memory(heap()) {}

    void limit(const SpecialisationLimits& limits) { cache.emplace(memory.memory(), limits); }

    Status put(Sample parts, const std::string& name, std::uint64_t bytes = 10) {
        const auto kept = cache->put(parts.parts(), Counted{live, name}, bytes);
        return kept ? Status::ok : kept.error();
    }

    // The name of the variant that is there; empty for none.
    std::string find(Sample parts) {
        const Counted* const found = cache->find(parts.parts());
        return found == nullptr ? "" : found->name();
    }

    int live = 0;
    virtaccel::testing::CountingMemory memory;
    std::optional<SpecialisationCache<Counted>> cache;
};

TEST(SpecialisationKey, holds_all_that_a_variant_depends_on) {
    Sample same = sample("ab", "c");
    const auto key = SpecialisationKey::make(heap(), same.parts(), 1000);
    ASSERT_TRUE(key);
    EXPECT_EQ(key->bytes().size(), key_bytes(same.parts()));
    EXPECT_TRUE(key->is_of(same.parts()));
    EXPECT_FALSE(key->is_of(sample("a", "bc").parts())) << "where operands end is part of the key";
    EXPECT_FALSE(key->is_of(sample("ab", "d").parts()));
    Sample other = sample("ab", "c");
    other.graph = 2;
    EXPECT_FALSE(key->is_of(other.parts()));
    other = sample("ab", "c");
    other.target[3] = 1;
    EXPECT_FALSE(key->is_of(other.parts()));
    SpecialisationParts fewer = same.parts();
    fewer.operands = fewer.operands.first(1);
    EXPECT_FALSE(key->is_of(fewer));
    EXPECT_EQ(*key, SpecialisationKey::make(heap(), same.parts(), 1000).value());
    EXPECT_NE(*key, SpecialisationKey::make(heap(), fewer, 1000).value());
}

TEST(SpecialisationKey, is_bounded_and_in_one_order) {
    Sample some = sample("ab", "c");
    const auto bytes = key_bytes(some.parts());
    EXPECT_TRUE(SpecialisationKey::make(heap(), some.parts(), bytes));
    EXPECT_EQ(SpecialisationKey::make(heap(), some.parts(), bytes - 1).error(),
              Status::resource_limit);
    SpecialisationParts twice = some.parts();
    some.operands[1].tensor = some.operands[0].tensor;
    EXPECT_EQ(SpecialisationKey::make(heap(), twice, 1000).error(), Status::invalid_argument);
}

TEST_F(Cache, drops_what_was_not_used_for_the_longest_time) {
    limit({.variants_max = 2});
    EXPECT_EQ(put(sample("a"), "A"), Status::ok);
    EXPECT_EQ(put(sample("b"), "B"), Status::ok);
    EXPECT_EQ(find(sample("a")), "A");
    EXPECT_EQ(put(sample("c"), "C"), Status::ok);
    EXPECT_EQ(find(sample("b")), "");
    EXPECT_EQ(find(sample("a")), "A");
    EXPECT_EQ(find(sample("c")), "C");
    EXPECT_EQ(cache->count(), 2U);
    EXPECT_EQ(live, 2);
}

TEST_F(Cache, keeps_its_bytes_within_their_limit) {
    const auto key = key_bytes(sample("a").parts());
    limit({.variants_max = 100, .bytes_max = 3 * (key + 10)});
    for (const std::string name : {"a", "b", "c", "d"}) {
        EXPECT_EQ(put(sample(name), name), Status::ok);
    }
    EXPECT_EQ(cache->count(), 3U);
    EXPECT_EQ(cache->bytes(), 3 * (key + 10));
    EXPECT_EQ(put(sample("e"), "e", (2 * (key + 10)) - key), Status::ok);
    EXPECT_EQ(cache->count(), 2U) << "two went for one that is twice as large";
    EXPECT_EQ(find(sample("d")), "d");
}

TEST_F(Cache, refuses_what_can_never_fit_and_drops_nothing_for_it) {
    const auto key = key_bytes(sample("a").parts());
    limit({.variants_max = 4, .bytes_max = key + 10, .key_bytes_max = key});
    EXPECT_EQ(put(sample("a"), "A"), Status::ok);
    EXPECT_EQ(put(sample("b"), "B", 11), Status::resource_limit);
    EXPECT_EQ(put(sample("b"), "B", UINT64_MAX), Status::resource_limit);
    EXPECT_EQ(put(sample("bb"), "B", 0), Status::resource_limit);
    EXPECT_EQ(find(sample("a")), "A");
    limit({.variants_max = 0});
    EXPECT_EQ(put(sample("a"), "A"), Status::resource_limit);
}

TEST_F(Cache, puts_a_variant_in_the_place_of_one_for_the_same_parts) {
    limit({.variants_max = 2});
    EXPECT_EQ(put(sample("a"), "old", 100), Status::ok);
    EXPECT_EQ(put(sample("b"), "B"), Status::ok);
    EXPECT_EQ(put(sample("a"), "new"), Status::ok);
    EXPECT_EQ(find(sample("a")), "new");
    EXPECT_EQ(find(sample("b")), "B");
    EXPECT_EQ(cache->bytes(), (2 * key_bytes(sample("a").parts())) + 20);
}

TEST_F(Cache, survives_every_allocation_that_fails) {
    for (std::uint64_t granted = 0; granted < 3; ++granted) {
        limit({.variants_max = 1});
        EXPECT_EQ(put(sample("a"), "A"), Status::ok);
        memory.refuse_after(granted);
        const Status status = put(sample("b"), "B");
        memory.refuse_nothing();
        EXPECT_EQ(status, granted < 2 ? Status::out_of_memory : Status::ok) << granted;
        EXPECT_EQ(find(sample("a")), granted < 2 ? "A" : "") << granted;
        EXPECT_EQ(live, 1);
        cache.reset();
        EXPECT_EQ(memory.live_blocks(), 0U);
        EXPECT_EQ(live, 0);
    }
}

TEST_F(Cache, looks_up_without_memory) {
    limit({});
    EXPECT_EQ(put(sample("a"), "A"), Status::ok);
    memory.refuse_after(0);
    EXPECT_EQ(find(sample("a")), "A");
    EXPECT_EQ(find(sample("b")), "");
    EXPECT_EQ(memory.refused(), 0U);
}

// A plain list beside it, over many turns.
TEST_F(Cache, agrees_with_a_plain_list) {
    limit({.variants_max = 5});
    std::vector<std::string> recent;  // the newest last
    std::uint32_t state = 1;
    for (int turn = 0; turn < 2000; ++turn) {
        state = (state * 1664525U) + 1013904223U;
        const std::string name(1, static_cast<char>('a' + ((state >> 16U) % 9)));
        const bool puts = (state >> 30U) == 0;
        const auto at = std::ranges::find(recent, name);
        ASSERT_EQ(find(sample(name)), at == recent.end() ? "" : name) << turn;
        if (at != recent.end()) {
            recent.erase(at);
            recent.push_back(name);
        }
        if (puts) {
            ASSERT_EQ(put(sample(name), name), Status::ok);
            std::erase(recent, name);
            recent.push_back(name);
            if (recent.size() > 5) {
                recent.erase(recent.begin());
            }
        }
        ASSERT_EQ(cache->count(), recent.size());
    }
}

}  // namespace
}  // namespace virtaccel::lowering
