#include "tools/print/records.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::print {
namespace {

// How a member is spelled: element width, element count, and whether it is opaque bytes.
template <class Member>
struct Spelling {
    static constexpr std::size_t width = sizeof(Member);
    static constexpr std::size_t count = 1;
    static constexpr bool opaque = false;
};

template <std::size_t bytes>
struct Spelling<wire::Reserved<bytes>> {
    static constexpr std::size_t width = 1;
    static constexpr std::size_t count = bytes;
    static constexpr bool opaque = true;
};

template <class T, std::size_t n>
struct Spelling<std::array<T, n>> {
    static constexpr std::size_t width = sizeof(T);
    static constexpr std::size_t count = n;
    static constexpr bool opaque = false;
};

template <class Record, class Member>
FieldData describe(const wire::Field<Record, Member>& field) {
    return {.name = std::string(field.name),
            .offset = wire::offset_of(field.member),
            .width = Spelling<Member>::width,
            .count = Spelling<Member>::count,
            .opaque = Spelling<Member>::opaque,
            .doc = std::string(field.doc)};
}

// The name of the field at `offset`.
std::string name_at(const std::vector<FieldData>& fields, std::size_t offset) {
    for (const FieldData& field : fields) {
        if (field.offset == offset) {
            return field.name;
        }
    }
    return {};
}

template <class... Checks>
void add_checks(RecordData& record, const std::tuple<Checks...>& checks) {
    const auto add = [&](const auto& check) {
        CheckData data{.fields = {}, .says = std::string(check.rule.says)};
        std::apply(
            [&](auto... member) {
                (data.fields.push_back(name_at(record.fields, wire::offset_of(member))), ...);
            },
            check.members);
        record.checks.push_back(std::move(data));
    };
    std::apply([&](const auto&... check) { (add(check), ...); }, checks);
}

template <wire::WireRecord R>
RecordData describe() {
    RecordData record{.name = std::string(wire::Schema<R>::name),
                      .doc = std::string(wire::Schema<R>::doc),
                      .bytes = sizeof(R),
                      .fields = {},
                      .checks = {}};
    std::apply([&](const auto&... field) { (record.fields.push_back(describe(field)), ...); },
               wire::Schema<R>::fields);
    add_checks(record, wire::Schema<R>::checks);
    if constexpr (requires { wire::Schema<R>::checks_after_tail; }) {
        record.checks.push_back(
            {.fields = {"binding"},
             .says = "each as below, then no slot twice, else INVALID_ARGUMENT"});
        add_checks(record, wire::Schema<R>::checks_after_tail);
    }
    return record;
}

std::string_view tail_name(wire::Tail tail) {
    switch (tail) {
        case wire::Tail::none:
            return "none";
        case wire::Tail::data:
            return "data";
        case wire::Tail::artifact:
            return "artifact";
        case wire::Tail::bindings:
            return "bindings";
    }
    return {};
}

template <class Record>
std::string record_name() {
    if constexpr (std::is_empty_v<Record>) {
        return {};
    } else {
        return std::string(wire::Schema<Record>::name);
    }
}

std::vector<RefusalData> describe_refusals(std::span<const wire::Refusal> refusals) {
    std::vector<RefusalData> described;
    for (const wire::Refusal& refusal : refusals) {
        described.push_back({.status = std::string(status_name(refusal.status)),
                             .when = std::string(refusal.when)});
    }
    return described;
}

template <class Row>
CommandData describe_command(const Row& row) {
    using Request = typename Row::Request;
    using Reply = typename Row::Reply;
    return {.opcode = static_cast<std::uint16_t>(row.opcode),
            .name = std::string(row.name),
            .doc = std::string(row.doc),
            .request = record_name<Request>(),
            .request_tail = std::string{tail_name(row.request_tail)},
            .reply = record_name<Reply>(),
            .reply_tail = std::string{tail_name(row.reply_tail)},
            .reply_bytes = sizeof(wire::ResponseHeader) + wire::fixed_bytes<Reply>,
            .refusals = describe_refusals(row.refusals)};
}

}  // namespace

const std::vector<RecordData>& records() {
    static const std::vector<RecordData> all{
        describe<wire::Config>(),         describe<wire::RequestHeader>(),
        describe<wire::ResponseHeader>(), describe<wire::DeviceInfo>(),
        describe<wire::CreateContext>(),  describe<wire::Object<ContextKind>>(),
        describe<wire::AllocateBuffer>(), describe<wire::WriteBuffer>(),
        describe<wire::ReadBuffer>(),     describe<wire::LoadProgram>(),
        describe<wire::CreateQueue>(),    describe<wire::Submit>(),
        describe<wire::Binding>(),        describe<wire::EventState>(),
    };
    return all;
}

const std::vector<CommandData>& commands() {
    static const std::vector<CommandData> all = std::apply(
        [](const auto&... row) { return std::vector<CommandData>{describe_command(row)...}; },
        wire::commands);
    return all;
}

const std::vector<RefusalData>& common_refusals() {
    static const std::vector<RefusalData> all = describe_refusals(wire::common_refusals);
    return all;
}

}  // namespace virtaccel::print
