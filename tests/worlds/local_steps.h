#pragma once
// All that one end of a ring can do, access by access, as a graph that grows while it is walked.
// The one thing to know: what an end does next depends on its own bytes, on the call and on what
// that call has loaded so far, and on nothing else; so the real code runs once for each of these,
// and a world puts the results together in every order.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/worlds/block.h"
#include "tests/worlds/interner.h"
#include "tests/worlds/ring_ends.h"
#include "tests/worlds/watch.h"

namespace virtaccel::worlds {

// Where an end stands: between two calls, or in the middle of one.
using Node = std::uint32_t;

class LocalSteps {
  public:
    // What the call at a node does next, or that it is over and where the end stands then.
    struct Next {
        bool is_over = false;
        Access access{};
        Answer answer{};
        Node idle = 0;
    };

    // `end` lives in `block`; `ring` is where offsets count from.
    LocalSteps(std::unique_ptr<Block> block, RingEnd* end, const std::byte* ring)
        : block_(std::move(block)), end_(end), ring_(ring) {}

    // The end as it stands in its block now, between two calls.
    [[nodiscard]] Node here() { return idle_node(block_->image()); }

    // The start of a call, at a node between two.
    [[nodiscard]] Node begin(Node idle, Operation operation);

    // The call at a node; of act `none` between two calls.
    [[nodiscard]] Operation operation_at(Node node) const { return nodes_[node].operation; }

    // At a node in a call.
    [[nodiscard]] const Next& next(Node node);

    // Where the end stands after the access that is next; `loaded` is what a load gave.
    [[nodiscard]] Node after(Node node, std::uint64_t loaded);

    // How often the real code ran, and where it can stand.
    [[nodiscard]] std::uint64_t runs() const { return runs_; }

    [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  private:
    struct Place {
        std::uint32_t image = 0;
        Operation operation{};
        std::uint32_t accesses = 0;
        std::vector<std::uint64_t> loads{};
        bool is_known = false;
        Next next{};
        // By the loaded word, or by the call at a node between two.
        std::map<std::uint64_t, Node> onward{};
    };

    [[nodiscard]] Node idle_node(std::string_view image);
    void run(Place& place);

    std::unique_ptr<Block> block_;
    RingEnd* end_;
    const std::byte* ring_;
    Interner images_;
    std::unordered_map<std::uint32_t, Node> idle_nodes_;
    std::vector<Place> nodes_;
    std::uint64_t runs_ = 0;
};

}  // namespace virtaccel::worlds
