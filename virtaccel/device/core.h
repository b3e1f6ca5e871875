#pragma once
// All that a device is made of, and the few steps its handlers share. Internal to this folder:
// everyone else sees device.h.

#include <cstdint>
#include <expected>
#include <optional>
#include <type_traits>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/parts.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/bindings.h"
#include "virtaccel/device/bounded_memory.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/entry.h"
#include "virtaccel/device/ids.h"
#include "virtaccel/device/ledger.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/device/references.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {

// One table for each kind.
struct Tables {
    Tables(const Memory& memory, const DeviceLimits& limits);

    [[nodiscard]] bool have_directories() const;

    template <class Kind>
    [[nodiscard]] ObjectTable<Kind>& of() {
        if constexpr (std::is_same_v<Kind, ContextKind>) {
            return contexts;
        } else if constexpr (std::is_same_v<Kind, BufferKind>) {
            return buffers;
        } else if constexpr (std::is_same_v<Kind, ProgramKind>) {
            return programs;
        } else if constexpr (std::is_same_v<Kind, QueueKind>) {
            return queues;
        } else {
            return events;
        }
    }

    ObjectTable<ContextKind> contexts;
    ObjectTable<BufferKind> buffers;
    ObjectTable<ProgramKind> programs;
    ObjectTable<QueueKind> queues;
    ObjectTable<EventKind> events;
};

struct Core {
    // See Device::make; the core is allocated from `memory` and freed by `drop`.
    [[nodiscard]] static std::expected<Core*, Unfit> make(const Memory& memory,
                                                          backend::AnyBackend backend,
                                                          const Options& options);
    // Frees the core now, or when its last pending load ends.
    static void drop(Core* core);
    // See Device::drop_backend.
    void drop_backend();

    Core(const Memory& source, backend::AnyBackend used_backend, const DeviceIdentity& judged,
         const Options& given);
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;
    ~Core() = default;

    // True if every allocation of the constructor succeeded.
    [[nodiscard]] bool complete() const;

    // Steps 2 to 8 of spec §5.
    [[nodiscard]] Served serve(const PieceList& readable, const PieceList& writable);

    [[nodiscard]] PendingLoad take_load();
    [[nodiscard]] std::optional<Served> finish(PendingLoad load);
    [[nodiscard]] ResetReport reset();
    // Makes a filled-in record the untaken load.
    void put_aside(LoadRecord* record);
    // Ends a load's record, and what waited for the last of them.
    static void end_load(LoadRecord* record);
    void end_waiting();

    // The live object that `id` names, or STALE_OBJECT.
    template <class Kind>
    [[nodiscard]] Result<Live<Kind>> find(Id<Kind> id) {
        return tables.of<Kind>().find(id);
    }

    // Room for one more object of a kind in `context`, by quota, slots, serials and memory.
    template <class Kind>
    [[nodiscard]] Result<Vacant<Kind>> reserve_in(const Entry<ContextKind>& context) {
        return reserve<Kind>(context.*count_of<Kind>);
    }

    // The same where `count` objects count against the quota.
    template <class Kind>
    [[nodiscard]] Result<Vacant<Kind>> reserve(std::uint32_t count) {
        if (count >= identity.limits.*quota_of<Kind> || serials.exhausted()) [[unlikely]] {
            return fail(Status::resource_limit);
        }
        return tables.of<Kind>().reserve();
    }

    // Gives a new object its ID; its parent is counted here, its other members by the caller.
    template <class Kind>
    [[nodiscard]] Live<Kind> publish(Vacant<Kind> vacant, backend::Handle<Kind> handle,
                                     Entry<ContextKind>& context) {
        const Live<Kind> object = tables.of<Kind>().occupy(vacant, serials.take(), handle);
        object->context = &context;
        ++context.users;
        ++(context.*count_of<Kind>);
        return object;
    }

    // What the guest is told of a backend's failure: INTERNAL_ERROR for what the protocol does not
    // know as one, and for STALE_OBJECT, since which IDs are live is the device's to say, and a
    // guest gives up an object that it hears that of. DEVICE_LOST ends the backend's use.
    [[nodiscard]] Status told(Status failure);

    // The backend must not be called again.
    void lose() { needs_reset = discard_required = true; }

    Memory memory;
    BoundedMemory bookkeeping;
    backend::AnyBackend backend;
    DeviceIdentity identity;
    Options options;
    wire::FrameLimits limits;
    wire::DeviceInfo info;
    Tables tables;
    SerialCounter serials;
    Ledger ledger;
    ReferencePool references;
    BindingScratch bindings;
    backend::Parts parts;

    bool needs_reset = false;
    bool discard_required = false;
    bool orphaned = false;          // only pending loads keep the core
    bool backend_unwanted = false;  // only pending loads keep the backend
    std::uint32_t epoch = 0;        // counts resets, so that loads know whether they are dropped
    std::uint32_t pending_loads = 0;
    PendingLoad untaken_load;
};

}  // namespace virtaccel::device
