#include "virtaccel/device/processor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "virtaccel/device/device.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/queue/port.h"

namespace virtaccel::device {

std::uint32_t Processor::run(std::uint32_t chains_max) {
    Device& device = endpoint_->device();
    std::uint32_t taken = 0;
    while (taken != chains_max) {
        const auto chain = port_->pop();
        if (!chain) {
            break;
        }
        ++taken;
        const Served served = device.serve(chain->readable, chain->writable);
        if (!served.deferred) {
            port_->complete(chain->head, served.used_bytes);
            continue;
        }
        PendingLoad load = device.take_load();
        load.tag = chain->head;
        if (runner_.start != nullptr) {
            runner_.start(runner_.state, std::move(load));
        } else {
            complete(std::move(load));
        }
    }
    // Also when none was taken: the port completes malformed chains itself.
    port_->flush();
    return taken;
}

bool Processor::run_until_idle(std::uint32_t chains_max) {
    while (chains_max != 0) {
        port_->want_notifications(false);
        // A pass that found only malformed chains counts too, or a driver could keep us here.
        chains_max -= std::max(run(chains_max), std::uint32_t{1});
        if (chains_max != 0 && !port_->want_notifications(true)) {
            return true;
        }
    }
    return false;
}

void Processor::finish(PendingLoad load) {
    complete(std::move(load));
    port_->flush();
}

void Processor::complete(PendingLoad load) {
    const auto head = static_cast<std::uint16_t>(load.tag);
    if (const auto served = endpoint_->device().finish(std::move(load))) {
        port_->complete(head, served->used_bytes);
    }
}

}  // namespace virtaccel::device
