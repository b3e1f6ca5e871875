#pragma once
// The books about a backend's caller: what it holds, what it called, and the first thing that it
// did wrong with what it holds. The one thing to know: what is live, or was given up and nobody
// knows whether it is gone, is clean only after its release, or after the caller has acknowledged
// that the instance was discarded with all that it held.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::mock {

// What a caller can hold.
enum class Holding : std::uint8_t { context, buffer, program, queue, event, prepared };

inline constexpr std::size_t holding_count = static_cast<std::size_t>(Holding::prepared) + 1;

// What a caller can do wrong.
enum class Violation : std::uint8_t {
    none,
    released_twice,
    used_after_release,
    used_in_doubt,        // its release was indeterminate
    parent_before_child,  // a context with children is released
    retained_by_event,    // what a live event retains is released
    unknown_handle,       // never given out, or by another instance, or to something else
    other_context,        // a submission over two contexts
    called_after_loss,    // the instance has said that it is lost
};

struct AuditOptions {
    // The most objects that can be held at once, at most 2^24 - 1; beyond, the audited backend
    // answers OUT_OF_MEMORY.
    std::uint32_t objects_max = 1U << 16U;
    // How many of the last calls are kept.
    std::uint32_t calls_kept = 64;
};

// One call as it was answered. `object` numbers what it made or named, zero for none; for a poll,
// `status` is the event's error.
struct AuditedCall {
    Call call = Call::create_context;
    std::uint64_t occurrence = 0;
    backend::Certainty certainty = backend::Certainty::done;
    Status status = Status::ok;
    std::uint64_t object = 0;
};

inline constexpr std::size_t audited_call_bytes_max = 120;

// One call in words: "free 2 of the object 7: indeterminate DEVICE_LOST".
[[nodiscard]] std::string_view print(const AuditedCall& call, std::span<char> room);

// Outlives the backends that keep it, one after the other or several at once. One thread.
class Audit {
  public:
    // All that it keeps comes from `memory`, which outlives it.
    explicit Audit(const Memory& memory, const AuditOptions& options = {});

    Audit(const Audit&) = delete;
    Audit& operator=(const Audit&) = delete;
    ~Audit();

    // What is held, and neither released nor in doubt.
    [[nodiscard]] std::uint64_t live(Holding kind) const {
        return live_[static_cast<std::size_t>(kind)];
    }

    [[nodiscard]] std::uint64_t live() const;

    // What was released without anyone knowing whether it is gone.
    [[nodiscard]] std::uint64_t indeterminate() const { return indeterminate_; }

    [[nodiscard]] bool is_clean() const { return live() == 0 && indeterminate_ == 0; }

    // True if the newest instance has said that it is lost (DEVICE_LOST, or an indeterminate
    // release), so that it has to be discarded.
    [[nodiscard]] bool is_lost() const { return lost_; }

    // The caller knows that every instance that is lost or has ended is discarded, and that its end
    // gives back what it held: forgets that, and says how much it was. Prepared artifacts are not
    // the instance's, and stay.
    std::uint64_t acknowledge_discard();

    // The first thing that the caller did wrong, and a full sentence about it, empty for none. The
    // call was refused and did not reach the backend.
    [[nodiscard]] Violation violation() const { return violation_; }

    [[nodiscard]] std::string_view sentence() const { return {sentence_.data(), sentence_bytes_}; }

    // How often a call was made, and all calls together.
    [[nodiscard]] std::uint64_t calls(Call call) const {
        return counts_[static_cast<std::size_t>(call)];
    }

    [[nodiscard]] std::uint64_t calls() const { return calls_; }

    // Calls `visit(const AuditedCall&)` for the last calls, oldest first.
    template <class Visit>
    void each_call(Visit&& visit) const {
        const std::uint64_t kept = log_.empty() ? 0 : log_.size();
        for (std::uint64_t i = calls_ > kept ? calls_ - kept : 0; kept != 0 && i < calls_; ++i) {
            visit(log_[static_cast<std::size_t>(i % kept)]);
        }
    }

  private:
    friend class AuditBackend;

    // What stands behind a handle. `word` is the handle's: `serial:40 | slot:24`.
    struct Record {
        std::uint64_t word = 0;  // zero while vacant
        void* inner_object = nullptr;
        std::uint64_t inner_word = 0;
        Holding kind = Holding::context;
        bool in_doubt = false;
        bool given_up = false;  // its instance is lost or has ended
        std::uint32_t instance = 0;
        std::uint32_t slot = 0;
        std::uint64_t users = 0;  // the children of a context, the events that retain all else
        Record* context = nullptr;
        Record* queue = nullptr;  // these, and the buffers, of an event
        Record* program = nullptr;
        Record** buffers = nullptr;
        std::size_t buffer_count = 0;
        Record* next_vacant = nullptr;
    };

    // A handle of any kind.
    struct Name {
        const void* object = nullptr;
        std::uint64_t word = 0;
    };

    static constexpr std::uint32_t records_per_chunk = 64;

    [[nodiscard]] std::uint32_t begin_instance();
    void end_instance(std::uint32_t instance);
    void lose(std::uint32_t instance);

    void enter(Call call);
    void leave(const AuditedCall& call);
    void violate(Violation violation, Holding kind);

    // The record that a handle names; null, and a violation, if the caller may not name it.
    [[nodiscard]] Record* find(Name name, Holding kind, std::uint32_t instance, Violation if_gone);
    // True if the next `publish` succeeds.
    [[nodiscard]] bool has_room();
    [[nodiscard]] Record& publish(Holding kind, std::uint32_t instance, Name inner);
    void doubt(Record& record);
    // The object is gone, and lets go of what it stood on.
    void retire(Record& record);
    void vacate(Record& record);
    void give_up(std::uint32_t instance);
    [[nodiscard]] Record& at(std::uint32_t slot);

    Memory memory_;
    AuditOptions options_;
    Array<Record*> chunks_;
    Array<AuditedCall> log_;
    Record* vacant_ = nullptr;
    std::uint32_t slots_ = 0;  // made so far, in whole chunks
    std::uint64_t serials_ = 0;
    std::uint32_t instances_ = 0;
    bool lost_ = false;
    std::array<std::uint64_t, holding_count> live_{};
    std::uint64_t indeterminate_ = 0;
    std::array<std::uint64_t, call_count> counts_{};
    std::uint64_t calls_ = 0;
    Call current_ = Call::create_context;
    Violation violation_ = Violation::none;
    std::array<char, 240> sentence_{};
    std::size_t sentence_bytes_ = 0;
};

}  // namespace virtaccel::mock
