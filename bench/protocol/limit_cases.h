#pragma once
// memcpy of the transfer sizes: what nothing can beat.

#include "bench/cases/meter.h"

namespace virtaccel::bench {

void run_limit_cases(Meter& meter);

}  // namespace virtaccel::bench
