// What this project makes of frames, for wire_differential.py to compare with the clean room: a
// real device judges requests, a real client responses and configurations. Items come on standard
// input, one line of JSON for each goes to standard output. The one thing to know: nothing here
// decides anything; the shape of an item is in wire_differential.py.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace {

namespace guest = virtaccel::guest;
namespace wire = virtaccel::wire;

using guest::FailureKind;
using virtaccel::Status;
using wire::Opcode;
using Bytes = std::vector<std::byte>;

constexpr std::uint16_t chain_descriptors_max = 16;
// No host is poor here: budgets come before objects, and the clean room knows of none.
constexpr std::uint64_t budget_bytes = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t area_bytes = 1024;

// JSON, as far as it is needed.
std::string text(std::uint64_t number) {
    return std::to_string(number);
}

std::string quoted(std::string_view word) {
    std::string text = "\"";
    text += word;
    text += '"';
    return text;
}

std::string hex(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string word;
    for (const std::byte byte : bytes) {
        word += digits[std::to_integer<std::size_t>(byte) / 16];
        word += digits[std::to_integer<std::size_t>(byte) % 16];
    }
    return quoted(word);
}

template <class T>
std::string text_of(const wire::Le<T>& member) {
    return text(T{member});
}

template <class KindTag>
std::string text_of(const wire::LeId<KindTag>& member) {
    const virtaccel::Id<KindTag> id = member;
    return text(id.raw);
}

template <std::size_t count>
std::string text_of(const wire::Reserved<count>& member) {
    return hex(std::as_bytes(std::span{member.bytes}));
}

template <std::size_t count>
std::string text_of(const std::array<wire::le32, count>& member) {
    std::string list;
    for (const wire::le32& word : member) {
        list += (list.empty() ? "" : ", ") + text_of(word);
    }
    return "[" + list + "]";
}

// The fields of a record by their names in the protocol.
template <class Record>
std::string fields_of(const Record& record) {
    std::string members;
    std::apply(
        [&](const auto&... field) {
            ((members += (members.empty() ? "" : ", ") + quoted(field.name) + ": " +
                         text_of(record.*field.member)),
             ...);
        },
        wire::Schema<Record>::fields);
    return "{" + members + "}";
}

// The device's limits, as an item has them.
struct Limits {
    std::uint32_t request_bytes_max = 0;
    std::uint32_t response_bytes_max = 0;
    std::uint32_t bindings_max = 0;
    std::uint64_t buffer_bytes_max = 0;
    std::uint64_t artifact_bytes_max = 0;
    std::uint64_t capabilities = 0;
};

class Input {
  public:
    // False at the end of the input.
    [[nodiscard]] bool next() {
        kind_ = std::getchar();
        return kind_ != EOF;
    }

    [[nodiscard]] char kind() const { return static_cast<char>(kind_); }

    [[nodiscard]] std::uint64_t number(std::size_t width) {
        const Bytes read = bytes(width);
        std::uint64_t number = 0;
        for (std::size_t i = width; i-- > 0;) {
            number = number << 8U | std::to_integer<std::uint64_t>(read[i]);
        }
        return number;
    }

    [[nodiscard]] std::uint32_t word() { return static_cast<std::uint32_t>(number(4)); }

    [[nodiscard]] Bytes bytes(std::size_t count) {
        Bytes bytes(count);
        VIRTACCEL_CHECK(std::fread(bytes.data(), 1, count, stdin) == count);
        return bytes;
    }

    [[nodiscard]] Bytes frame() { return bytes(word()); }

  private:
    int kind_ = EOF;
};

virtaccel::Result<virtaccel::backend::AnyBackend> make_backend(void* state) {
    const auto memory = virtaccel::host::heap();
    return virtaccel::backend::make_owned<virtaccel::mock::Reference>(
        memory, memory, *static_cast<const virtaccel::mock::ReferenceOptions*>(state));
}

// What the wire reads in a request whose header it knows: the fixed part and the bindings.
template <class Row>
std::string request_fields(const Row& row, std::span<const std::byte> payload) {
    using Request = typename Row::Request;
    if constexpr (std::is_empty_v<Request>) {
        return "\"fields\": {}";
    } else {
        if (payload.size() < sizeof(Request)) {
            return "\"fields\": null";
        }
        std::string members = "\"fields\": " + fields_of(wire::load<Request>(payload.data()));
        if (row.request_tail == wire::Tail::bindings) {
            std::string list;
            for (std::size_t at = sizeof(Request); at + sizeof(wire::Binding) <= payload.size();
                 at += sizeof(wire::Binding)) {
                list += (list.empty() ? "" : ", ") +
                        fields_of(wire::load<wire::Binding>(payload.data() + at));
            }
            members += ", \"bindings\": [" + list + "]";
        }
        return members;
    }
}

std::string fields_in(std::span<const std::byte> frame) {
    std::string members = "\"fields\": null";
    if (frame.size() < sizeof(wire::RequestHeader)) {
        return members;
    }
    const auto header = wire::load<wire::RequestHeader>(frame.data());
    const auto payload = frame.subspan(sizeof header);
    std::apply(
        [&](const auto&... row) {
            ((header.opcode == static_cast<std::uint16_t>(row.opcode)
                  ? static_cast<void>(members = request_fields(row, payload))
                  : static_cast<void>(0)),
             ...);
        },
        wire::commands);
    return members;
}

std::string judge_request(Input& input) {
    const Limits limits{.request_bytes_max = input.word(),
                        .response_bytes_max = input.word(),
                        .bindings_max = input.word(),
                        .buffer_bytes_max = input.number(8),
                        .artifact_bytes_max = input.number(8),
                        .capabilities = input.number(8)};
    const std::uint32_t capacity = input.word();
    const Bytes frame = input.frame();
    virtaccel::mock::ReferenceOptions backend;
    backend.identity.capabilities = virtaccel::Capabilities{limits.capabilities};
    backend.identity.limits.bindings_per_submission = limits.bindings_max;
    backend.identity.limits.buffer_bytes = limits.buffer_bytes_max;
    backend.identity.limits.artifact_bytes = limits.artifact_bytes_max;
    virtaccel::device::Options options;
    options.config.chain_descriptors_max = chain_descriptors_max;
    options.config.request_bytes_max = limits.request_bytes_max;
    options.config.response_bytes_max = limits.response_bytes_max;
    options.policy = {.buffer_bytes_max = budget_bytes, .program_resident_bytes_max = budget_bytes};
    auto endpoint = virtaccel::device::Endpoint::make(
        virtaccel::host::heap(), {.state = &backend, .make = make_backend}, options);
    VIRTACCEL_CHECK(endpoint.has_value());
    Bytes response(capacity);
    const auto served = endpoint->device().serve(frame, response);
    return "{\"used\": " + text(served.used_bytes) +
           ", \"response\": " + hex(std::span{response}.first(served.used_bytes)) + ", " +
           fields_in(frame) + "}";
}

// A client that has just asked one thing, and where the answer goes.
class Asked {
  public:
    Asked(std::uint32_t response_bytes_max, Opcode opcode, std::uint32_t read_bytes)
        : client_(make_client(port_, response_bytes_max)), chain_(make_chain()) {
        VIRTACCEL_CHECK(ask(opcode, read_bytes).has_value());
    }

    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

    ~Asked() {
        static_cast<void>(client_.finish_reset(config(area_bytes)));
        while (client_.next() != nullptr) {
        }
    }

    [[nodiscard]] std::uint64_t request_id() const {
        return port_.posted.front().header.request_id;
    }

    // What comes of an answer of `used` bytes.
    [[nodiscard]] std::string answer(std::span<const std::byte> response, std::uint32_t used) {
        const guest::testing::Posted request = port_.posted.front();
        virtaccel::Writer writer{virtaccel::PieceList::of(request.writable)};
        VIRTACCEL_CHECK(writer.copy_from(response.data(), response.size()));
        port_.completions.push_back({.cookie = request.cookie, .used_bytes = used});
        VIRTACCEL_CHECK(client_.next() == &chain_);
        std::string outcome;
        std::apply(
            [&](const auto&... row) {
                ((chain_.opcode() == row.opcode
                      ? static_cast<void>(
                            outcome = outcome_of<std::remove_cvref_t<decltype(row)>::opcode>())
                      : static_cast<void>(0)),
                 ...);
            },
            wire::commands);
        return outcome;
    }

  private:
    static wire::Config config(std::uint32_t response_bytes_max) {
        wire::Config config;
        config.chain_descriptors_max = chain_descriptors_max;
        config.request_bytes_max = 1U << 20U;
        config.response_bytes_max = response_bytes_max;
        return config;
    }

    static guest::Client make_client(guest::testing::ScriptedPort& port,
                                     std::uint32_t response_bytes_max) {
        auto client =
            guest::Client::make(port, config(response_bytes_max), virtaccel::host::heap());
        VIRTACCEL_CHECK(client.has_value());
        return *std::move(client);
    }

    static guest::Chain make_chain() {
        auto chain = guest::Chain::make(virtaccel::host::heap(), area_bytes);
        VIRTACCEL_CHECK(chain.has_value());
        return *std::move(chain);
    }

    guest::Outcome<void> ask(Opcode opcode, std::uint32_t read_bytes) {
        switch (opcode) {
            case Opcode::get_device_info:
                return client_.get_device_info(chain_);
            case Opcode::create_context:
                return client_.create_context(chain_);
            case Opcode::destroy_context:
                return client_.release(chain_, context_);
            case Opcode::allocate_buffer:
                return client_.allocate_buffer(chain_, context_,
                                               {.bytes = 64, .usage = virtaccel::Usage{1}});
            case Opcode::free_buffer:
                return client_.release(chain_, buffer_);
            case Opcode::write_buffer:
                return client_.write_buffer(chain_, buffer_, 0, data_);
            case Opcode::read_buffer:
                return client_.read_buffer(chain_, buffer_, {.offset = 0, .bytes = read_bytes});
            case Opcode::load_program:
                return client_.load_program(chain_, context_, {.format = 1, .artifact = data_});
            case Opcode::unload_program:
                return client_.release(chain_, program_);
            case Opcode::create_queue:
                return client_.create_queue(chain_, context_);
            case Opcode::destroy_queue:
                return client_.release(chain_, queue_);
            case Opcode::submit: {
                const guest::Binding binding{.buffer = &buffer_,
                                             .range = {.offset = 0, .bytes = 1}};
                return client_.submit(
                    chain_, {.queue = queue_, .program = program_, .bindings = {&binding, 1}});
            }
            case Opcode::poll_event:
                return client_.poll_event(chain_, event_);
            case Opcode::cancel_event:
                return client_.cancel_event(chain_, event_);
            case Opcode::destroy_event:
                return client_.release(chain_, event_);
        }
        return {};
    }

    static std::string failed(const guest::Failure& failure, std::string_view more = {}) {
        if (failure.kind == FailureKind::recovery_required) {
            return R"({"outcome": "recover"})";
        }
        return R"({"outcome": "failure", "status_value": )" +
               text(static_cast<std::uint16_t>(failure.status)) + std::string{more} + "}";
    }

    static std::string succeeded(std::string_view fields, std::string_view more = {}) {
        return R"({"outcome": "success", "fields": )" + std::string{fields} + std::string{more} +
               "}";
    }

    static std::string object(std::uint64_t raw) { return "{\"object_id\": " + text(raw) + "}"; }

    template <Opcode op>
    std::string outcome_of() {
        auto result = client_.result<op>(chain_);
        if constexpr (guest::detail::is_release<op>) {
            return result
                       ? succeeded("{}")
                       : failed(result.error().failure,
                                result.error().handle ? ", \"kept\": true" : ", \"kept\": false");
        } else {
            if (!result) {
                return failed(result.error());
            }
            if constexpr (std::is_void_v<typename decltype(result)::value_type>) {
                return succeeded("{}");
            } else {
                return success_of<op>(*std::move(result));
            }
        }
    }

    template <Opcode op, class Value>
    static std::string success_of(const Value& value) {
        if constexpr (op == Opcode::submit) {
            const auto event = object(value.event.id().raw);
            return value.status == Status::ok ? succeeded(event)
                                              : R"({"outcome": "indeterminate", "status_value": )" +
                                                    text(static_cast<std::uint16_t>(value.status)) +
                                                    ", \"fields\": " + event + "}";
        } else if constexpr (op == Opcode::get_device_info) {
            return succeeded(fields_of(wire::to_record(value)));
        } else if constexpr (op == Opcode::poll_event) {
            return succeeded("{\"state\": " + text(static_cast<std::uint16_t>(value.phase)) +
                             ", \"error\": " + text(static_cast<std::uint16_t>(value.error)) +
                             ", \"reserved\": 0}");
        } else if constexpr (op == Opcode::read_buffer) {
            return succeeded("{}", ", \"data\": " + hex(value));
        } else {
            return succeeded(object(value.id().raw));
        }
    }

    guest::testing::ScriptedPort port_;
    guest::Client client_;
    guest::Chain chain_;
    Bytes data_ = Bytes(3);
    guest::ContextHandle context_ = client_.adopt(virtaccel::ContextId{11});
    guest::BufferHandle buffer_ = client_.adopt(virtaccel::BufferId{12});
    guest::ProgramHandle program_ = client_.adopt(virtaccel::ProgramId{13});
    guest::QueueHandle queue_ = client_.adopt(virtaccel::QueueId{14});
    guest::EventHandle event_ = client_.adopt(virtaccel::EventId{15});
};

std::string judge_response(Input& input) {
    const auto opcode = static_cast<Opcode>(input.number(2));
    const std::uint32_t response_bytes_max = input.word();
    const std::uint32_t read_bytes = input.word();
    const std::uint32_t used = input.word();
    const Bytes response = input.frame();
    return Asked{response_bytes_max, opcode, read_bytes}.answer(response, used);
}

std::string judge_config(Input& input) {
    const Bytes bytes = input.frame();
    VIRTACCEL_CHECK(bytes.size() >= sizeof(wire::Config));
    const auto config = wire::load<wire::Config>(bytes.data());
    guest::testing::ScriptedPort port;
    const auto client = guest::Client::make(port, config, virtaccel::host::heap());
    return R"({"outcome": )" + quoted(client ? "config" : "refused") +
           ", \"fields\": " + fields_of(config) + "}";
}

std::string judge(Input& input) {
    switch (input.kind()) {
        case 'q':
            return judge_request(input);
        case 'r':
            return judge_response(input);
        default:
            return judge_config(input);
    }
}

// The ID of a client's first request, then a verdict for each item.
void judge_all() {
    const Asked first{area_bytes, Opcode::get_device_info, 0};
    std::printf("{\"request_id\": %s}\n", text(first.request_id()).c_str());
    std::fflush(stdout);
    Input input;
    while (input.next()) {
        std::printf("%s\n", judge(input).c_str());
        std::fflush(stdout);
    }
}

}  // namespace

int main() {
    try {
        judge_all();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wire_judge: there is no memory (%s).\n", error.what());
        return 1;
    }
    return 0;
}
