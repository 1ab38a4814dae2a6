// What large files need in the background: direct uploads hashed soon after they came, garbage collected now and then.
// Every replica may run one; they share the work through the database.
#pragma once
#include <chrono>
#include <functional>

#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::datastore::lfs {

struct BackgroundOptions {
  std::chrono::seconds look{2};             // for direct uploads; 0: there are none
  std::chrono::seconds collect{24 * 3600};  // 0: never
  std::chrono::seconds grace{7 * 24 * 3600};
};

/// The rounds of one thread; it ends after the step under way, one file being hashed. `objects` must outlive it.
run::Periodic::Round background_round(LargeFiles& objects, BackgroundOptions options,
                                      LargeFiles::Referenced referenced);

/// Reads the pointers of a repository from its Git objects, for LargeFiles::collect. `path_of` gives its folder.
LargeFiles::Referenced pointers_in_git(std::function<std::string(std::int64_t)> path_of);

}  // namespace stackgate::datastore::lfs
