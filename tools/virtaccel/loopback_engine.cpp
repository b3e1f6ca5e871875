#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "adapters/loopback/loopback.h"
#include "host/clock.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/engine.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/guest_failure.h"
#include "tools/virtaccel/loopback_device.h"
#include "tools/virtaccel/model.h"
#include "tools/virtaccel/recording_port.h"
#include "tools/virtaccel/refusals.h"
#include "tools/virtaccel/slot_buffers.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/tosa/target.h"

namespace virtaccel::cli {
namespace {

class LoopbackEngine final : public Engine {
  public:
    explicit LoopbackEngine(std::string_view backend) : backend_(backend) {}

    // Starts the device and a session with it, which is recorded if there is a recorder.
    [[nodiscard]] OrFailure<void> open(BackendSource& source, RecordingPort* recorder) {
        VIRTACCEL_TRY_ASSIGN(loopback_, make_loopback_device(source, refusals_.sink()));
        const auto transport = recorder == nullptr ? loopback_->transport()
                                                   : recorder->stand_before(loopback_->transport());
        auto session = guest::Session::open(transport, host::heap());
        if (!session) {
            return guest_failure(session.error());
        }
        session_ = *std::move(session);
        return {};
    }

    [[nodiscard]] OrFailure<std::uint64_t> load(const Model& model) override {
        const auto bytes_max = session_->identity().limits.artifact_bytes;
        if (model.bytes.size() > bytes_max) {
            return failure(fmt::format(
                "The model ({}) has {} bytes, more than the {} that the device takes; choose a "
                "smaller model.",
                model.path, model.bytes.size(), bytes_max));
        }
        auto context = session_->create_context();
        if (!context) {
            return guest_failure(context.error());
        }
        context_ = *std::move(context);
        const auto start_ns = host::now_ns();
        auto program = context_.load({.format = tosa::artifact_format,
                                      .target = model.target,
                                      .artifact = model.bytes,
                                      .resident_bytes = 0});
        const auto load_ns = host::now_ns() - start_ns;
        if (!program) {
            return program.error().cause == guest::Cause::answer
                       ? std::unexpected{refusals_.judge(backend_, model.path,
                                                         program.error().status)}
                       : guest_failure(program.error());
        }
        program_ = *std::move(program);
        auto queue = context_.create_queue();
        if (!queue) {
            return guest_failure(queue.error());
        }
        queue_ = *std::move(queue);
        VIRTACCEL_TRY(allocate(model));
        return load_ns;
    }

    [[nodiscard]] OrFailure<void> write(std::size_t slot,
                                        std::span<const std::byte> bytes) override {
        if (const auto written = buffers_[slot].write(0, bytes); !written) {
            return guest_failure(written.error());
        }
        return {};
    }

    [[nodiscard]] OrFailure<std::vector<std::byte>> read(std::size_t slot) override {
        std::vector<std::byte> bytes(buffers_[slot].bytes());
        if (const auto got = buffers_[slot].read(0, bytes); !got) {
            return guest_failure(got.error());
        }
        return bytes;
    }

    [[nodiscard]] OrFailure<void> run() override {
        if (const auto done = queue_.run(program_, bindings_); !done) {
            return guest_failure(done.error());
        }
        return {};
    }

    [[nodiscard]] std::string description() override {
        return std::string{device().backend().description()};
    }

    [[nodiscard]] backend::Diagnostics diagnostics() override {
        return device().backend().diagnostics();
    }

  private:
    [[nodiscard]] const device::Device& device() { return loopback_->endpoint().device(); }

    [[nodiscard]] OrFailure<void> allocate(const Model& model) {
        const auto domain = nearest_domain(session_->identity().capabilities);
        buffers_.reserve(model.slots.size());
        for (std::size_t i = 0; i < model.slots.size(); ++i) {
            auto buffer = context_.allocate({.bytes = model.slots[i].bytes,
                                             .alignment = slot_alignment,
                                             .domain = domain,
                                             .usage = slot_usage(model, i)});
            if (!buffer) {
                return guest_failure(buffer.error());
            }
            buffers_.push_back(*std::move(buffer));
        }
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            bindings_.push_back(
                guest::bind(static_cast<std::uint32_t>(i), buffers_[i], slot_access(model, i)));
        }
        return {};
    }

    // In the order in which they are needed: each ends before what stands above it.
    std::string backend_;
    Refusals refusals_;
    std::optional<adapters::loopback::Loopback> loopback_;
    std::optional<guest::Session> session_;
    guest::Context context_;
    guest::Program program_;
    std::vector<guest::Buffer> buffers_;
    std::vector<guest::Binding> bindings_;
    guest::Queue queue_;
};

}  // namespace

OrFailure<std::unique_ptr<Engine>> make_loopback_engine(BackendSource& source,
                                                        RecordingPort* recorder) {
    auto engine = std::make_unique<LoopbackEngine>(source.name());
    VIRTACCEL_TRY(engine->open(source, recorder));
    return engine;
}

}  // namespace virtaccel::cli
