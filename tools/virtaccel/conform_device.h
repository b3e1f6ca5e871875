#pragma once
// The device under test that another program is, in the framing of docs/stdio.md. The one thing to
// know: after a dead, silent or senseless answer the program is ended, and nothing is answered
// until `revive` starts it anew.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/error.h"
#include "tools/virtaccel/conform_child.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli {

class ChildDevice final : public conformance::DeviceUnderTest {
  public:
    // `words` are a program and its arguments; `config` is what it was told to have, as the framing
    // does not carry it. Nothing runs before `revive`.
    ChildDevice(std::vector<std::string> words, const wire::Config& config,
                std::uint64_t timeout_ns)
        : words_(std::move(words)), config_(config), timeout_ns_(timeout_ns) {}

    // Starts the program unless it runs. An error if it cannot be started, and for a program that
    // failed without one answer: it would do so again.
    [[nodiscard]] host::OrError<void> revive();

    // Why nothing is answered any more; empty while it is.
    [[nodiscard]] const std::string& failure() const { return failure_; }

    [[nodiscard]] wire::Config config() const override { return config_; }

    [[nodiscard]] std::optional<std::uint32_t> exchange(std::span<const Piece> readable,
                                                        std::span<const Piece> writable) override;

    [[nodiscard]] bool reset() override;

  private:
    // A prefix and a frame out, the word that begins the reply back.
    [[nodiscard]] host::OrError<std::uint32_t> ask(std::uint32_t length, std::uint32_t capacity,
                                                   std::span<const Piece> frame);
    [[nodiscard]] host::OrError<std::uint32_t> ask_reset();
    [[nodiscard]] host::OrError<std::uint32_t> request(std::span<const Piece> readable,
                                                       std::span<const Piece> writable);
    // The value of `answer`; the end of the program if there is none.
    [[nodiscard]] std::optional<std::uint32_t> settle(host::OrError<std::uint32_t> answer);

    std::vector<std::string> words_;
    wire::Config config_;
    std::uint64_t timeout_ns_;
    std::unique_ptr<Child> child_;
    std::string failure_;
    bool answered_ = false;  // this child, something
    std::uint32_t seed_ = 0x5eed0000;
    std::vector<std::byte> frame_;
};

}  // namespace virtaccel::cli
