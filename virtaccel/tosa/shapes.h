#pragma once
// The shape rules of the operator table; each is shared by the operators that follow it. The one
// thing to know: a rule may trust `verify` (counts, attribute kinds, dimensions of at least one)
// and the row's element types, and nothing else.

#include <optional>

#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::shapes {

using Inferred = Checked<std::optional<Shape>>;

// Elementwise and along an axis (shapes_elementwise.cpp).
Inferred as_declared(const Call& call);
Inferred as_first(const Call& call);
Inferred broadcast(const Call& call);
Inferred mul(const Call& call);
Inferred clamp(const Call& call);
Inferred negate(const Call& call);
Inferred table(const Call& call);
Inferred rescale(const Call& call);
Inferred reduce(const Call& call);
Inferred argmax(const Call& call);

// Moving elements (shapes_layout.cpp).
Inferred concat(const Call& call);
Inferred pad(const Call& call);
Inferred reshape(const Call& call);
Inferred reverse(const Call& call);
Inferred slice(const Call& call);
Inferred tile(const Call& call);
Inferred transpose(const Call& call);
Inferred gather(const Call& call);
Inferred scatter(const Call& call);

// Windows over images, matrices and spectra (shapes_window.cpp).
Inferred conv2d(const Call& call);
Inferred conv3d(const Call& call);
Inferred depthwise_conv2d(const Call& call);
Inferred transpose_conv2d(const Call& call);
Inferred pool2d(const Call& call);
Inferred matmul(const Call& call);
Inferred fft2d(const Call& call);
Inferred rfft2d(const Call& call);
Inferred resize(const Call& call);

// Blocks that operators run (shapes_control.cpp).
Inferred cond_if(const Call& call);
Inferred while_loop(const Call& call);

}  // namespace virtaccel::tosa::shapes
