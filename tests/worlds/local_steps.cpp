#include "tests/worlds/local_steps.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "tests/worlds/ring_ends.h"
#include "tests/worlds/watch.h"

namespace virtaccel::worlds {

Node LocalSteps::idle_node(std::string_view image) {
    const std::uint32_t number = images_.number_of(image);
    const auto [at, is_new] = idle_nodes_.try_emplace(number, static_cast<Node>(nodes_.size()));
    if (is_new) {
        nodes_.push_back({.image = number});
    }
    return at->second;
}

Node LocalSteps::begin(Node idle, Operation operation) {
    const auto key = static_cast<std::uint64_t>(operation.act) << 8U | operation.which;
    const auto [at, is_new] =
        nodes_[idle].onward.try_emplace(key, static_cast<Node>(nodes_.size()));
    const Node node = at->second;
    if (is_new) {
        nodes_.push_back({.image = nodes_[idle].image, .operation = operation});
    }
    return node;
}

const LocalSteps::Next& LocalSteps::next(Node node) {
    if (!nodes_[node].is_known) {
        Place place = nodes_[node];
        run(place);
        nodes_[node] = std::move(place);
    }
    return nodes_[node].next;
}

Node LocalSteps::after(Node node, std::uint64_t loaded) {
    const auto [at, is_new] =
        nodes_[node].onward.try_emplace(loaded, static_cast<Node>(nodes_.size()));
    const Node onward = at->second;
    if (is_new) {
        Place place{.image = nodes_[node].image,
                    .operation = nodes_[node].operation,
                    .accesses = nodes_[node].accesses + 1,
                    .loads = nodes_[node].loads};
        if (nodes_[node].next.access.kind == AccessKind::load) {
            place.loads.push_back(loaded);
        }
        nodes_.push_back(std::move(place));
    }
    return onward;
}

void LocalSteps::run(Place& place) {
    ++runs_;
    block_->restore(images_.at(place.image));
    Recorder recorder{ring_, place.accesses, place.loads};
    place.is_known = true;
    try {
        const Watching watching{recorder};
        place.next.answer = end_->perform(place.operation);
        place.next.is_over = true;
        place.next.idle = idle_node(block_->image());
    } catch (const Paused&) {
        place.next.access = recorder.next();
    }
}

}  // namespace virtaccel::worlds
