#include "tools/virtaccel/probe/probe.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "adapters/stdio/framing.h"
#include "tools/virtaccel/probe/request.h"
#include "virtaccel/base/status.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli::probe {
namespace {

using adapters::stdio::ResetReply;

// What is wrong with a response apart from its status; empty if nothing is.
std::string fault_of(std::span<const std::byte> response, std::uint64_t request_id) {
    if (response.empty()) {
        return {};
    }
    if (response.size() < sizeof(wire::ResponseHeader)) {
        return fmt::format("a used length of {}", response.size());
    }
    const auto header = wire::load<wire::ResponseHeader>(response.data());
    const auto payload_bytes = response.size() - sizeof header;
    if (header.payload_bytes != payload_bytes) {
        return fmt::format("payload_bytes {} with {} bytes behind the header",
                           std::uint32_t{header.payload_bytes}, payload_bytes);
    }
    if (header.flags != 0) {
        return fmt::format("response flags {:#x}", std::uint16_t{header.flags});
    }
    if (header.request_id != request_id) {
        return fmt::format("the request ID {:#x} in place of {:#x}",
                           std::uint64_t{header.request_id}, request_id);
    }
    return {};
}

std::string shown(const Answer& answer) {
    if (answer.used_bytes == 0) {
        return "used length 0";
    }
    std::string text{status_name(answer.status)};
    if (text == "UNKNOWN") {
        text = fmt::format("status {}", static_cast<std::uint16_t>(answer.status));
    }
    return answer.payload.empty() ? text
                                  : fmt::format("{} and {} bytes", text, answer.payload.size());
}

std::string_view shown(ResetReply reply) {
    switch (reply) {
        case ResetReply::refused:
            return "refused";
        case ResetReply::reused:
            return "done, backend kept";
        case ResetReply::rebuilt:
            return "done, backend rebuilt";
    }
    return "unknown";
}

bool is_refusal(const Answer& answer, Status status) {
    return answer.used_bytes == sizeof(wire::ResponseHeader) && answer.status == status;
}

}  // namespace

void Probe::refuses(std::string_view what, const Request& request, Status wanted) {
    refuses_either(what, request, wanted, wanted);
}

void Probe::refuses_either(std::string_view what, const Request& request, Status ours,
                           Status other) {
    const auto answer = ask(what, request);
    if (!answer) {
        return;
    }
    const bool good = is_refusal(*answer, ours) || (!strict_ && is_refusal(*answer, other));
    const auto wanted = strict_ || ours == other
                            ? std::string{status_name(ours)}
                            : fmt::format("{} or {}", status_name(ours), status_name(other));
    settle(good, fmt::format("{} {}: {}{}", wire::opcode_name(request.opcode()), what,
                             shown(*answer), good ? "" : fmt::format(", {} is right", wanted)));
}

void Probe::ignores(std::string_view what, const Request& request) {
    const auto answer = ask(what, request);
    if (!answer) {
        return;
    }
    const bool good = answer->used_bytes == 0;
    settle(good, fmt::format("{} {}: {}{}", wire::opcode_name(request.opcode()), what,
                             shown(*answer), good ? "" : ", used length 0 is right"));
}

std::optional<Bytes> Probe::accepts(std::string_view what, const Request& request,
                                    std::size_t payload_bytes) {
    auto answer = ask(what, request);
    if (!answer) {
        return std::nullopt;
    }
    const bool good = answer->used_bytes == sizeof(wire::ResponseHeader) + payload_bytes &&
                      answer->status == Status::ok;
    settle(good,
           fmt::format("{} {}: {}{}", wire::opcode_name(request.opcode()), what, shown(*answer),
                       good ? "" : fmt::format(", OK and {} bytes is right", payload_bytes)));
    return good ? std::optional{std::move(answer->payload)} : std::nullopt;
}

std::optional<Answer> Probe::asks(std::string_view what, const Request& request) {
    auto answer = ask(what, request);
    if (answer && answer->used_bytes == 0) {
        settle(false, fmt::format("{} {}: used length 0, an answer is right",
                                  wire::opcode_name(request.opcode()), what));
        return std::nullopt;
    }
    return answer;
}

void Probe::resets(std::string_view what, std::uint32_t seed,
                   std::initializer_list<ResetReply> accepted) {
    if (!failure_.empty()) {
        return;
    }
    const auto reply = peer_->reset(seed);
    if (!reply) {
        failure_ = reply.error().message;
        settle(false, fmt::format("reset {}: {}", what, failure_));
        return;
    }
    const bool good = std::ranges::find(accepted, *reply) != accepted.end();
    settle(good,
           fmt::format("reset {}: {}{}", what, shown(*reply), good ? "" : ", which is wrong"));
}

void Probe::judge(bool good, std::string_view what, std::string_view wanted) {
    if (failure_.empty()) {
        settle(good, fmt::format("{}: {}{}", what, wanted, good ? "" : " is right, and is not so"));
    }
}

std::optional<Answer> Probe::ask(std::string_view what, const Request& request) {
    if (!failure_.empty()) {
        return std::nullopt;
    }
    const auto id = ++request_id_;
    Bytes response(request.capacity());
    const auto used = peer_->exchange(request.frame(id), response);
    const auto name = wire::opcode_name(request.opcode());
    if (!used || *used > response.size()) {
        failure_ = used ? "the used length exceeds the response" : used.error().message;
        settle(false, fmt::format("{} {}: {}", name, what, failure_));
        return std::nullopt;
    }
    response.resize(*used);
    const auto fault = fault_of(response, request.carried_id(id));
    if (!fault.empty()) {
        settle(false, fmt::format("{} {}: the response has {}", name, what, fault));
        return std::nullopt;
    }
    Answer answer;
    answer.used_bytes = *used;
    if (*used != 0) {
        const auto header = wire::load<wire::ResponseHeader>(response.data());
        answer.status = static_cast<Status>(std::uint16_t{header.status});
        answer.payload.assign(response.begin() + sizeof header, response.end());
    }
    return answer;
}

void Probe::settle(bool good, const std::string& line) {
    ++(good ? tally_.right : tally_.wrong);
    say_(fmt::format("{:<6}{}", good ? "ok" : "WRONG", line));
}

}  // namespace virtaccel::cli::probe
