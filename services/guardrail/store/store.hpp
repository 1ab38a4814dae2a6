// The configurations that are served: a folder, watched, compiled, swapped as a whole. What does not compile keeps what
// compiled last, and says so. Thread-safe.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "services/guardrail/store/folder.hpp"
#include "services/guardrail/store/snapshot.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::guardrail {

struct StoreOptions {
  std::string folder{};                   // "": there is none
  std::chrono::milliseconds look{1'000};  // how often it is looked at; 0: only by reload()
  FolderLimits limits{};
  /// What a configuration cannot do here: asked once for each, before it is served; also of one that does not compile,
  /// so that all its faults are known at once.
  std::function<validate::Findings(const Configuration&)> trial{};
};

class Store {
 public:
  using Managed = std::map<std::string, std::vector<File>>;

  /// Reads and compiles all of it before it returns. `registry` must outlive it.
  Store(StoreOptions options, metrics::Registry& registry);

  /// Never empty. Hold it for the length of a request.
  std::shared_ptr<const Snapshot> snapshot() const;
  /// Looks now; compiles what has changed. Returns when it is served.
  void reload();
  /// Configurations from elsewhere (the API), instead of those given before; one of the folder by the same name counts
  /// instead of it.
  void set_managed(Managed configurations);

 private:
  struct Metrics;
  void look();
  void build();
  StoredConfiguration compiled(const std::string& id, std::vector<File> files, const validate::Findings& of_files,
                               const StoredConfiguration* before);
  void publish(std::shared_ptr<const Snapshot> made);

  const StoreOptions options_;
  const std::shared_ptr<Metrics> metrics_;
  std::mutex loading_;  // one load at a time
  std::optional<std::uint64_t> fingerprint_;
  FolderContent content_;  // the last that could be read
  Managed managed_;
  mutable std::mutex mutex_;  // of snapshot_
  std::shared_ptr<const Snapshot> snapshot_;
  std::optional<run::Periodic> watch_;  // last: it uses the others
};

}  // namespace stackgate::guardrail
