// MATMUL, by oneDNN.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_types.h>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"

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

}  // namespace

void lower_matmul(Lowering& lowering, const tosa::Operator& op) {
    const dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc description{
        dnnl::matmul::desc{dense(lowering.tensor(op.inputs[0])),
                           dense(lowering.tensor(op.inputs[1])),
                           dense(lowering.tensor(op.outputs[0]))},
        attributes, engine};
    const Matmul::Values values{
        .left = op.inputs[0],
        .right = op.inputs[1],
        .output = op.outputs[0],
        .scratch = lowering.add_scratch(description.scratchpad_desc().get_size())};
    lowering.emit(std::make_unique<Matmul>(description, engine, values),
                  {values.left, values.right}, values.output);
}

}  // namespace virtaccel::backends::cpu::ops
