#pragma once

// Which of the processor's instructions are used.

namespace virtaccel::backends::cpu {

// Lets our own kernels use what oneDNN uses and no more, so that its environment variable
// (DNNL_MAX_CPU_ISA) speaks for both, and a result can be had as an older processor gives it. For
// the whole process; the same every time.
void keep_kernels_to_effective_isa();

}  // namespace virtaccel::backends::cpu
