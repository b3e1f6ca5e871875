#include "backends/cpu/one_thread.h"

// As OpenMP 2.0 has them. Not by <omp.h>: it belongs to a compiler, and the library that oneDNN
// uses (libgomp) need not be this compiler's.
extern "C" {
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);
}

namespace virtaccel::backends::cpu {

void use_one_thread() {
    omp_set_num_threads(1);
}

OneThreadScope::OneThreadScope() : previous_(omp_get_max_threads()) {
    omp_set_num_threads(1);
}

OneThreadScope::~OneThreadScope() {
    omp_set_num_threads(previous_);
}

}  // namespace virtaccel::backends::cpu
