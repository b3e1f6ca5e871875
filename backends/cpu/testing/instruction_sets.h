#pragma once
// Runs a test once for each instruction set that kernels are compiled for and this processor has.

#include <cstdint>

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace virtaccel::backends::cpu::testing {

template <class Body>
void on_each_instruction_set(Body body) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().DeInit();
        body();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
}

}  // namespace virtaccel::backends::cpu::testing
