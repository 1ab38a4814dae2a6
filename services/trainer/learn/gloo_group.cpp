// Group by libtorch's gloo: a TCPStore at rank 0 where the ranks meet, then connections between all of them.
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "services/trainer/learn/group.hpp"
#ifdef USE_C10D_GLOO
#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

namespace stackgate::trainer {

#ifdef USE_C10D_GLOO
namespace gloo_group_detail {

/// The first line of what libtorch and gloo say.
std::string words_of(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  const std::string all = torch != nullptr ? torch->what_without_backtrace() : error.what();
  return all.substr(0, all.find('\n'));
}

class GlooGroup final : public Group {
 public:
  /// Throws what libtorch throws.
  explicit GlooGroup(const GroupSettings& settings, std::chrono::milliseconds limit) : settings_(settings) {
    c10d::TCPStoreOptions meeting;
    meeting.port = settings.port;
    meeting.isServer = settings.rank == 0;
    meeting.numWorkers = settings.size;
    meeting.timeout = limit;
    const auto store = c10::make_intrusive<c10d::TCPStore>(settings.address, meeting);
    const auto how = c10d::ProcessGroupGloo::Options::create(settings.limit);
    how->devices = {settings.interface.empty() ? c10d::ProcessGroupGloo::createDefaultDevice()
                                               : c10d::ProcessGroupGloo::createDeviceForInterface(settings.interface)};
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store, static_cast<int>(settings.rank),
                                                         static_cast<int>(settings.size), how);
  }

  std::uint32_t rank() const override { return settings_.rank; }
  std::uint32_t size() const override { return settings_.size; }

  Done sum(std::span<float> values) override {
    return call(values.data(), values.size(), at::kFloat, [&](auto& tensors) { return group_->allreduce(tensors); });
  }
  Done sum(std::span<double> values) override {
    return call(values.data(), values.size(), at::kDouble, [&](auto& tensors) { return group_->allreduce(tensors); });
  }
  Done broadcast(std::span<std::byte> bytes) override {
    return call(bytes.data(), bytes.size(), at::kByte, [&](auto& tensors) { return group_->broadcast(tensors); });
  }

 private:
  template <class Start>
  Done call(void* data, std::size_t count, at::ScalarType type, const Start& start) {
    if (count == 0) return {};
    try {
      std::vector<at::Tensor> tensors{at::from_blob(data, {static_cast<std::int64_t>(count)}, type)};
      start(tensors)->wait();
      return {};
    } catch (const std::exception& error) {
      return std::unexpected(fmt::format("another of the {} processes is lost, or took longer than {} s: {}",
                                         settings_.size, settings_.limit.count() / 1000, words_of(error)));
    }
  }

  const GroupSettings settings_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace gloo_group_detail

std::expected<std::unique_ptr<Group>, std::string> Group::open(const GroupSettings& settings) {
  using namespace gloo_group_detail;
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + settings.limit;
  // A name that is not known yet, or a port that is still taken, ends libtorch's own attempts.
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    try {
      return std::make_unique<GlooGroup>(settings, std::max(left, std::chrono::milliseconds(1)));
    } catch (const std::exception& error) {
      if (Clock::now() + std::chrono::seconds(1) < until) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        continue;
      }
      return std::unexpected(fmt::format("the {} processes did not meet at {}:{} within {} s: {}", settings.size,
                                         settings.address, settings.port, settings.limit.count() / 1000,
                                         words_of(error)));
    }
  }
}

#else

std::expected<std::unique_ptr<Group>, std::string> Group::open(const GroupSettings&) {
  return std::unexpected("this build trains with one process alone: it was made without libgloo-dev");
}

#endif

}  // namespace stackgate::trainer
