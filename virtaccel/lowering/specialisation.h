#pragma once
// Compiled variants of one graph, kept by what they were compiled for: the values of operands that
// arrive at run time. The one thing to know: a key is the whole of what a variant depends on, and
// whole keys are compared; a hash only says early that two keys differ. Everything a guest can make
// grow has a limit, and all memory comes from the Memory that is given, and may be refused.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/tosa/dynamic_operands.h"

namespace virtaccel::lowering {

// What a variant is compiled for. `graph` is a number that its owner gives to one graph only while
// the cache lives: a digest would not do, as two graphs may have the same. `operands` are in
// ascending order of tensors, each once.
struct SpecialisationParts {
    std::uint64_t graph = 0;
    TargetWords target{};
    std::span<const tosa::SuppliedOperand> operands{};
};

// A copy of the parts as bytes, in one order that is the same for the same parts: graph, target
// words, then each operand's tensor, length and bytes.
class SpecialisationKey {
  public:
    SpecialisationKey() = default;

    // RESOURCE_LIMIT if the key would have more than `bytes_max`; INVALID_ARGUMENT if operands are
    // out of order; OUT_OF_MEMORY.
    [[nodiscard]] static Result<SpecialisationKey> make(const Memory& memory,
                                                        const SpecialisationParts& parts,
                                                        std::uint64_t bytes_max);

    // Whether these are exactly the parts the key was made of.
    [[nodiscard]] bool is_of(const SpecialisationParts& parts) const;

    [[nodiscard]] std::span<const std::byte> bytes() const {
        return {bytes_.data(), bytes_.size()};
    }

    friend bool operator==(const SpecialisationKey& a, const SpecialisationKey& b);

  private:
    Array<std::byte> bytes_;
};

// How many bytes the key of `parts` has; the largest number if that does not fit.
[[nodiscard]] std::uint64_t key_bytes(const SpecialisationParts& parts);

// Equal for equal parts; says nothing else.
[[nodiscard]] std::uint64_t hash_of(const SpecialisationParts& parts);

struct SpecialisationLimits {
    std::uint32_t variants_max = 16;
    std::uint64_t bytes_max = std::uint64_t{64} << 20U;  // of keys and variants, together
    std::uint64_t key_bytes_max = std::uint64_t{1} << 20U;
};

// The variants that were used last. Looking one up allocates nothing. Whoever keeps a variant
// longer than until the next call of put() or clear() takes a Variant that is a shared handle.
template <class Variant>
class SpecialisationCache {
  public:
    // `memory` outlives this.
    SpecialisationCache(const Memory& memory, const SpecialisationLimits& limits)
        : memory_(memory), limits_(limits) {}

    SpecialisationCache(const SpecialisationCache&) = delete;
    SpecialisationCache& operator=(const SpecialisationCache&) = delete;

    ~SpecialisationCache() { clear(); }

    // The variant for `parts`, which is now the one that was used last; null if there is none.
    [[nodiscard]] Variant* find(const SpecialisationParts& parts) {
        const std::uint64_t hash = hash_of(parts);
        for (Entry* entry = newest_; entry != nullptr; entry = entry->older) {
            if (entry->hash == hash && entry->key.is_of(parts)) {
                detach(*entry);
                attach(*entry);
                return &entry->variant;
            }
        }
        return nullptr;
    }

    // Keeps `variant`, which holds `variant_bytes`, in the place of one for the same parts, if
    // there is one; those that were not used for the longest time go until all fit. RESOURCE_LIMIT
    // if it can never fit, OUT_OF_MEMORY if there is no memory for it, INVALID_ARGUMENT for
    // operands out of order: nothing has gone then, and `variant` is untouched.
    [[nodiscard]] Result<Variant*> put(const SpecialisationParts& parts, Variant&& variant,
                                       std::uint64_t variant_bytes) {
        if (limits_.variants_max == 0 || variant_bytes > limits_.bytes_max ||
            key_bytes(parts) > limits_.bytes_max - variant_bytes) {
            return fail(Status::resource_limit);
        }
        VIRTACCEL_TRY_ASSIGN(SpecialisationKey key,
                             SpecialisationKey::make(memory_, parts, limits_.key_bytes_max));
        void* const block = memory_.allocate(memory_.state, sizeof(Entry), alignof(Entry));
        if (block == nullptr) {
            return fail(Status::out_of_memory);
        }
        if (find(parts) != nullptr) {
            drop(*newest_);
        }
        const std::uint64_t bytes = key.bytes().size() + variant_bytes;
        while (count_ == limits_.variants_max || bytes > limits_.bytes_max - bytes_) {
            drop(*oldest_);
        }
        auto* const entry = std::construct_at(static_cast<Entry*>(block), std::move(key),
                                              std::move(variant), hash_of(parts), bytes);
        attach(*entry);
        bytes_ += bytes;
        ++count_;
        return &entry->variant;
    }

    void clear() {
        while (oldest_ != nullptr) {
            drop(*oldest_);
        }
    }

    [[nodiscard]] std::uint32_t count() const { return count_; }

    // Of keys and variants, as put() was told.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  private:
    struct Entry {
        Entry(SpecialisationKey key_of_it, Variant&& kept, std::uint64_t hash_of_key,
              std::uint64_t bytes_of_both)
            : key(std::move(key_of_it)),
              variant(std::move(kept)),
              hash(hash_of_key),
              bytes(bytes_of_both) {}

        SpecialisationKey key;
        Variant variant;
        std::uint64_t hash;
        std::uint64_t bytes;
        Entry* newer = nullptr;
        Entry* older = nullptr;
    };

    void attach(Entry& entry) {
        entry.newer = nullptr;
        entry.older = newest_;
        (newest_ == nullptr ? oldest_ : newest_->newer) = &entry;
        newest_ = &entry;
    }

    void detach(Entry& entry) {
        (entry.newer == nullptr ? newest_ : entry.newer->older) = entry.older;
        (entry.older == nullptr ? oldest_ : entry.older->newer) = entry.newer;
    }

    void drop(Entry& entry) {
        detach(entry);
        bytes_ -= entry.bytes;
        --count_;
        std::destroy_at(&entry);
        memory_.release(memory_.state, &entry, sizeof(Entry), alignof(Entry));
    }

    Memory memory_;
    SpecialisationLimits limits_;
    Entry* newest_ = nullptr;
    Entry* oldest_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace virtaccel::lowering
