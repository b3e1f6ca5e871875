#pragma once
// What runs the models, for people and logs.

#include <cstdint>
#include <string>

namespace virtaccel::backends::cpu {

// "TOSA on oneDNN 2.6.3, AVX512_CORE, 2 threads".
[[nodiscard]] std::string describe(std::uint32_t threads);

}  // namespace virtaccel::backends::cpu
