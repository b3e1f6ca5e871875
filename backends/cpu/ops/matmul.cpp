// MATMUL, by oneDNN.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include <dnnl.hpp>

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

// One batched product. Everything a run needs is made here; a run sets three addresses.
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
        : values_(values),
          primitive_(description),
          stream_(engine),
          left_(description.src_desc(), engine, nullptr),
          right_(description.weights_desc(), engine, nullptr),
          output_(description.dst_desc(), engine, nullptr),
          scratch_(description.scratchpad_desc(), engine, nullptr),
          arguments_{{DNNL_ARG_SRC, left_},
                     {DNNL_ARG_WEIGHTS, right_},
                     {DNNL_ARG_DST, output_},
                     {DNNL_ARG_SCRATCHPAD, scratch_}} {}

    void run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        left_.set_data_handle(frame.at<float>(values_.left));
        right_.set_data_handle(frame.at<float>(values_.right));
        output_.set_data_handle(frame.at<float>(values_.output));
        scratch_.set_data_handle(frame.at<std::byte>(values_.scratch));
        primitive_.execute(stream_, arguments_);
    }

  private:
    Values values_;
    dnnl::matmul primitive_;
    dnnl::stream stream_;
    dnnl::memory left_;
    dnnl::memory right_;
    dnnl::memory output_;
    dnnl::memory scratch_;
    std::unordered_map<int, dnnl::memory> arguments_;
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
