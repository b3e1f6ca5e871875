#pragma once
// Linking host/ gives a program the usual `virtaccel_panic`: one sentence on standard error, then
// abort, so that a debugger or a supervisor sees where the bug is.

#include "virtaccel/base/panic.h"  // IWYU pragma: export
