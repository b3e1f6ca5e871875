#include "virtaccel/conformance/tosa_sample.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "virtaccel/base/panic.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/guest/resident_bytes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::conformance {

namespace {

using Floats = std::array<float, 4>;

std::vector<std::byte> bytes_of(const Floats& values) {
    const auto bytes = std::as_bytes(std::span{values});
    return {bytes.begin(), bytes.end()};
}

}  // namespace

SampleProgram tosa_sample() {
    tosa::Builder builder;
    const auto x = builder.input("x", tosa::DType::fp32, {Floats{}.size()});
    builder.output(builder.add(x, x), "y");
    auto model = builder.finish();
    VIRTACCEL_CHECK(model.has_value());
    const auto graph = tosa::verify(*model);
    VIRTACCEL_CHECK(graph.has_value());
    const auto before = bytes_of({1, 2, 3, 4});
    SampleProgram sample{
        .format = tosa::artifact_format,
        .target = tosa::encode_target(tosa::target_of(*graph)),
        .resident_bytes = guest::resident_bytes_for(model->size()),
        .artifact = *std::move(model),
        .slots = {{.slot = 0, .access = Access::read, .before = before, .after = before},
                  {.slot = 1,
                   .access = Access::write,
                   .before = bytes_of({9, 9, 9, 9}),
                   .after = bytes_of({2, 4, 6, 8})}}};
    return sample;
}

}  // namespace virtaccel::conformance
