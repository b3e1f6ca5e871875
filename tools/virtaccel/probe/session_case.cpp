#include "tools/virtaccel/probe/session_case.h"

#include <array>
#include <cstdint>
#include <expected>
#include <string_view>

#include "adapters/stdio/driver_stream.h"
#include "adapters/stdio/framing.h"
#include "host/memory.h"
#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/request.h"
#include "tools/virtaccel/probe/world.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli::probe {
namespace {

constexpr std::uint32_t session_seed = 0x7e58fffe;
constexpr std::uint64_t patience_ns = 1'000'000'000;

// The configuration that a device on standard streams has unless it is told otherwise.
wire::Config usual_config() {
    wire::Config config;
    config.chain_descriptors_max = 16;
    config.request_bytes_max = 1U << 20U;
    config.response_bytes_max = 1U << 20U;
    return config;
}

// All of it, or where it went wrong. An event that stays pending is no fault of the device's.
guest::Outcome<void> copy_through(guest::Session& session, World& world, Probe& probe) {
    VIRTACCEL_TRY_ASSIGN(auto context, session.create_context());
    const auto artifact = mock::encode({.operation = mock::Operation::copy, .second_slot = 1});
    VIRTACCEL_TRY_ASSIGN(auto program,
                         context.load({.format = mock::reference_format,
                                       .target = mock::reference_target,
                                       .artifact = artifact,
                                       .resident_bytes = mock::reference_resident_bytes}));
    const guest::BufferSpec spec{
        .bytes = buffer_bytes,
        .domain = world.domain(),
        .usage = usage_transfer | UsageBit::program_input | UsageBit::program_output};
    VIRTACCEL_TRY_ASSIGN(auto source, context.allocate(spec));
    VIRTACCEL_TRY_ASSIGN(auto target, context.allocate(spec));
    VIRTACCEL_TRY_ASSIGN(auto queue, context.create_queue());
    const auto data = pattern(buffer_bytes, 77);
    VIRTACCEL_TRY(source.write(0, data));
    const std::array bindings{guest::bind(0, source, Access::read),
                              guest::bind(1, target, Access::write)};
    VIRTACCEL_TRY_ASSIGN(auto event, queue.submit(program, bindings));
    const auto status = event.wait(patience_ns);
    if (!status && status.error().cause == guest::Cause::time) {
        probe.note("note  the event stays pending: what it would do is not looked at");
        return {};
    }
    VIRTACCEL_TRY(status);
    VIRTACCEL_TRY(event.release());
    Bytes result(buffer_bytes);
    VIRTACCEL_TRY(target.read(0, result));
    probe.judge(result == data, "the guest library after a copy", "the bytes of its source");
    return {};
}

void judge_outcome(Probe& probe, std::string_view what, const guest::Outcome<void>& outcome) {
    if (outcome) {
        probe.judge(true, what, "no failure");
        return;
    }
    std::array<char, guest::description_bytes_max> room{};
    probe.note(guest::describe(outcome.error(), room));
    probe.judge(false, what, "no failure");
}

}  // namespace

void run_session(Probe& probe, adapters::stdio::DriverStream& stream) {
    using adapters::stdio::ResetReply;
    probe.note("case  the guest library");
    probe.resets("before the case", session_seed, {ResetReply::reused, ResetReply::rebuilt});
    World world{probe};
    auto session = guest::Session::open(stream.transport(usual_config()), host::heap());
    if (!session) {
        judge_outcome(probe, "the guest library, opening a session",
                      std::unexpected{session.error()});
        return;
    }
    judge_outcome(probe, "the guest library, copying a buffer",
                  copy_through(*session, world, probe));
    guest::Outcome<void> recovered = session->recover();
    judge_outcome(probe, "the guest library, resetting the device", recovered);
}

}  // namespace virtaccel::cli::probe
