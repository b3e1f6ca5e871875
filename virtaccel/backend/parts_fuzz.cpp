// Parts of every kind, good and bad, in two contexts, with joins under way and memory that refuses:
// every answer, every byte of what is joined and every charge is what a plain model of it says.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/parts.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/base/testing/memory.h"

namespace {

using virtaccel::Piece;
using virtaccel::PieceList;
using virtaccel::Reader;
using virtaccel::Status;
using virtaccel::testing::Choices;
using virtaccel::testing::CountingMemory;

namespace backend = virtaccel::backend;
namespace parts = virtaccel::parts;

constexpr std::uint64_t total_max = 300;
constexpr std::size_t context_count = 2;

// A part that lives.
struct Live {
    backend::Part* part = nullptr;
    std::uint64_t charged_bytes = 0;
    std::uint8_t key = 0;
    std::size_t context = 0;
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
};

// A join that is under way, and what it has to read.
struct Reading {
    backend::Joined joined;
    std::uint8_t key = 0;
    std::size_t context = 0;
    std::vector<std::byte> whole;
};

class Play {
  public:
    explicit Play(Choices& choices) : choices_(choices) {}

    ~Play() {
        for (const Reading& reading : readings_) {
            store_->end_join(*reading.joined.artifact);
        }
        store_.reset();
        VIRTACCEL_CHECK(heap_.live_blocks() == 0);
    }

    Play(const Play&) = delete;
    Play& operator=(const Play&) = delete;

    void step() {
        switch (choices_.below(8)) {
            case 0:
                unload(false);
                break;
            case 1:
                join();
                break;
            case 2:
                end_join();
                break;
            case 3:
                unload(true);
                break;
            default:
                load();
                break;
        }
        check();
    }

  private:
    [[nodiscard]] backend::Artifact artifact(std::vector<std::byte>& payload) {
        piece_ = {.data = payload.data(), .size = payload.size()};
        return {.format = 0,
                .target = parts::part_target,
                .resident_bytes_max = ~std::uint64_t{0},
                .payload = Reader{PieceList::of({&piece_, 1})},
                .refusals = {},
                .stable = {}};
    }

    static parts::Key key_of(std::uint8_t number) { return {std::byte{number}}; }

    // The parts that live under a key of a context.
    [[nodiscard]] std::vector<const Live*> siblings(std::size_t context, std::uint8_t key) const {
        std::vector<const Live*> found;
        for (const Live& live : lives_) {
            if (live.context == context && live.key == key) {
                found.push_back(&live);
            }
        }
        return found;
    }

    // What a part that is right by itself has to be answered.
    [[nodiscard]] Status judge(const Live& part, std::uint64_t total) const {
        for (const Live* const other : siblings(part.context, part.key)) {
            if (totals_.at({part.context, part.key}) != total) {
                return Status::incompatible;
            }
            if (part.offset < other->offset + other->bytes.size() &&
                other->offset < part.offset + part.bytes.size()) {
                return Status::invalid_argument;
            }
        }
        return Status::ok;
    }

    void load() {
        Live live;
        live.context = choices_.below(context_count);
        live.key = static_cast<std::uint8_t>(choices_.below(3));
        const std::uint64_t total =
            choices_.one_in(4) ? choices_.number(8) : std::uint64_t{1} + choices_.byte();
        live.offset = choices_.one_in(8) ? choices_.number(8) : std::uint64_t{choices_.byte()};
        for (const auto byte : choices_.take(choices_.byte())) {
            live.bytes.push_back(std::byte{byte});
        }
        std::vector<std::byte> payload(parts::part_head_bytes);
        parts::encode({.key = key_of(live.key), .total_bytes = total, .offset = live.offset},
                      std::span{payload}.first<parts::part_head_bytes>());
        payload.insert(payload.end(), live.bytes.begin(), live.bytes.end());
        const bool refuses = choices_.one_in(8);
        if (refuses) {
            heap_.refuse_after(choices_.below(2));
        }
        const auto loaded = store_->load(contexts_.at(live.context), artifact(payload), total_max);
        heap_.refuse_nothing();
        const Status status = loaded ? Status::ok : loaded.error();
        if (refuses && status == Status::out_of_memory) {
            return;
        }
        const Status wanted = expected(live, total);
        VIRTACCEL_CHECK(status == wanted);
        if (loaded) {
            const bool is_first = siblings(live.context, live.key).empty();
            VIRTACCEL_CHECK(loaded->resident_bytes ==
                            (is_first ? parts::resident_bytes_of(total) : parts::part_cost_bytes));
            totals_[{live.context, live.key}] = total;
            live.part = loaded->part;
            live.charged_bytes = loaded->resident_bytes;
            lives_.push_back(std::move(live));
            lives_.back().part->charged_bytes = &lives_.back().charged_bytes;
        }
    }

    [[nodiscard]] Status expected(const Live& part, std::uint64_t total) const {
        const std::uint64_t bytes = part.bytes.size();
        if (bytes == 0 || total == 0 || part.offset > ~std::uint64_t{0} - bytes) {
            return Status::invalid_argument;
        }
        if (total > total_max) {
            return Status::resource_limit;
        }
        return part.offset + bytes > total ? Status::out_of_bounds : judge(part, total);
    }

    // Ends a part: as a guest does, or, by force, as a reset does.
    void unload(bool by_force) {
        if (lives_.empty()) {
            return;
        }
        const auto found =
            std::next(lives_.begin(), choices_.byte() % static_cast<std::ptrdiff_t>(lives_.size()));
        const bool is_read = std::ranges::any_of(readings_, [&](const Reading& reading) {
            return reading.joined.artifact == found->part->artifact;
        });
        VIRTACCEL_CHECK(backend::Parts::is_in_use(*found->part) == is_read);
        if (is_read && by_force) {
            // A reset ends them all.
            end_all_of(found->context, found->key);
        } else if (!is_read) {
            store_->unload(contexts_.at(found->context), *found->part);
            lives_.erase(found);
        }
    }

    void end_all_of(std::size_t context, std::uint8_t key) {
        for (auto live = lives_.begin(); live != lives_.end();) {
            if (live->context == context && live->key == key) {
                store_->unload(contexts_.at(context), *live->part);
                live = lives_.erase(live);
            } else {
                ++live;
            }
        }
    }

    void join() {
        const std::size_t context = choices_.below(context_count);
        const auto key = static_cast<std::uint8_t>(choices_.below(3));
        std::vector<std::byte> payload(parts::join_head_bytes);
        parts::encode({.key = key_of(key), .format = 1},
                      std::span{payload}.first<parts::join_head_bytes>());
        const auto joined = backend::Parts::join(contexts_.at(context), artifact(payload));
        const auto there = siblings(context, key);
        std::uint64_t arrived = 0;
        for (const Live* const live : there) {
            arrived += live->bytes.size();
        }
        const bool is_whole = !there.empty() && arrived == totals_.at({context, key});
        VIRTACCEL_CHECK(joined.has_value() == is_whole);
        if (!is_whole) {
            VIRTACCEL_CHECK(joined.error() == Status::invalid_argument);
            return;
        }
        Reading reading{.joined = *joined, .key = key, .context = context, .whole = {}};
        reading.whole.resize(arrived);
        for (const Live* const live : there) {
            std::ranges::copy(live->bytes, std::next(reading.whole.begin(),
                                                     static_cast<std::ptrdiff_t>(live->offset)));
        }
        backend::Parts::begin_join(*joined->artifact);
        readings_.push_back(std::move(reading));
    }

    void end_join() {
        if (!readings_.empty()) {
            store_->end_join(*readings_.front().joined.artifact);
            readings_.pop_front();
        }
    }

    // What is read stays as it is, and all that is kept is charged to somebody.
    void check() {
        std::vector<std::byte> none;
        for (const Reading& reading : readings_) {
            const auto made = backend::Parts::artifact_of(reading.joined, artifact(none));
            VIRTACCEL_CHECK(std::ranges::equal(made.stable, reading.whole));
        }
        std::uint64_t charged = 0;
        for (const Live& live : lives_) {
            charged += live.charged_bytes;
        }
        std::uint64_t kept = parts::part_cost_bytes * lives_.size();
        for (std::size_t context = 0; context < context_count; ++context) {
            for (const backend::PartedArtifact* artifact = contexts_.at(context).first;
                 artifact != nullptr; artifact = artifact->next) {
                kept += parts::resident_bytes_of(artifact->bytes.size) - parts::part_cost_bytes;
            }
        }
        VIRTACCEL_CHECK(charged == kept);
    }

    Choices& choices_;
    CountingMemory heap_{virtaccel::host::heap()};
    std::optional<backend::Parts> store_{std::in_place, heap_.memory(), heap_.memory()};
    std::array<backend::PartedArtifacts, context_count> contexts_;
    std::list<Live> lives_;
    std::list<Reading> readings_;
    std::map<std::pair<std::size_t, std::uint8_t>, std::uint64_t> totals_;
    Piece piece_;
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Choices choices{{data, bytes}};
    Play play{choices};
    while (!choices.done()) {
        play.step();
    }
    return 0;
}
