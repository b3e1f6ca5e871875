#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::Artifact;

namespace {

// The sample's artifact in pieces is the same program: it runs.
Check runs_in_pieces(Bench& bench, Cut where) {
    VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up());
    VIRTACCEL_TRY(bench.release(act.program));
    VIRTACCEL_TRY_ASSIGN(const auto prepared,
                         must(say("An artifact in pieces of (", where.every, ") bytes"),
                              bench.try_prepare(bench.sample().artifact, where)));
    VIRTACCEL_TRY_ASSIGN(const auto loaded,
                         must("A load", bench.backend().load(act.context, prepared)));
    act.program = loaded.program;
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

template <std::size_t every>
Check runs_in_pieces_of(Bench& bench) {
    return runs_in_pieces(bench, {.every = every});
}

Check runs_cut_after_the_first_byte(Bench& bench) {
    return runs_in_pieces(bench, {.first = 1});
}

Check runs_cut_in_the_middle(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    return runs_in_pieces(bench, {.first = bench.sample().artifact.size() / 2});
}

Check runs_cut_before_the_last_byte(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    return runs_in_pieces(bench, {.first = bench.sample().artifact.size() - 1});
}

// An artifact that may be used in place runs, whatever becomes of its bytes after `prepare`.
Check runs_from_its_place(Bench& bench) {
    constexpr std::size_t alignment = 64;
    VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up());
    VIRTACCEL_TRY(bench.release(act.program));
    const auto& artifact = bench.sample().artifact;
    Bytes room(artifact.size() + alignment);
    const auto past = reinterpret_cast<std::uintptr_t>(room.data()) % alignment;
    const auto place = std::span{room}.subspan((alignment - past) % alignment, artifact.size());
    std::ranges::copy(artifact, place.begin());
    const Piece piece{.data = place.data(), .size = place.size()};
    VIRTACCEL_TRY_ASSIGN(
        const auto prepared,
        must("An artifact that may be used in place",
             bench.backend().prepare({.format = bench.sample().format,
                                      .target = bench.sample().target,
                                      .resident_bytes_max = bench.sample().resident_bytes,
                                      .payload = Reader{PieceList::of({&piece, 1})},
                                      .refusals = {},
                                      .stable = place})));
    std::ranges::fill(room, std::byte{0xff});
    VIRTACCEL_TRY_ASSIGN(const auto loaded,
                         must("A load", bench.backend().load(act.context, prepared)));
    act.program = loaded.program;
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

// Something that is no artifact for this backend: what it is, whether it is made from the sample,
// and the statuses that say so.
struct Misfit {
    bool needs_sample = true;
    // Bends an artifact; its payload reads `bytes` afterwards.
    void (*bend)(Artifact& artifact, Bytes& bytes) = nullptr;
    std::array<Status, 3> reasons{};
    Lease lease{};
};

constexpr std::uint32_t epoch_now = 7;

constexpr Misfit unknown_format{
    .needs_sample = false,
    .bend = [](Artifact& artifact, Bytes&) { artifact.format = 0x7fffffff; },
    .reasons = {Status::unsupported, Status::unsupported, Status::unsupported}};
constexpr Misfit last_format{
    .needs_sample = false,
    .bend = [](Artifact& artifact, Bytes&) { artifact.format = 0xffffffff; },
    .reasons = {Status::unsupported, Status::unsupported, Status::unsupported}};
constexpr Misfit other_target{
    .bend = [](Artifact& artifact, Bytes&) { artifact.target.fill(0xffffffff); },
    .reasons = {Status::incompatible, Status::unsupported, Status::unsupported}};
constexpr Misfit no_target{
    .bend = [](Artifact& artifact, Bytes&) { artifact.target = {}; },
    .reasons = {Status::incompatible, Status::unsupported, Status::unsupported}};
// Malformed bytes may look like a version or an operator that is not here.
constexpr std::array malformed{Status::invalid_argument, Status::incompatible, Status::unsupported};
constexpr Misfit no_bytes{.bend = [](Artifact&, Bytes& bytes) { bytes.clear(); },
                          .reasons = malformed};
constexpr Misfit one_byte{.bend = [](Artifact&, Bytes& bytes) { bytes.resize(1); },
                          .reasons = malformed};
constexpr Misfit first_half{.bend = [](Artifact&, Bytes& bytes) { bytes.resize(bytes.size() / 2); },
                            .reasons = malformed};
constexpr Misfit zeros{
    .bend = [](Artifact&, Bytes& bytes) { std::ranges::fill(bytes, std::byte{}); },
    .reasons = malformed};
constexpr Misfit ones{
    .bend = [](Artifact&, Bytes& bytes) { std::ranges::fill(bytes, std::byte{0xff}); },
    .reasons = malformed};
constexpr Misfit reversed{.bend = [](Artifact&, Bytes& bytes) { std::ranges::reverse(bytes); },
                          .reasons = malformed};
constexpr Misfit one_resident_byte{
    .bend = [](Artifact& artifact, Bytes&) { artifact.resident_bytes_max = 1; },
    .reasons = {Status::resource_limit, Status::incompatible, Status::unsupported}};
// Its bytes may not be read any more: nobody can say what it was.
constexpr Misfit revoked{
    .bend = [](Artifact&, Bytes&) {},
    .reasons = {Status::internal_error, Status::invalid_argument, Status::incompatible},
    .lease = {.live = &epoch_now, .epoch = 6}};

Result<backend::PreparedHandle> prepare(const Direct& direct, const Misfit& misfit,
                                        backend::RefusalSink sink) {
    Artifact artifact;
    Bytes bytes(64, std::byte{0x11});
    if (direct.subject().program) {
        const SampleProgram& sample = direct.sample();
        artifact.format = sample.format;
        artifact.target = sample.target;
        artifact.resident_bytes_max = sample.resident_bytes;
        bytes = sample.artifact;
    }
    misfit.bend(artifact, bytes);
    const auto pieces = cut(bytes, {.every = 17});
    artifact.payload = Reader{PieceList::of(pieces, misfit.lease)};
    artifact.refusals = sink;
    return direct.backend().prepare(artifact);
}

Check expect_refused(const Direct& direct, const Misfit& misfit, backend::RefusalSink sink = {}) {
    const auto prepared = prepare(direct, misfit, sink);
    if (prepared) {
        direct.backend().abandon(*prepared);
        return failed("What is no artifact for this backend is taken.");
    }
    return expect(std::ranges::find(misfit.reasons, prepared.error()) != misfit.reasons.end(),
                  "What is no artifact for this backend is refused with (", prepared.error(),
                  "); the status for it is (", misfit.reasons[0], ").");
}

// Refused with the right status, many times, and nothing is kept; a good one is taken afterwards.
template <const Misfit& misfit>
Check is_refused(Bench& bench) {
    if (misfit.needs_sample) {
        VIRTACCEL_TRY(bench.need_sample());
    }
    const auto before = bench.books();
    for (int round = 0; round < 16; ++round) {
        VIRTACCEL_TRY(expect_refused(bench, misfit));
    }
    VIRTACCEL_TRY(bench.expect_books(before, "after refused artifacts"));
    if (!bench.subject().program) {
        return {};
    }
    VIRTACCEL_TRY_ASSIGN(const auto prepared, bench.prepare());
    bench.backend().abandon(prepared);
    return bench.expect_books(before, "after an abandoned artifact");
}

struct Lines {
    std::vector<std::string> lines;

    [[nodiscard]] backend::RefusalSink sink() {
        return {.state = this, .say = [](void* state, std::string_view line) {
                    static_cast<Lines*>(state)->lines.emplace_back(line);
                }};
    }
};

// A person hears at least one full sentence for it, on one line.
template <const Misfit& misfit>
Check says_why(Bench& bench) {
    if (misfit.needs_sample) {
        VIRTACCEL_TRY(bench.need_sample());
    }
    Lines heard;
    VIRTACCEL_TRY(expect_refused(bench, misfit, heard.sink()));
    VIRTACCEL_TRY(
        expect(!heard.lines.empty(), "The backend refuses an artifact and says nothing."));
    for (const std::string& line : heard.lines) {
        VIRTACCEL_TRY(
            expect(line.size() > 1 && line.ends_with('.') && line.find('\n') == std::string::npos,
                   "The reason (", line, ") is not one full sentence."));
    }
    return {};
}

Check says_nothing_for_a_good_one(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    Lines heard;
    constexpr Misfit fit{.bend = [](Artifact&, Bytes&) {}, .reasons = malformed};
    VIRTACCEL_TRY_ASSIGN(const auto prepared,
                         must("The preparation of the sample", prepare(bench, fit, heard.sink())));
    bench.backend().abandon(prepared);
    return expect(heard.lines.empty(), "A good artifact is taken, and the backend says (",
                  heard.lines.empty() ? std::string{} : heard.lines[0], ").");
}

constexpr std::array rules{
    Rule{"artifact.pieces-of-1-byte", "an artifact in single bytes runs", runs_in_pieces_of<1>},
    Rule{"artifact.pieces-of-2-bytes", "an artifact in pieces of 2 runs", runs_in_pieces_of<2>},
    Rule{"artifact.pieces-of-3-bytes", "an artifact in pieces of 3 runs", runs_in_pieces_of<3>},
    Rule{"artifact.pieces-of-5-bytes", "an artifact in pieces of 5 runs", runs_in_pieces_of<5>},
    Rule{"artifact.pieces-of-8-bytes", "an artifact in pieces of 8 runs", runs_in_pieces_of<8>},
    Rule{"artifact.pieces-of-13-bytes", "an artifact in pieces of 13 runs", runs_in_pieces_of<13>},
    Rule{"artifact.pieces-of-64-bytes", "an artifact in pieces of 64 runs", runs_in_pieces_of<64>},
    Rule{"artifact.one-piece", "an artifact in one piece runs", runs_in_pieces_of<0>},
    Rule{"artifact.cut-after-the-first-byte", "an artifact cut after its first byte runs",
         runs_cut_after_the_first_byte},
    Rule{"artifact.cut-in-the-middle", "an artifact cut in two halves runs",
         runs_cut_in_the_middle},
    Rule{"artifact.cut-before-the-last-byte", "an artifact cut before its last byte runs",
         runs_cut_before_the_last_byte},
    Rule{"artifact.in-place", "an artifact that may be used in place is kept no longer than that",
         runs_from_its_place},
    Rule{"artifact.unknown-format-is-refused", "a format that nobody knows is UNSUPPORTED",
         is_refused<unknown_format>},
    Rule{"artifact.last-format-is-refused", "the format 0xffffffff is UNSUPPORTED",
         is_refused<last_format>},
    Rule{"artifact.other-target-is-refused", "other target words are INCOMPATIBLE",
         is_refused<other_target>},
    Rule{"artifact.no-target-is-refused", "no target words are INCOMPATIBLE",
         is_refused<no_target>},
    Rule{"artifact.no-bytes-are-refused", "an artifact of no bytes is refused",
         is_refused<no_bytes>},
    Rule{"artifact.one-byte-is-refused", "an artifact cut after one byte is refused",
         is_refused<one_byte>},
    Rule{"artifact.first-half-is-refused", "the first half of an artifact is refused",
         is_refused<first_half>},
    Rule{"artifact.zeros-are-refused", "as many zeros are refused", is_refused<zeros>},
    Rule{"artifact.ones-are-refused", "as many ones are refused", is_refused<ones>},
    Rule{"artifact.reversed-is-refused", "the bytes in reverse are refused", is_refused<reversed>},
    Rule{"artifact.one-resident-byte-is-refused", "a ceiling of one resident byte is too low",
         is_refused<one_resident_byte>},
    Rule{"artifact.revoked-is-refused", "an artifact whose bytes may not be read is refused",
         is_refused<revoked>},
    Rule{"artifact.says-why-of-a-format", "an unknown format is refused with a sentence",
         says_why<unknown_format>},
    Rule{"artifact.says-why-of-a-target", "other target words are refused with a sentence",
         says_why<other_target>},
    Rule{"artifact.says-why-of-half-a-one", "half an artifact is refused with a sentence",
         says_why<first_half>},
    Rule{"artifact.says-why-of-a-low-ceiling", "too low a ceiling is refused with a sentence",
         says_why<one_resident_byte>},
    Rule{"artifact.says-nothing-of-a-good-one", "a good artifact is taken without a word",
         says_nothing_for_a_good_one},
};

}  // namespace

Rules artifact_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further
