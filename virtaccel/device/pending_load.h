#pragma once
// A LOAD_PROGRAM whose answer is deferred, so that its artifact can be prepared on another thread
// while other requests overtake it. Everything but `prepare` belongs to the device's thread.

#include <cstdint>
#include <utility>

namespace virtaccel::device {

struct LoadRecord;

// Move-only. Give it back with `Device::finish`, also after a reset; destroying it drops the
// request without an answer.
class PendingLoad {
  public:
    PendingLoad() = default;

    PendingLoad(PendingLoad&& other) noexcept
        : tag(other.tag), record_(std::exchange(other.record_, nullptr)) {}

    PendingLoad& operator=(PendingLoad&& other) noexcept {
        tag = other.tag;
        std::swap(record_, other.record_);
        return *this;
    }

    PendingLoad(const PendingLoad&) = delete;
    PendingLoad& operator=(const PendingLoad&) = delete;
    ~PendingLoad();

    [[nodiscard]] explicit operator bool() const { return record_ != nullptr; }

    // Lets the backend prepare the artifact. Any thread, once. The guest memory of the request, and
    // the queue that leased it, stay in place meanwhile; a reset meanwhile makes its reads fail.
    void prepare();

    // The caller's, for example the head of the chain.
    std::uint64_t tag = 0;

  private:
    friend struct Core;

    explicit PendingLoad(LoadRecord* record) : record_(record) {}

    LoadRecord* record_ = nullptr;
};

}  // namespace virtaccel::device
