#pragma once
// Devices that err in one way each, so that random schedules can be shown to find them: some by
// what stands between the trial and the device, some by what stands behind it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/model/trial.h"
#include "virtaccel/model/wire_text.h"

namespace virtaccel::model::testing {

inline std::uint64_t opcode_of(const Bytes& frame) {
    return frame.size() < header_bytes ? 0 : number_at(frame, 0, 2);
}

inline std::uint64_t status_of(std::span<const std::byte> response, std::uint32_t used_bytes) {
    return used_bytes < header_bytes ? status::ok : number_at(response, 0, 2);
}

inline void put_at(std::span<std::byte> bytes, std::size_t offset, std::uint64_t number,
                   std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        bytes[offset + i] = static_cast<std::byte>(number >> (8 * i));
    }
}

// A transfer of a buffer that an event retains is answered as if it had happened.
struct AnswersWritesWhileBusy : Line {
    void after(const Bytes& frame, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        if (opcode_of(frame) == opcode::write_buffer &&
            status_of(response, used_bytes) == status::busy) {
            put_at(response, 0, status::ok, 2);
        }
    }
};

// What is stale is called malformed.
struct CallsStaleInvalid : Line {
    void after(const Bytes& /*frame*/, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        if (status_of(response, used_bytes) == status::stale_object) {
            put_at(response, 0, status::invalid_argument, 2);
        }
    }
};

// Says that an event is destroyed, and keeps it.
struct KeepsDestroyedEvents : Line {
    void before(Bytes& frame) override {
        destroys_ = opcode_of(frame) == opcode::destroy_event;
        if (destroys_) {
            put_at(frame, 0, opcode::poll_event, 2);
        }
    }

    void after(const Bytes& /*frame*/, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        if (destroys_ && used_bytes == header_bytes + 8) {
            put_at(response, 4, 0, 4);
            std::ranges::fill(response.subspan(header_bytes, 8), std::byte{0xa5});
            used_bytes = header_bytes;
        }
    }

  private:
    bool destroys_ = false;
};

// Gives a new queue the ID of its context.
struct IssuesAnIdTwice : Line {
    void after(const Bytes& frame, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        if (opcode_of(frame) == opcode::create_queue && used_bytes == header_bytes + 8) {
            put_at(response, header_bytes, number_at(frame, header_bytes, 8), 8);
        }
    }
};

inline bool creates(std::uint64_t code) {
    return code == opcode::create_context || code == opcode::allocate_buffer ||
           code == opcode::load_program || code == opcode::create_queue || code == opcode::submit;
}

// Looks at the room before it looks at the payload.
struct JudgesRoomFirst : Line {
    void after(const Bytes& frame, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        if (creates(opcode_of(frame)) && response.size() < header_bytes + 8 &&
            status_of(response, used_bytes) == status::invalid_argument) {
            std::ranges::fill(response, std::byte{0xa5});
            used_bytes = 0;
        }
    }
};

// Answers what there is no room to answer.
struct AnswersWithoutRoom : Line {
    void after(const Bytes& frame, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        if (used_bytes == 0 && frame.size() >= header_bytes && response.size() >= header_bytes) {
            put_at(response, 0, status::resource_limit, 8);
            put_at(response, 8, number_at(frame, 8, 8), 8);
            used_bytes = header_bytes;
        }
    }
};

// Forgets why an event failed.
struct ForgetsTheError : Line {
    void after(const Bytes& frame, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        if (opcode_of(frame) == opcode::poll_event && used_bytes == header_bytes + 8) {
            put_at(response, header_bytes + 2, 0, 2);
        }
    }
};

// Writes one byte more than it says.
struct WritesPastTheUsedLength : Line {
    void after(const Bytes& frame, std::span<std::byte> response,
               std::uint32_t& used_bytes) override {
        if (opcode_of(frame) == opcode::read_buffer && used_bytes > header_bytes &&
            used_bytes < response.size()) {
            response[used_bytes] = std::byte{0};
        }
    }
};

using backend::BufferHandle;

// A fresh buffer holds a byte of an earlier owner.
struct LeavesABufferDirty : mock::Forwarding {
    using mock::Forwarding::Forwarding;

    Result<backend::Allocation> allocate(backend::ContextHandle context,
                                         const backend::BufferRequest& request) {
        auto made = mock::Forwarding::allocate(context, request);
        if (made) {
            backend::HostBuffers::at(made->buffer).data[request.bytes - 1] = std::byte{1};
        }
        return made;
    }
};

// A write into one buffer shows in the one that was made before it.
struct WritesIntoANeighbour : mock::Forwarding {
    using mock::Forwarding::Forwarding;

    Result<backend::Allocation> allocate(backend::ContextHandle context,
                                         const backend::BufferRequest& request) {
        auto made = mock::Forwarding::allocate(context, request);
        if (made) {
            buffers_.push_back(made->buffer);
        }
        return made;
    }

    backend::ReleaseOutcome free(BufferHandle buffer) {
        std::erase(buffers_, buffer);
        return mock::Forwarding::free(buffer);
    }

    Status write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
        if (buffers_.front() != buffer) {
            backend::HostBuffers::at(buffers_.front()).data[0] ^= std::byte{0xff};
        }
        return mock::Forwarding::write(buffer, offset, source);
    }

  private:
    std::vector<BufferHandle> buffers_;
};

// Runs programs over all bytes of a range but the last one.
struct StopsOneByteShort : mock::Forwarding {
    using mock::Forwarding::Forwarding;

    backend::SubmitOutcome submit(const backend::Submission& submission) {
        std::vector<backend::Binding> bindings{submission.bindings.begin(),
                                               submission.bindings.end()};
        for (backend::Binding& binding : bindings) {
            binding.range.bytes -= binding.range.bytes > 1 ? 1 : 0;
        }
        return mock::Forwarding::submit({.queue = submission.queue,
                                         .program = submission.program,
                                         .bindings = bindings,
                                         .timeout_ns = submission.timeout_ns});
    }
};

// Says that it has cancelled, and goes on.
struct CancelsInWordsOnly : mock::Forwarding {
    using mock::Forwarding::Forwarding;

    Status cancel(backend::EventHandle event) {
        const auto polled = poll(event);
        return polled && polled->phase == EventPhase::pending ? Status::ok : Status::busy;
    }
};

// Says that an event is complete before it is.
struct CompletesTooEarly : mock::Forwarding {
    using mock::Forwarding::Forwarding;

    Result<backend::EventStatus> poll(backend::EventHandle event) {
        auto polled = mock::Forwarding::poll(event);
        if (polled && polled->phase == EventPhase::pending) {
            polled->phase = EventPhase::complete;
        }
        return polled;
    }
};

// The backend of class B in front of the reference backend.
template <class B>
Result<backend::AnyBackend> wrap_in(const Memory& memory, mock::Reference& reference) {
    return backend::make_owned<B>(memory, backend::AnyBackend::borrow(reference));
}

}  // namespace virtaccel::model::testing
