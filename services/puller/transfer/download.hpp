// One file from its URL into its KEY (place.hpp): resumed, repeated, checked. Blocks; for one thread each.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "services/puller/plan/progress.hpp"
#include "services/puller/plan/resume.hpp"
#include "services/puller/transfer/fetcher.hpp"
#include "services/puller/transfer/place.hpp"

namespace stackgate::puller {

/// What several downloads share. Thread-safe.
class Counter {
 public:
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> downloaded{0}, total{0};
  void set_file(std::string_view path);
  Progress now() const;

 private:
  mutable std::mutex mutex_;
  std::string file_;
};

using FailPoint = std::function<void(std::string_view)>;

struct Download {
  const Fetcher& fetcher;
  const Place& place;
  Counter& counter;
  const FailPoint& fail_point;

  /// The bytes of what is here of it already are counted by the caller.
  Result<Sums> run(const RemoteFile& file, const std::string& url) const;
};

/// How many bytes of an unfinished file are here and will be kept.
std::uint64_t bytes_here(const Place& place, const RemoteFile& file);

}  // namespace stackgate::puller
