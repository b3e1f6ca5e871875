// Work that goes all the way: guest session, split ring, device, backend, and back.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/loopback/loopback.h"
#include "backends/cpu/cpu.h"
#include "backends/null/null.h"
#include "host/memory.h"
#include "tests/end_to_end/stack.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/device.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::end_to_end {
namespace {

using Bytes = std::vector<std::byte>;
using Maker = Result<backend::AnyBackend> (*)();

Result<backend::AnyBackend> make_mock() {
    return backend::make_owned<mock::Reference>(host::heap(), host::heap(),
                                                mock::ReferenceOptions{});
}

Result<backend::AnyBackend> make_cpu() {
    return backends::cpu::make(host::heap());
}

Result<backend::AnyBackend> make_null() {
    return backend::make_owned<backends::null::NullBackend>(host::heap(), host::heap());
}

// A session with a device over the maker's backend.
class Stack {
  public:
    explicit Stack(Maker maker) : maker_(maker) {
        auto loopback = adapters::loopback::Loopback::make(
            host::heap(), backend::factory_from(maker_), loopback_options());
        EXPECT_TRUE(loopback.has_value());
        loopback_.emplace(*std::move(loopback));
        auto session = guest::Session::open(loopback_->transport(), host::heap());
        EXPECT_TRUE(session.has_value());
        session_.emplace(*std::move(session));
    }

    [[nodiscard]] guest::Session& session() { return *session_; }

    [[nodiscard]] const device::Device& device() { return loopback_->endpoint().device(); }

  private:
    Maker maker_;
    std::optional<adapters::loopback::Loopback> loopback_;
    std::optional<guest::Session> session_;
};

// Adds 1, 2, 3, 4 to x and x to that, on the device. Outcome of the first thing that fails.
guest::Outcome<std::array<float, 4>> add_twice(guest::Session& session,
                                               std::span<const std::byte> model,
                                               const std::array<float, 4>& x) {
    const auto graph = tosa::verify(model);
    EXPECT_TRUE(graph.has_value());
    VIRTACCEL_TRY_ASSIGN(auto context, session.create_context());
    VIRTACCEL_TRY_ASSIGN(auto program,
                         context.load({.format = tosa::artifact_format,
                                       .target = tosa::encode_target(tosa::target_of(*graph)),
                                       .artifact = model,
                                       .resident_bytes = 0}));
    VIRTACCEL_TRY_ASSIGN(
        auto input,
        context.allocate({.bytes = sizeof x, .usage = usage_transfer | UsageBit::program_input}));
    VIRTACCEL_TRY_ASSIGN(
        auto output,
        context.allocate({.bytes = sizeof x, .usage = usage_transfer | UsageBit::program_output}));
    VIRTACCEL_TRY_ASSIGN(auto queue, context.create_queue());
    VIRTACCEL_TRY(input.write(0, std::as_bytes(std::span{x})));
    VIRTACCEL_TRY(queue.run(
        program, {guest::bind(0, input, Access::read), guest::bind(1, output, Access::write)}));
    std::array<float, 4> y{};
    VIRTACCEL_TRY(output.read(0, std::as_writable_bytes(std::span{y})));
    return y;
}

TEST(FullStack, runs_a_tosa_model_on_the_cpu) {
    Stack stack{make_cpu};
    const auto model = tosa::testing::two_additions().finish();
    ASSERT_TRUE(model.has_value());
    const auto y = add_twice(stack.session(), *model, {10, 20, 30, 40});
    ASSERT_TRUE(y.has_value()) << words(y.error());
    EXPECT_EQ(*y, (std::array<float, 4>{21, 42, 63, 84}));
    // Everything was released, and nothing bound was copied.
    EXPECT_EQ(stack.device().holdings().contexts, 0U);
    EXPECT_EQ(stack.device().holdings().buffer_bytes, 0U);
    EXPECT_EQ(stack.device().backend().diagnostics().live_resources, 0U);
    EXPECT_EQ(stack.device().backend().diagnostics().staged_bytes, 0U);
    EXPECT_EQ(stack.device().backend().diagnostics().direct_bindings, 2U);
}

TEST(FullStack, refuses_a_tosa_model_on_backends_without_models) {
    const auto model = tosa::testing::two_additions().finish();
    ASSERT_TRUE(model.has_value());
    for (const Maker maker : {make_mock, make_null}) {
        Stack stack{maker};
        const auto y = add_twice(stack.session(), *model, {});
        ASSERT_FALSE(y.has_value());
        EXPECT_EQ(y.error().kind, guest::FailureKind::retryable);
        EXPECT_EQ(y.error().status, Status::unsupported);
        EXPECT_EQ(stack.device().holdings().contexts, 0U);
    }
}

TEST(FullStack, copies_a_megabyte_in_many_frames_on_the_mock) {
    static constexpr auto make = []() -> Result<backend::AnyBackend> {
        mock::ReferenceOptions options;
        options.identity.limits.buffer_bytes = std::uint64_t{16} << 20U;
        return backend::make_owned<mock::Reference>(host::heap(), host::heap(), options);
    };
    Stack stack{make};
    auto context = stack.session().create_context();
    ASSERT_TRUE(context.has_value());
    const auto artifact = mock::encode({.operation = mock::Operation::copy, .second_slot = 1});
    auto program = context->load({.format = mock::reference_format,
                                  .target = mock::reference_target,
                                  .artifact = artifact,
                                  .resident_bytes = mock::reference_resident_bytes});
    ASSERT_TRUE(program.has_value()) << words(program.error());
    Bytes sent(5'000'000);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i] = static_cast<std::byte>((i * 31) ^ (i >> 9U));
    }
    auto source = context->allocate(
        {.bytes = sent.size(), .usage = usage_transfer | UsageBit::program_input});
    auto target = context->allocate(
        {.bytes = sent.size(), .usage = usage_transfer | UsageBit::program_output});
    auto queue = context->create_queue();
    ASSERT_TRUE(source.has_value() && target.has_value() && queue.has_value());
    ASSERT_TRUE(source->write(0, sent).has_value());
    ASSERT_TRUE(queue
                    ->run(*program, {guest::bind(0, *source, Access::read),
                                     guest::bind(1, *target, Access::write)})
                    .has_value());
    Bytes got(sent.size());
    ASSERT_TRUE(target->read(0, got).has_value());
    EXPECT_EQ(got, sent);
}

TEST(FullStack, works_again_after_a_reset_that_drops_everything) {
    Stack stack{make_cpu};
    const auto model = tosa::testing::two_additions().finish();
    ASSERT_TRUE(model.has_value());
    auto old = stack.session().create_context();
    ASSERT_TRUE(old.has_value());
    ASSERT_TRUE(stack.session().recover().has_value());
    const auto stale = old->create_queue();
    ASSERT_FALSE(stale.has_value());
    EXPECT_EQ(stale.error().kind, guest::FailureKind::invalidated);
    const auto y = add_twice(stack.session(), *model, {1, 1, 1, 1});
    ASSERT_TRUE(y.has_value()) << words(y.error());
    EXPECT_EQ(*y, (std::array<float, 4>{3, 4, 5, 6}));
}

}  // namespace
}  // namespace virtaccel::end_to_end
