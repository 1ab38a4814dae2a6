// Models and configurations from mounted folders, read again when they change. Thread-safe.
#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/customizer/catalogue/catalogue.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::customizer {

struct CatalogueFolders {
  std::string models{}, training{};  // of the two ConfigMaps; empty: there is none
  /// Without a folder of models: each directory below it that has a config.json is one, "<namespace>/<name>" or
  /// "<name>". Empty: none.
  std::string model_files{};
  std::chrono::milliseconds look{2'000};
};

class CatalogueFolder {
 public:
  /// Reads at once; faults are logged, with file, line and key.
  explicit CatalogueFolder(CatalogueFolders folders);
  /// As it is now; what is being read stays whole.
  std::shared_ptr<const Catalogue> now() const;
  /// As the folders are at the time of the call, for who misses something in now(). Ten readings a second at the most:
  /// callers share one, and may wait for it.
  std::shared_ptr<const Catalogue> fresh();
  /// Of the last reading.
  validate::Findings findings() const;

 private:
  void read();

  const CatalogueFolders folders_;
  std::mutex reading_;  // one at a time
  std::chrono::steady_clock::time_point read_at_{};
  mutable std::mutex mutex_;
  std::vector<CatalogueFile> models_{}, training_{};
  std::shared_ptr<const Catalogue> catalogue_{};
  validate::Findings findings_{};
  std::optional<run::Periodic> looking_{};  // last: its thread uses the others
};

/// A folder's files as a ConfigMap shows them: hidden ones are Kubernetes' own.
std::vector<CatalogueFile> files_of_folder(const std::string& folder);

}  // namespace stackgate::customizer
