// Processes that train one adapter together ("ranks", 0 … size - 1): what each of them computed is summed over all.
// Knows nothing of libtorch. One thread's; all ranks make the same calls in the same order.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace stackgate::trainer {

struct GroupSettings {
  std::uint32_t rank = 0, size = 1;
  std::string address{};                     // of rank 0
  std::uint16_t port = 29500;                // there
  std::string interface{};                   // of this host's network; empty: that of the host's name
  std::chrono::milliseconds limit{300'000};  // until all are there, and for each call
};

/// The error of a call is a sentence: a rank is lost, or slower than the limit. The group is of no more use then.
class Group {
 public:
  /// Waits for all ranks. The error is a sentence.
  static std::expected<std::unique_ptr<Group>, std::string> open(const GroupSettings& settings);
  Group() = default;
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;
  using Done = std::expected<void, std::string>;
  /// In place; all ranks get the same bits.
  virtual Done sum(std::span<float> values) = 0;
  virtual Done sum(std::span<double> values) = 0;
  /// All ranks get rank 0's; each has as many.
  virtual Done broadcast(std::span<std::byte> bytes) = 0;
};

/// A process by itself.
class Alone final : public Group {
 public:
  std::uint32_t rank() const override { return 0; }
  std::uint32_t size() const override { return 1; }
  Done sum(std::span<float>) override { return {}; }
  Done sum(std::span<double>) override { return {}; }
  Done broadcast(std::span<std::byte>) override { return {}; }
};

/// Group::open, linked or out of a shared object (services/trainer/learn_library).
using OpenGroup = std::function<std::expected<std::unique_ptr<Group>, std::string>(const GroupSettings& settings)>;

}  // namespace stackgate::trainer
