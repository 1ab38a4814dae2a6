// The adapters in memory: loaded off the caller's thread when they are asked for, least recently used out first, never
// one that is in use. Thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "services/inference/adapters/cache.hpp"
#include "services/inference/adapters/catalogue/two_tier_lru.hpp"
#include "services/inference/adapters/check.hpp"
#include "services/inference/adapters/served.hpp"

namespace stackgate::inference {

/// A version that is fit.
struct AdapterVersion {
  AdapterRecord record;
  std::uint64_t key = 0;
  CheckedAdapter checked;
  AdapterFilesPtr files;
};

struct MemoryOptions {
  std::size_t resident = 8, memory = 16;
  LoadAdapterWeights load{};  // empty: directories are enough
  /// A version that forget() named has no reader any more. Called on any thread; must not wait.
  std::function<void(std::uint64_t key)> gone{};
  /// Its files could not be loaded. Called on a thread of the memory's.
  std::function<void(const AdapterVersion&, const std::string& reason)> failed{};
  std::function<void(bool good, double seconds)> loaded{};  // for metrics
};

class AdapterMemory {
 public:
  using Then = std::move_only_function<void(std::expected<ServedAdapterPtr, std::string>)>;

  explicit AdapterMemory(MemoryOptions options);
  /// Those who wait are told; what was given out stays valid, and calls nobody any more.
  ~AdapterMemory();
  AdapterMemory(const AdapterMemory&) = delete;
  AdapterMemory& operator=(const AdapterMemory&) = delete;

  /// `then` is called once: here and now when it is in memory, else on a thread of the memory's.
  void acquire(const AdapterVersion& version, Then then);
  /// Loads it when there is a place that nobody has to leave for it.
  void load_early(const AdapterVersion& version);
  /// Nobody asks for it any more.
  void forget(std::uint64_t key);

  Residency residency_of(std::uint64_t key) const;
  struct Load {
    std::size_t adapters = 0, bytes = 0;
  };
  Load load() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stackgate::inference
