#include "tools/virtaccel/show_info.h"

#include <string>

#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/guest_failure.h"
#include "tools/virtaccel/loopback_device.h"
#include "tools/virtaccel/report.h"
#include "virtaccel/base/result.h"
#include "virtaccel/guest/session.h"

namespace virtaccel::cli {

OrFailure<void> show_info(const InfoOptions& options) {
    VIRTACCEL_TRY_ASSIGN(auto source, BackendSource::find(host::heap(), options.backend));
    VIRTACCEL_TRY_ASSIGN(auto loopback, make_loopback_device(source, {}));
    const auto session = guest::Session::open(loopback.transport(), host::heap());
    if (!session) {
        return guest_failure(session.error());
    }
    const InfoReport report{
        .backend = source.name(),
        .description = std::string{loopback.endpoint().device().backend().description()},
        .config = loopback.config(),
        .identity = session->identity()};
    return print_out(options.json ? to_json(report) + '\n' : to_text(report));
}

}  // namespace virtaccel::cli
