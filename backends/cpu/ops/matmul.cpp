// MATMUL of floating-point numbers, by oneDNN.
#include "backends/cpu/ops/matmul.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_types.h>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/conversion.h"
#include "backends/cpu/ops/int8_matmul.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using Dims = dnnl::memory::dims;

dnnl::memory::desc dense(const tosa::Tensor& tensor) {
    return {Dims{tensor.shape[0], tensor.shape[1], tensor.shape[2]}, dnnl::memory::data_type::f32,
            dnnl::memory::format_tag::abc};
}

// One batched product. Everything a run needs is made here; a run sets addresses, by the C
// functions, which neither throw nor allocate for their arguments.
class Matmul final : public Step {
  public:
    struct Values {
        ValueId left = 0;
        ValueId right = 0;
        ValueId output = 0;
        ValueId scratch = 0;
    };

    Matmul(const dnnl::matmul::primitive_desc& description, const dnnl::engine& engine,
           const Values& values)
        : primitive_(description),
          stream_(engine),
          operands_{Operand{values.left, {description.src_desc(), engine, nullptr}},
                    Operand{values.right, {description.weights_desc(), engine, nullptr}},
                    Operand{values.output, {description.dst_desc(), engine, nullptr}},
                    Operand{values.scratch, {description.scratchpad_desc(), engine, nullptr}}},
          arguments_{{{DNNL_ARG_SRC, operands_[0].memory.get()},
                      {DNNL_ARG_WEIGHTS, operands_[1].memory.get()},
                      {DNNL_ARG_DST, operands_[2].memory.get()},
                      {DNNL_ARG_SCRATCHPAD, operands_[3].memory.get()}}},
          primitive_handle_(primitive_.get()),
          stream_handle_(stream_.get()) {}

    bool run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        for (std::size_t i = 0; i < operands_.size(); ++i) {
            if (dnnl_memory_set_data_handle(arguments_[i].memory,
                                            frame.at<std::byte>(operands_[i].value)) !=
                dnnl_success) {
                return false;
            }
        }
        return dnnl_primitive_execute(primitive_handle_, stream_handle_,
                                      static_cast<int>(arguments_.size()),
                                      arguments_.data()) == dnnl_success;
    }

  private:
    struct Operand {
        ValueId value = 0;
        dnnl::memory memory;
    };

    dnnl::matmul primitive_;
    dnnl::stream stream_;
    std::array<Operand, 4> operands_;
    std::array<dnnl_exec_arg_t, 4> arguments_;
    // What owns them above could only throw when it is asked.
    dnnl_primitive_t primitive_handle_;
    dnnl_stream_t stream_handle_;
};

// Of FP32 values, of which those of the operator may be others.
void emit_matmul(Lowering& lowering, const tosa::Operator& op, Matmul::Values values) {
    const dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc description{
        dnnl::matmul::desc{dense(lowering.tensor(op.inputs[0])),
                           dense(lowering.tensor(op.inputs[1])),
                           dense(lowering.tensor(op.outputs[0]))},
        attributes, engine};
    values.scratch = lowering.add_scratch(description.scratchpad_desc().get_size());
    lowering.emit(std::make_unique<Matmul>(description, engine, values),
                  {values.left, values.right}, values.output);
}

// An operand as FP32.
ValueId wide(Lowering& lowering, ValueId tensor) {
    return lowering.tensor(tensor).dtype == tosa::DType::fp32 ? tensor
                                                              : emit_widening(lowering, tensor);
}

}  // namespace

void lower_matmul(Lowering& lowering, const tosa::Operator& op) {
    const tosa::DType input = lowering.tensor(op.inputs[0]).dtype;
    const tosa::DType output = lowering.tensor(op.outputs[0]).dtype;
    // Between other steps nothing is known.
    const bool is_folded = lowering.is_known(op.outputs[0]) && input != tosa::DType::fp32;
    const bool has_zeros = lowering.is_known(op.inputs[2]) && lowering.is_known(op.inputs[3]);
    if (input == tosa::DType::int16 || is_folded || !has_zeros) {
        lower_general_matmul(lowering, op);
        return;
    }
    if (input == tosa::DType::int8) {
        lower_int8_matmul(lowering, op);
        return;
    }
    if (!is_known_zero(lowering, op.inputs[2]) || !is_known_zero(lowering, op.inputs[3])) {
        lower_general_matmul(lowering, op);
        return;
    }
    Matmul::Values values{.left = wide(lowering, op.inputs[0]),
                          .right = wide(lowering, op.inputs[1]),
                          .output = op.outputs[0]};
    if (output == tosa::DType::fp32) {
        emit_matmul(lowering, op, values);
        return;
    }
    values.output = add_wide(lowering, op.outputs[0]);
    emit_matmul(lowering, op, values);
    emit_narrowing(lowering, values.output, op.outputs[0]);
}

}  // namespace virtaccel::backends::cpu::ops
