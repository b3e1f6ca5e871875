#pragma once
// Where the parts of large artifacts are kept until they are joined (spec/parts.md), once for all
// backends. The first part of an artifact reserves one block for all of it, later ones are copied
// straight into that block, and a join shows it to a backend as it stands. The one thing to know:
// parts never reach a backend, and a backend never sees that an artifact came in parts.

#include <cstdint>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/pool.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/result.h"

namespace virtaccel::backend {

struct Part;

// An artifact that is coming in parts, or has come. Its bytes change only while a part is loaded.
struct PartedArtifact {
    parts::Key key{};
    Piece bytes;                      // null in a record that nobody has
    std::uint64_t arrived_bytes = 0;  // in the parts that live, which do not overlap
    std::uint32_t joins = 0;          // under way
    Part* first_part = nullptr;
    PartedArtifact* next = nullptr;
    PartedArtifact* previous = nullptr;
};

// One part that lives, and where its owner keeps what it is charged for.
struct Part {
    PartedArtifact* artifact = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t* charged_bytes = nullptr;
    Part* next = nullptr;
    Part* previous = nullptr;
};

// The parted artifacts of one context.
struct PartedArtifacts {
    PartedArtifact* first = nullptr;
};

// A part that was taken in, and what it costs: the first of its artifact costs all of it.
struct LoadedPart {
    Part* part = nullptr;
    std::uint64_t resident_bytes = 0;
};

// What a join makes: all bytes of an artifact, and its format.
struct Joined {
    PartedArtifact* artifact = nullptr;
    std::uint32_t format = 0;
};

// For one thread; the bytes of an artifact whose join is under way may be read from any.
class Parts {
  public:
    // Records come from one memory, the bytes of artifacts from another; both outlive this.
    Parts(const Memory& records, const Memory& bytes)
        : bytes_(bytes), artifacts_(records), parts_(records) {}

    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    // Gives back everything, live or not.
    ~Parts();

    // Takes a part of a format `parts::part_format` into `context`. `artifact_bytes_max` bounds
    // what parts may make, `artifact.resident_bytes_max` what this one may cost. Nothing changes on
    // failure:
    //   INCOMPATIBLE       other target words; another total than the key's other parts
    //   INVALID_ARGUMENT   too short a payload; a total or a range of nothing; a range without an
    //                      end; bytes that are there already
    //   OUT_OF_BOUNDS      a range past the total
    //   RESOURCE_LIMIT     too much of it
    //   OUT_OF_MEMORY      and
    //   INTERNAL_ERROR     if the payload's lease ended, when nobody is left to hear it
    [[nodiscard]] Result<LoadedPart> load(PartedArtifacts& context, const Artifact& artifact,
                                          std::uint64_t artifact_bytes_max);

    // True if a join of the part's key is under way, so that it may not be unloaded.
    [[nodiscard]] static bool is_in_use(const Part& part) { return part.artifact->joins != 0; }

    // Ends a part. What its artifact costs is charged to another part of it from now on, if there
    // is one; without any, the artifact's bytes go when the joins that read them have ended.
    void unload(PartedArtifacts& context, Part& part);

    // What an artifact of format `parts::join_format` names in `context`:
    //   INVALID_ARGUMENT   a payload that is none; parts that are missing, all of them for a key
    //                      that the context does not have
    //   UNSUPPORTED        a part or a join as the format of what is made
    //   INTERNAL_ERROR     as above
    [[nodiscard]] static Result<Joined> join(const PartedArtifacts& context,
                                             const Artifact& artifact);

    // Between the two its parts may not be unloaded, and so its bytes stay as they are: a part that
    // comes now would overlap one that is there.
    static void begin_join(PartedArtifact& artifact) { ++artifact.joins; }

    void end_join(PartedArtifact& artifact);

    // `artifact` with the bytes and the format of what a join makes, instead of its own.
    [[nodiscard]] static Artifact artifact_of(const Joined& joined, const Artifact& artifact);

  private:
    [[nodiscard]] PartedArtifact* reserve(PartedArtifacts& context, const parts::PartHead& head);
    void drop(PartedArtifacts& context, PartedArtifact& artifact);
    void release(PartedArtifact& artifact);

    Memory bytes_;
    Pool<PartedArtifact> artifacts_;
    Pool<Part> parts_;
};

}  // namespace virtaccel::backend
