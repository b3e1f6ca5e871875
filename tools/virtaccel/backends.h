#pragma once
// The backends this program has, by name. The one thing to know: this list is the only one; nothing
// registers itself.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/limited_backend.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/lowering/capabilities.h"
#include "virtaccel/mock/reference.h"

namespace virtaccel::cli {

// What a user may say about the mock: when its events end, and whether they can be cancelled.
struct MockChoice {
    mock::CompleteAt complete_at = mock::CompleteAt::poll;
    std::uint32_t pending_polls = 0;
    bool can_cancel = true;
};

// What a user says about a backend. What is not said is the backend's own choice.
struct BackendChoice {
    std::string name;  // NAME or NAME:DEVICE
    std::optional<std::uint32_t> threads;
    std::optional<AdvertisedLimits> limits;
    std::optional<MockChoice> mock;
};

// One backend of the list.
struct BackendRow {
    std::string_view name;
    std::string_view summary;
    bool has_threads = false;
    Result<backend::AnyBackend> (*make)(const Memory& memory,
                                        const BackendChoice& choice) = nullptr;
    lowering::CapabilityProvider capabilities = lowering::no_capabilities;
};

[[nodiscard]] std::span<const BackendRow> backend_rows();

// The names of the list, for help: "cpu, mock, null".
[[nodiscard]] std::string backend_names();

// Makes instances of the backend that was chosen.
class BackendSource {
  public:
    // A wrong choice is wrong usage. `memory` outlives this.
    [[nodiscard]] static OrFailure<BackendSource> find(const Memory& memory, BackendChoice choice);

    // This stays where it is while the factory is used.
    [[nodiscard]] backend::BackendFactory factory();

    [[nodiscard]] Result<backend::AnyBackend> make() const;

    // What the backend says it takes, without being made.
    [[nodiscard]] std::vector<lowering::CapabilityDescriptor> capabilities() const {
        return row_->capabilities();
    }

    [[nodiscard]] std::string_view name() const { return row_->name; }

  private:
    BackendSource(const Memory& memory, BackendChoice choice, const BackendRow& row)
        : memory_(memory), choice_(std::move(choice)), row_(&row) {}

    Memory memory_;
    BackendChoice choice_;
    const BackendRow* row_;
};

}  // namespace virtaccel::cli
