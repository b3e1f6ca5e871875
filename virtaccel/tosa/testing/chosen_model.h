#pragma once
// A model that a fuzzer's input makes up: operators from the table with operands and attributes
// that mostly fit, and a few things spoilt. The one thing to know: every input is a file that a
// reader gets far into, which random bytes never are.

#include <cstddef>
#include <vector>

#include "virtaccel/base/testing/choices.h"

namespace virtaccel::tosa::testing {

// The bytes of the file. Small: tensors have a few elements, and there are a few operators.
[[nodiscard]] std::vector<std::byte> chosen_model(virtaccel::testing::Choices& choices);

}  // namespace virtaccel::tosa::testing
