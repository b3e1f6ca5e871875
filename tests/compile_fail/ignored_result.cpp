// fails: unused-result|nodiscard
// A failure cannot be dropped by forgetting it.

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"

int main() {
    static_cast<void>(virtaccel::fail(virtaccel::Status::busy));
#ifdef VIRTACCEL_BAD
    virtaccel::fail(virtaccel::Status::busy);
#endif
}
