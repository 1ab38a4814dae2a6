// The adapters on this machine's disk: <data-dir>/adapters/<id>~<number>/ with the two files and the record, whole or
// not there.
//
//   ….part ─ files, record, synced ─ rename ─→ in use ─ record unlinked ─→ out of use ─ last reader ─→ gone
//
// What has no record is taken away at the next start. Thread-safe.
#pragma once
#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/inference/adapters/catalogue/record.hpp"
#include "services/inference/adapters/source.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::inference {

/// For tests: called with the name of a step when it is done.
using FailPoint = std::function<void(std::string_view)>;

/// A version's directory. Who reads it holds it; when the version is gone the last one to let go takes it away.
class AdapterFiles {
 public:
  explicit AdapterFiles(std::string directory) : directory_(std::move(directory)) {}
  ~AdapterFiles();
  AdapterFiles(const AdapterFiles&) = delete;
  AdapterFiles& operator=(const AdapterFiles&) = delete;

  const std::string& directory() const { return directory_; }

 private:
  friend class AdapterCache;
  std::string directory_;
  std::atomic<bool> gone_{false};
};
using AdapterFilesPtr = std::shared_ptr<AdapterFiles>;

struct CachedAdapter {
  AdapterRecord record;
  AdapterFilesPtr files;
};

class AdapterCache {
 public:
  /// Takes the folder for this process; a second one is an error. The error is a sentence.
  static std::expected<std::unique_ptr<AdapterCache>, std::string> open(const std::string& data_dir,
                                                                        FailPoint fail_point);

  /// What was there at the start and came from `source`; everything else is taken away. Once.
  std::vector<CachedAdapter> recover(std::string_view source);

  /// An empty directory to be filled.
  std::expected<std::string, FetchFailure> begin(std::string_view id);
  /// `part`, which begin() gave and whose files are synced, is an adapter now. Without `keeps` the next start does not
  /// know it.
  std::expected<AdapterFilesPtr, FetchFailure> publish(const std::string& part, const AdapterRecord& record,
                                                       std::string_view source, bool keeps);
  /// What begin() gave is of no use.
  void abandon(const std::string& part);
  /// Not for the next start any more; the files go with the last reader.
  void drop(const AdapterFilesPtr& files);

 private:
  AdapterCache(std::string folder, files::File lock, FailPoint fail_point)
      : folder_(std::move(folder)), lock_(std::move(lock)), fail_point_(std::move(fail_point)) {}
  void reach(std::string_view step) const {
    if (fail_point_) fail_point_(step);
  }

  std::string folder_;
  files::File lock_;
  FailPoint fail_point_;
  std::atomic<std::uint64_t> number_{0};
};

}  // namespace stackgate::inference
