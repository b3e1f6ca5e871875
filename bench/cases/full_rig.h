#pragma once
// The `full` layers: guest client, split ring and device in one process, one thread, chains reused.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "adapters/loopback/loopback.h"
#include "bench/cases/taken.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::bench {

// A client and all it talks to. Every call ends the program if the device refuses: a benchmark of
// failures would be worthless.
class FullRig {
  public:
    FullRig(backend::BackendFactory factory, std::uint32_t queue_size, std::size_t chains);

    [[nodiscard]] guest::Client& client() { return *client_; }

    [[nodiscard]] guest::Chain& chain(std::size_t i = 0) { return chains_[i]; }

    // Kicks, and takes the one completion.
    template <wire::Opcode op>
    auto finish(guest::Chain& chain) {
        client_->kick();
        taken(client_->next() == &chain);
        auto result = client_->result<op>(chain);
        taken(result.has_value());
        return result;
    }

    [[nodiscard]] guest::ContextHandle create_context();
    [[nodiscard]] guest::BufferHandle allocate(const guest::ContextHandle& context,
                                               std::uint64_t bytes);
    [[nodiscard]] guest::ProgramHandle load(const guest::ContextHandle& context);
    [[nodiscard]] guest::QueueHandle create_queue(const guest::ContextHandle& context);

    // A whole reset: device, ring and client.
    void reset();

  private:
    std::unique_ptr<adapters::loopback::Loopback> loopback_;
    std::vector<guest::Chain> chains_;
    std::unique_ptr<guest::Client> client_;
};

}  // namespace virtaccel::bench
