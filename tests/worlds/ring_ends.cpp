#include "tests/worlds/ring_ends.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "tests/worlds/block.h"
#include "tests/worlds/broken_driver.h"
#include "tests/worlds/watch.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/queue/device_ring.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/notify.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::worlds {

namespace {

constexpr queue::Notify notify{.state = nullptr, .call = watched_notify};
// Chains of one ring that are held, or remembered past their end, at a time.
constexpr std::size_t held_max = 4;

[[nodiscard]] queue::RingThreads threads_of(Flaw flaw) {
    return flaw == Flaw::without_fences ? queue::RingThreads::one : queue::RingThreads::two;
}

template <class Ring>
class DriverEnd final : public RingEnd {
  public:
    template <class... Arguments>
    explicit DriverEnd(Ram& ram, Arguments&&... arguments) : ram_(&ram), ring_(arguments...) {}

    [[nodiscard]] Ring& ring() { return ring_; }

    [[nodiscard]] Answer perform(Operation operation) override {
        Answer answer;
        switch (operation.act) {
            case Act::post:
                answer.yes = post(static_cast<Shape>(operation.which));
                break;
            case Act::kick:
                ring_.kick();
                break;
            case Act::take:
                if (const auto completion = ring_.next()) {
                    answer.yes = true;
                    answer.serial = static_cast<std::uint8_t>(completion->cookie - 1);
                    answer.used = completion->used_bytes;
                }
                break;
            case Act::reset:
                ring_.reset();
                break;
            default:
                answer.yes = ring_.want_notifications(operation.act == Act::listen);
        }
        answer.is_broken = ring_.broken();
        answer.free = static_cast<std::uint8_t>(ring_.free_descriptors());
        answer.flying = static_cast<std::uint8_t>(ring_.in_flight());
        return answer;
    }

    void count_from_zero() override { posted_ = 0; }

  private:
    [[nodiscard]] bool post(Shape shape) {
        std::array<Piece, 4> pieces{};
        const std::size_t readable = ram_->lay(posted_ % Ram::serials, shape, pieces);
        const std::span<const Piece> all{pieces.data(), length_of(shape)};
        const std::uint64_t cookie = posted_ + std::uint64_t{1};
        if (ring_.post(all.first(readable), all.subspan(readable), cookie) != queue::Posted::ok) {
            return false;
        }
        posted_ = static_cast<std::uint8_t>((posted_ + 1) % Ram::serials);
        return true;
    }

    Ram* ram_;
    Ring ring_;
    std::uint8_t posted_ = 0;
};

class DeviceEnd final : public RingEnd {
  public:
    DeviceEnd(Block& block, const EndSetup& setup)
        : ram_(setup.ram),
          memory_(setup.ring),
          flaw_(setup.flaw),
          map_(block.memory(), 1),
          ring_(block.memory(), map_, {.threads = threads_of(setup.flaw), .driver = notify}) {
        const auto known = setup.ram->bytes().first(Ram::known_bytes);
        VIRTACCEL_CHECK(
            map_.add({.address = Ram::address, .bytes = known.size(), .host = known.data()}));
        VIRTACCEL_CHECK(ring_.start(setup.ring));
    }

    [[nodiscard]] Answer perform(Operation operation) override {
        Answer answer;
        switch (operation.act) {
            case Act::pop:
                pop(answer);
                break;
            case Act::complete:
                complete(operation.which, answer);
                break;
            case Act::touch_stale:
                touch_stale(operation.which, answer);
                break;
            case Act::flush:
                flush();
                break;
            case Act::reset:
                reset();
                break;
            default:
                answer.yes = want_notifications(operation.act == Act::listen);
        }
        answer.is_broken = ring_.broken();
        return answer;
    }

  private:
    // A chain that was popped, in members without padding.
    struct Held {
        const std::uint32_t* live = nullptr;
        std::uint32_t epoch = 0;
        std::uint8_t head = 0;
        std::uint8_t serial = 0;
        std::uint8_t shape = 0;
        std::uint8_t unused = 0;
    };

    // Held chains in the order of their coming, without gaps.
    struct Shelf {
        std::array<Held, held_max> chains{};
        std::uint64_t count = 0;

        void put(const Held& chain) {
            VIRTACCEL_CHECK(count < held_max);
            chains[count++] = chain;
        }

        void drop(std::size_t which) {
            std::copy(chains.begin() + which + 1, chains.end(), chains.begin() + which);
            chains.back() = {};
            --count;
        }
    };

    void pop(Answer& answer) {
        const auto chain = ring_.pop();
        if (!chain) {
            return;
        }
        answer.yes = true;
        answer.head = static_cast<std::uint8_t>(chain->head);
        answer.serial = ram_->serial_at(chain->readable.pieces.front().data);
        answer.shape = shapes;
        for (std::uint8_t shape = 0; shape < shapes; ++shape) {
            if (ram_->holds(chain->readable, chain->writable, answer.serial,
                            static_cast<Shape>(shape))) {
                answer.shape = shape;
            }
        }
        answer.is_sound = answer.shape < shapes && chain->readable.lease.holds();
        held_.put({.live = chain->writable.lease.live,
                   .epoch = chain->writable.lease.epoch,
                   .head = answer.head,
                   .serial = answer.serial,
                   .shape = answer.shape});
    }

    // Whether one byte went into the chain's response.
    [[nodiscard]] bool write(const Held& chain) {
        std::array<Piece, 4> pieces{};
        const auto shape = static_cast<Shape>(chain.shape);
        const std::size_t readable = ram_->lay(chain.serial, shape, pieces);
        const std::span<const Piece> all{pieces.data(), length_of(shape)};
        const bool heedless = flaw_ == Flaw::ignores_reset;
        const Lease lease = heedless ? Lease{} : Lease{.live = chain.live, .epoch = chain.epoch};
        const auto mark = static_cast<std::byte>(chain.serial + 1);
        ram_->answer(chain.serial) = std::byte{0};
        const bool wrote = Writer{PieceList::of(all.subspan(readable), lease)}.copy_from(&mark, 1);
        VIRTACCEL_CHECK(wrote == (ram_->answer(chain.serial) == mark));
        return wrote;
    }

    void complete(std::size_t which, Answer& answer) {
        const Held chain = held_.chains[which];
        answer.is_sound = write(chain);
        if (flaw_ == Flaw::interrupts_by_memory) {
            wanted_ = memory_.interrupts_wanted();
        }
        const std::uint32_t used =
            used_of(chain.serial) + (flaw_ == Flaw::counts_used_wrong ? 1U : 0U);
        answer.yes = ring_.complete(chain.head, used);
        if (flaw_ == Flaw::completes_twice) {
            complete_raw(chain.head, used);
        }
        held_.drop(which);
    }

    void complete_raw(std::uint16_t head, std::uint32_t used) {
        const std::uint16_t index = memory_.used_index();
        memory_.store_used(index, {.id = head, .bytes = used});
        memory_.publish_used_index(static_cast<std::uint16_t>(index + 1));
    }

    // A head may be another chain's by now; then its user must not complete it, and does not.
    void touch_stale(std::size_t which, Answer& answer) {
        const Held chain = stale_.chains[which];
        const bool wrote = write(chain);
        const auto is_same = [&](const Held& other) { return other.head == chain.head; };
        const auto* const end = held_.chains.data() + held_.count;
        const bool reused = std::any_of(std::as_const(held_).chains.data(), end, is_same);
        const bool completed = !reused && ring_.complete(chain.head, 1);
        answer.is_sound = !wrote && !completed;
        if (flaw_ == Flaw::ignores_reset) {
            complete_raw(chain.head, 1);
        }
    }

    void flush() {
        if (flaw_ != Flaw::interrupts_by_memory) {
            ring_.flush();
        } else if (wanted_) {
            notify();
        }
    }

    [[nodiscard]] bool want_notifications(bool wanted) {
        if (wanted && flaw_ == Flaw::device_never_looks) {
            memory_.want_notifications(true);
            return false;
        }
        return ring_.want_notifications(wanted);
    }

    void reset() {
        ring_.reset();
        for (; held_.count != 0; held_.drop(0)) {
            stale_.put(held_.chains[0]);
        }
    }

    Ram* ram_;
    queue::RingMemory memory_;
    Flaw flaw_;
    bool wanted_ = true;
    queue::MemoryMap map_;
    queue::DeviceRing ring_;
    Shelf held_;
    Shelf stale_;
};

}  // namespace

std::size_t Ram::lay(std::uint8_t serial, Shape shape, std::span<Piece, 4> target) {
    std::byte* const request = bytes_.data() + serial * std::size_t{64};
    std::byte* const response = request + 32;
    const auto piece = [](std::byte* at) { return Piece{.data = at, .size = 8}; };
    switch (shape) {
        case Shape::pair:
            target[0] = piece(request);
            target[1] = piece(response);
            return 1;
        case Shape::triple:
            target[0] = piece(request);
            target[1] = piece(request + 8);
            target[2] = piece(response);
            return 2;
        case Shape::quad:
            target[0] = piece(request);
            target[1] = piece(request + 8);
            target[2] = piece(response);
            target[3] = piece(response + 8);
            return 2;
        case Shape::unreachable:
            target[0] = piece(request + known_bytes);
            target[1] = piece(response);
            return 1;
    }
    return 0;
}

bool Ram::holds(const PieceList& readable, const PieceList& writable, std::uint8_t serial,
                Shape shape) {
    if (serial >= serials || shape == Shape::unreachable) {
        return false;
    }
    std::array<Piece, 4> pieces{};
    const std::size_t count = lay(serial, shape, pieces);
    const std::span<const Piece> all{pieces.data(), length_of(shape)};
    const auto is_same = [](const Piece& a, const Piece& b) {
        return a.data == b.data && a.size == b.size;
    };
    return std::ranges::equal(readable.pieces, all.first(count), is_same) &&
           std::ranges::equal(writable.pieces, all.subspan(count), is_same);
}

RingEnd* make_driver(Block& block, const EndSetup& setup) {
    const auto addresses = queue::AddressMap::of(setup.ram->bytes(), Ram::address);
    switch (setup.flaw) {
        case Flaw::plain:
        case Flaw::never_looks_again:
        case Flaw::frees_twice:
        case Flaw::publishes_first:
        case Flaw::compares_indexes:
        case Flaw::kicks_by_memory:
            return block.make<DriverEnd<BrokenDriver>>(*setup.ram, setup.ring, setup.flaw,
                                                       addresses, notify);
        default:
            break;
    }
    auto* const end = block.make<DriverEnd<queue::DriverRing>>(
        *setup.ram, block.memory(),
        queue::DriverRingOptions{
            .threads = threads_of(setup.flaw), .addresses = addresses, .device = notify});
    VIRTACCEL_CHECK(end->ring().start(setup.ring));
    return end;
}

RingEnd* make_device(Block& block, const EndSetup& setup) {
    return block.make<DeviceEnd>(block, setup);
}

}  // namespace virtaccel::worlds
