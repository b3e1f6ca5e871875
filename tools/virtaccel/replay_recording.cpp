#include "tools/virtaccel/replay_recording.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "host/clock.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/recording.h"
#include "tools/virtaccel/refusals.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli {
namespace {

using Bytes = std::vector<std::byte>;
using wire::Opcode;

constexpr std::size_t header_bytes = sizeof(wire::RequestHeader);
constexpr std::uint64_t budget_bytes = std::uint64_t{1} << 40U;
// How long a recorded end of an event is waited for, and between two looks.
constexpr std::uint64_t patience_ns = 60'000'000'000;
constexpr std::uint64_t pause_ns = 100'000;

std::optional<Opcode> opcode_of(std::span<const std::byte> request) {
    if (request.size() < header_bytes) {
        return std::nullopt;
    }
    const auto header = wire::load<wire::RequestHeader>(request.data());
    return wire::command_index(header.opcode) == wire::command_count
               ? std::nullopt
               : std::optional{static_cast<Opcode>(std::uint16_t{header.opcode})};
}

std::string_view name_of(std::optional<Opcode> opcode) {
    return opcode ? wire::opcode_name(static_cast<std::uint16_t>(*opcode)) : "no command";
}

// An answer as a replay compares it.
struct Answered {
    bool silent = true;
    std::uint16_t status = 0;
    std::span<const std::byte> payload;
};

Answered look_at(std::span<const std::byte> response) {
    if (response.size() < header_bytes) {
        return {};
    }
    const auto header = wire::load<wire::ResponseHeader>(response.data());
    return {.silent = false, .status = header.status, .payload = response.subspan(header_bytes)};
}

std::string text_of(const Answered& answered) {
    if (answered.silent) {
        return "nothing";
    }
    return fmt::format("{} with {} bytes of payload",
                       status_name(static_cast<Status>(answered.status)), answered.payload.size());
}

// Where an ID stands in a request, as far as the request goes.
std::vector<std::size_t> places_of_ids(std::span<const std::byte> request) {
    const auto opcode = opcode_of(request);
    std::vector<std::size_t> places;
    if (!opcode || *opcode == Opcode::get_device_info || *opcode == Opcode::create_context) {
        return places;
    }
    places.push_back(header_bytes);
    if (*opcode == Opcode::submit) {
        places.push_back(header_bytes + offsetof(wire::Submit, program_id));
        for (std::size_t at = header_bytes + sizeof(wire::Submit); at < request.size();
             at += sizeof(wire::Binding)) {
            places.push_back(at);
        }
    }
    std::erase_if(
        places, [&](std::size_t place) { return place + sizeof(std::uint64_t) > request.size(); });
    return places;
}

// Whether an answer to such a request names a new object.
bool gives_id(std::optional<Opcode> opcode, const Answered& answered) {
    const bool creates = opcode == Opcode::create_context || opcode == Opcode::allocate_buffer ||
                         opcode == Opcode::load_program || opcode == Opcode::create_queue ||
                         opcode == Opcode::submit;
    return creates && !answered.silent && answered.payload.size() == sizeof(std::uint64_t);
}

std::uint64_t id_at(const std::byte* bytes) {
    wire::le64 id;
    std::memcpy(&id, bytes, sizeof id);
    return id;
}

class Replay {
  public:
    Replay(const Recording& recording, device::Endpoint& endpoint)
        : recording_(&recording), endpoint_(&endpoint) {}

    // The first difference, as a sentence.
    [[nodiscard]] std::optional<std::string> run() {
        for (std::size_t i = 0; i < recording_->entries.size(); ++i) {
            const auto* const exchange = std::get_if<Exchange>(&recording_->entries[i]);
            if (exchange == nullptr) {
                static_cast<void>(endpoint_->reset());
                continue;
            }
            if (auto difference = send(*exchange)) {
                return fmt::format("They part at the entry ({}), a {}: {}", i + 1,
                                   name_of(opcode_of(exchange->request)), *difference);
            }
        }
        return std::nullopt;
    }

    // Reads whose bytes are the recorded ones, and all reads.
    [[nodiscard]] std::size_t equal_reads() const { return equal_reads_; }

    [[nodiscard]] std::size_t reads() const { return reads_; }

  private:
    [[nodiscard]] std::optional<std::string> send(const Exchange& exchange) {
        Bytes request = exchange.request;
        for (const auto place : places_of_ids(request)) {
            if (const auto found = ids_.find(id_at(request.data() + place)); found != ids_.end()) {
                const wire::le64 id = found->second;
                std::memcpy(request.data() + place, &id, sizeof id);
            }
        }
        const auto opcode = opcode_of(request);
        const Answered recorded = look_at(exchange.response);
        Bytes response(exchange.capacity);
        Answered actual = serve(request, response);
        const auto end_ns = host::now_ns() + patience_ns;
        while (opcode == Opcode::poll_event && has_ended(recorded) && is_pending(actual) &&
               host::now_ns() < end_ns) {
            host::pause_ns(pause_ns);
            actual = serve(request, response);
        }
        if (actual.silent != recorded.silent || actual.status != recorded.status ||
            actual.payload.size() != recorded.payload.size()) {
            return fmt::format("the device answers ({}) and the recording has ({}).",
                               text_of(actual), text_of(recorded));
        }
        if (opcode == Opcode::poll_event && has_ended(recorded) &&
            !std::ranges::equal(actual.payload, recorded.payload)) {
            return "the event ends in another way than the recording says.";
        }
        if (gives_id(opcode, actual)) {
            ids_[id_at(recorded.payload.data())] = id_at(actual.payload.data());
        }
        if (opcode == Opcode::read_buffer && !actual.payload.empty()) {
            ++reads_;
            equal_reads_ += std::ranges::equal(actual.payload, recorded.payload) ? 1 : 0;
        }
        return std::nullopt;
    }

    [[nodiscard]] Answered serve(std::span<const std::byte> request, Bytes& response) {
        const auto served = endpoint_->device().serve(request, response);
        return look_at(std::span{response}.first(served.used_bytes));
    }

    [[nodiscard]] static std::optional<std::uint16_t> state_in(const Answered& answered) {
        return answered.payload.size() != sizeof(wire::EventState)
                   ? std::nullopt
                   : std::optional{std::uint16_t{
                         wire::load<wire::EventState>(answered.payload.data()).state}};
    }

    [[nodiscard]] static bool is_pending(const Answered& answered) {
        return state_in(answered) == static_cast<std::uint16_t>(EventPhase::pending);
    }

    [[nodiscard]] static bool has_ended(const Answered& answered) {
        return state_in(answered) && !is_pending(answered);
    }

    const Recording* recording_;
    device::Endpoint* endpoint_;
    std::map<std::uint64_t, std::uint64_t> ids_;  // recorded ones to those of this device
    std::size_t reads_ = 0;
    std::size_t equal_reads_ = 0;
};

}  // namespace

OrFailure<void> replay_recording(const Recording& recording, const std::string& path,
                                 BackendChoice choice) {
    if (choice.name.empty()) {
        choice.name = recording.backend;
    }
    VIRTACCEL_TRY_ASSIGN(auto source, BackendSource::find(host::heap(), std::move(choice)));
    Refusals refusals;
    device::Options options;
    options.config = recording.config;
    options.policy = {.buffer_bytes_max = budget_bytes, .program_resident_bytes_max = budget_bytes};
    options.refusals = refusals.sink();
    auto endpoint = device::Endpoint::make(host::heap(), source.factory(), options);
    if (!endpoint) {
        return failure(fmt::format("The device over the backend ({}) cannot be made: {}",
                                   source.name(), device::explain(endpoint.error())),
                       Exit::usage);
    }
    Replay replay{recording, *endpoint};
    if (const auto difference = replay.run()) {
        return failure(
            fmt::format("The device over the backend ({}) and the recording ({}) do not "
                        "agree. {}",
                        source.name(), path, *difference));
    }
    return print_out(fmt::format(
        "The device over the backend ({}) and the recording ({}) agree on all entries ({}); of the "
        "reads ({}), those with the same bytes are ({}).\n",
        source.name(), path, recording.entries.size(), replay.reads(), replay.equal_reads()));
}

}  // namespace virtaccel::cli
