// What large files need in the background: direct uploads hashed soon after they came, garbage collected now and then.
// Every replica may run one; they share the work through the database.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "services/datastore/lfs/objects.hpp"

namespace stackgate::datastore::lfs {

struct KeeperOptions {
  std::chrono::seconds look{2};             // for direct uploads; 0: there are none
  std::chrono::seconds collect{24 * 3600};  // 0: never
  std::chrono::seconds grace{7 * 24 * 3600};
};

class Keeper {
 public:
  /// `objects` must outlive it.
  Keeper(Objects& objects, KeeperOptions options, Objects::Referenced referenced);
  /// Waits for the step under way: one file being hashed.
  ~Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

 private:
  void run(const std::stop_token& stop);

  Objects& objects_;
  const KeeperOptions options_;
  const Objects::Referenced referenced_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

/// Reads the pointers of a repository from its Git objects, for Objects::collect. `path_of` gives its folder.
Objects::Referenced pointers_in_git(std::function<std::string(std::int64_t)> path_of);

}  // namespace stackgate::datastore::lfs
