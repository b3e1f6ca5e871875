#pragma once
// The live objects of one kind. Entries stand in slabs that never move; a lookup compares the whole
// ID. The one thing to know: `Live` and `Vacant` are proofs that only a table hands out, so code
// that holds one needs no check of its own.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/entry.h"
#include "virtaccel/device/ids.h"

namespace virtaccel::device {

template <class Kind>
class ObjectTable;

// An object that was found by its ID; good until it is vacated.
template <class Kind>
class Live {
  public:
    [[nodiscard]] Entry<Kind>* operator->() const { return entry_; }

    [[nodiscard]] Entry<Kind>& operator*() const { return *entry_; }

    [[nodiscard]] Id<Kind> id() const { return {entry_->id}; }

  private:
    friend class ObjectTable<Kind>;

    explicit Live(Entry<Kind>& entry) : entry_(&entry) {}

    Entry<Kind>* entry_;
};

// Room for one more object: the next `occupy` cannot fail. Dropping it gives nothing up.
template <class Kind>
class Vacant {
  private:
    friend class ObjectTable<Kind>;

    explicit Vacant(std::uint32_t slot) : slot_(slot) {}

    std::uint32_t slot_;
};

template <class Kind>
class ObjectTable {
  public:
    // Room for `count_max` objects, as far as slots can name them; the directory is made at once,
    // the slabs when needed. `has_directory()` tells whether there was memory.
    ObjectTable(const Memory& memory, std::uint64_t count_max)
        : memory_(memory),
          count_max_(static_cast<std::uint32_t>(std::min<std::uint64_t>(count_max, slots_max))),
          slabs_(memory, (count_max_ + slab_entries - 1) / slab_entries) {}

    ObjectTable(const ObjectTable&) = delete;
    ObjectTable& operator=(const ObjectTable&) = delete;

    ~ObjectTable() {
        for (const Slab& slab : slabs_) {
            memory_.release_array(slab.entries, slab_entries);
        }
    }

    [[nodiscard]] bool has_directory() const { return !slabs_.empty(); }

    [[nodiscard]] std::uint32_t size() const { return size_; }

    // The live object of that ID, or STALE_OBJECT.
    [[nodiscard]] Result<Live<Kind>> find(Id<Kind> id) {
        const std::uint32_t slot = slot_of(id.raw);
        if (slot - 1 >= touched_) [[unlikely]] {  // slot 0 wraps: there is none
            return fail(Status::stale_object);
        }
        Entry<Kind>& found = at(slot);
        if (found.id != id.raw) [[unlikely]] {
            return fail(Status::stale_object);
        }
        return Live<Kind>{found};
    }

    // Room for one object: RESOURCE_LIMIT past `count_max`, OUT_OF_MEMORY without memory for it.
    [[nodiscard]] Result<Vacant<Kind>> reserve() {
        if (vacant_ != 0) [[likely]] {
            return Vacant<Kind>{vacant_};
        }
        if (touched_ == count_max_) {
            return fail(Status::resource_limit);
        }
        Slab& slab = slabs_[touched_ / slab_entries];
        if (slab.entries == nullptr) {
            slab.entries = memory_.make_array<Entry<Kind>>(slab_entries);
            if (slab.entries == nullptr) {
                return fail(Status::out_of_memory);
            }
        }
        return Vacant<Kind>{touched_ + 1};
    }

    // Gives the room to a new object. Its other members are the caller's to set.
    [[nodiscard]] Live<Kind> occupy(Vacant<Kind> vacant, std::uint64_t serial,
                                    backend::Handle<Kind> handle) {
        Entry<Kind>& entry = at(vacant.slot_);
        if (vacant.slot_ > touched_) {
            touched_ = vacant.slot_;
        } else {
            vacant_ = entry.next_vacant;
        }
        ++size_;
        entry.id = make_raw_id(serial, vacant.slot_);
        entry.handle = handle;
        entry.users = 0;
        return Live<Kind>{entry};
    }

    // Ends an object; its room may be given away again.
    void vacate(Live<Kind> object) {
        const std::uint32_t slot = slot_of(object->id);
        bury(object);
        object->next_vacant = std::exchange(vacant_, slot);
    }

    // Ends an object of unknown fate: its room stays out of use until `clear`.
    void bury(Live<Kind> object) {
        object->id = 0;
        --size_;
    }

    // Calls `visit(Live<Kind>)` for each object in slot order; `visit` may end that object.
    template <class Visit>
    void for_each(Visit visit) {
        for (std::uint32_t slot = 1; slot <= touched_; ++slot) {
            if (Entry<Kind>& entry = at(slot); entry.id != 0) {
                visit(Live<Kind>{entry});
            }
        }
    }

    // Forgets all objects; keeps the memory.
    void clear() {
        touched_ = 0;
        vacant_ = 0;
        size_ = 0;
    }

  private:
    static constexpr std::uint32_t slab_entries = 256;

    struct Slab {
        Entry<Kind>* entries = nullptr;
    };

    [[nodiscard]] Entry<Kind>& at(std::uint32_t slot) {
        return slabs_[(slot - 1) / slab_entries].entries[(slot - 1) % slab_entries];
    }

    Memory memory_;
    std::uint32_t count_max_;
    std::uint32_t touched_ = 0;  // slots that were ever occupied since the last `clear`
    std::uint32_t vacant_ = 0;   // the first of the vacant ones among them
    std::uint32_t size_ = 0;
    Array<Slab> slabs_;
};

}  // namespace virtaccel::device
