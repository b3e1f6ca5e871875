#include "virtaccel/guest/session.h"

#include <cstdint>
#include <expected>
#include <utility>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/link.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest {

using wire::Opcode;

namespace detail {

LinkRef::LinkRef(const LinkRef& other) : link_(other.link_) {
    if (link_ != nullptr) {
        link_->retain();
    }
}

LinkRef::~LinkRef() {
    if (link_ != nullptr) {
        link_->drop();
    }
}

}  // namespace detail

Outcome<Session> Session::open(const Transport& transport, const Memory& memory,
                               const SessionOptions& options) {
    auto link = detail::Link::make(transport, memory, options);
    if (!link) {
        return std::unexpected{link.error()};
    }
    return Session{*std::move(link)};
}

const DeviceIdentity& Session::identity() const {
    return link_->identity();
}

Outcome<Context> Session::create_context() {
    auto handle = link_->call<Opcode::create_context>(
        [](Client& client, Chain& chain) { return client.create_context(chain); });
    if (!handle) {
        return std::unexpected{handle.error()};
    }
    return Context{link_, *std::move(handle)};
}

Outcome<DeviceIdentity> Session::device_info() {
    return link_->identify();
}

bool Session::is_lost() const {
    return link_->is_lost();
}

Outcome<void> Session::recover() {
    return link_->recover();
}

std::uint32_t Session::parked() const {
    return link_->parked();
}

std::uint64_t Session::abandoned() const {
    return link_->abandoned();
}

}  // namespace virtaccel::guest
