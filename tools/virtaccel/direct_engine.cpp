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

#include "adapters/loopback/alarm.h"
#include "host/clock.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/engine.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/model.h"
#include "tools/virtaccel/refusals.h"
#include "tools/virtaccel/slot_buffers.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/resident_bytes.h"
#include "virtaccel/tosa/target.h"

namespace virtaccel::cli {
namespace {

// The notifier ends a pause; this is for a backend that has none.
constexpr std::uint64_t pause_max_ns = 1'000'000;

std::unexpected<Failure> backend_failure(std::string_view call, Status status) {
    return failure(
        fmt::format("The backend's call ({}) fails with {}; free memory, or choose "
                    "another backend or model.",
                    call, status_name(status)));
}

class DirectEngine final : public Engine {
  public:
    explicit DirectEngine(backend::AnyBackend backend) : backend_(std::move(backend)) {
        backend_.set_notifier({.state = &alarm_, .notify = [](void* alarm) {
                                   static_cast<adapters::loopback::Alarm*>(alarm)->raise();
                               }});
    }

    DirectEngine(const DirectEngine&) = delete;
    DirectEngine& operator=(const DirectEngine&) = delete;

    // A failed release changes nothing any more: the backend ends next.
    ~DirectEngine() override {
        for (const auto& slot : bindings_) {
            static_cast<void>(backend_.free(slot.buffer));
        }
        if (program_) {
            static_cast<void>(backend_.unload(*program_));
        }
        if (queue_) {
            static_cast<void>(backend_.destroy_queue(*queue_));
        }
        if (context_) {
            static_cast<void>(backend_.destroy_context(*context_));
        }
    }

    [[nodiscard]] OrFailure<std::uint64_t> load(const Model& model) override {
        const auto context = backend_.create_context();
        if (!context) {
            return backend_failure("create_context", context.error());
        }
        context_ = *context;
        const auto start_ns = host::now_ns();
        const auto program = load_program(model);
        const auto load_ns = host::now_ns() - start_ns;
        if (!program) {
            return std::unexpected{refusals_.judge(backend_.name(), model.path, program.error())};
        }
        program_ = program->program;
        const auto queue = backend_.create_queue(*context_);
        if (!queue) {
            return backend_failure("create_queue", queue.error());
        }
        queue_ = *queue;
        VIRTACCEL_TRY(allocate(model));
        return load_ns;
    }

    [[nodiscard]] OrFailure<void> write(std::size_t slot,
                                        std::span<const std::byte> bytes) override {
        // A reader only reads; the list has one type for both directions.
        const Piece piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
        Reader reader{PieceList::of({&piece, 1})};
        if (const auto status = backend_.write(bindings_[slot].buffer, 0, reader);
            status != Status::ok) {
            return backend_failure("write", status);
        }
        return {};
    }

    [[nodiscard]] OrFailure<std::vector<std::byte>> read(std::size_t slot) override {
        std::vector<std::byte> bytes(bindings_[slot].range.bytes);
        const Piece piece{bytes.data(), bytes.size()};
        Writer writer{PieceList::of({&piece, 1})};
        if (const auto status = backend_.read(bindings_[slot].buffer, 0, writer);
            status != Status::ok) {
            return backend_failure("read", status);
        }
        return bytes;
    }

    [[nodiscard]] OrFailure<void> run() override {
        const auto submitted = backend_.submit(
            {.queue = *queue_, .program = *program_, .bindings = bindings_, .timeout_ns = 0});
        if (submitted.certainty != backend::Certainty::done) {
            return backend_failure("submit", submitted.status);
        }
        auto state = backend_.poll(submitted.event);
        while (state && state->phase == EventPhase::pending) {
            alarm_.sleep(pause_max_ns);
            state = backend_.poll(submitted.event);
        }
        if (!state) {
            return backend_failure("poll", state.error());
        }
        if (state->phase != EventPhase::complete) {
            return backend_failure("submit", state->error);
        }
        if (const auto released = backend_.destroy_event(submitted.event);
            released.certainty != backend::Certainty::done) {
            return backend_failure("destroy_event", released.status);
        }
        return {};
    }

    [[nodiscard]] std::string description() override { return std::string{backend_.description()}; }

    [[nodiscard]] backend::Diagnostics diagnostics() override { return backend_.diagnostics(); }

  private:
    [[nodiscard]] Result<backend::LoadedProgram> load_program(const Model& model) {
        const Piece piece{const_cast<std::byte*>(model.bytes.data()), model.bytes.size()};
        const backend::Artifact artifact{
            .format = tosa::artifact_format,
            .target = model.target,
            .resident_bytes_max = guest::resident_bytes_for(model.bytes.size()),
            .payload = Reader{PieceList::of({&piece, 1})},
            .refusals = refusals_.sink()};
        VIRTACCEL_TRY_ASSIGN(const auto prepared, backend_.prepare(artifact));
        return backend_.load(*context_, prepared);
    }

    [[nodiscard]] OrFailure<void> allocate(const Model& model) {
        const auto domain = nearest_domain(backend_.identity().capabilities);
        for (std::size_t i = 0; i < model.slots.size(); ++i) {
            const auto bytes = model.slots[i].bytes;
            const auto allocation = backend_.allocate(*context_, {.bytes = bytes,
                                                                  .alignment = slot_alignment,
                                                                  .domain = domain,
                                                                  .usage = slot_usage(model, i)});
            if (!allocation) {
                return backend_failure("allocate", allocation.error());
            }
            bindings_.push_back({.buffer = allocation->buffer,
                                 .range = {.offset = 0, .bytes = bytes},
                                 .slot = static_cast<std::uint32_t>(i),
                                 .access = slot_access(model, i)});
        }
        return {};
    }

    Refusals refusals_;
    adapters::loopback::Alarm alarm_;
    backend::AnyBackend backend_;
    std::optional<backend::ContextHandle> context_;
    std::optional<backend::ProgramHandle> program_;
    std::optional<backend::QueueHandle> queue_;
    std::vector<backend::Binding> bindings_;
};

}  // namespace

OrFailure<std::unique_ptr<Engine>> make_direct_engine(const BackendSource& source) {
    auto backend = source.make();
    if (!backend) {
        return backend_failure("make", backend.error());
    }
    return std::make_unique<DirectEngine>(*std::move(backend));
}

}  // namespace virtaccel::cli
