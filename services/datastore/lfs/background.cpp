#include "services/datastore/lfs/background.hpp"

#include "services/datastore/git/maintenance.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::lfs {

run::Periodic::Round background_round(LargeFiles& objects, BackgroundOptions options,
                                      LargeFiles::Referenced referenced) {
  using Clock = std::chrono::steady_clock;
  // Replicas that start together do not collect together; and never at the very start.
  return [&objects, options, referenced = std::move(referenced), collect_at = Clock::now() + options.collect](
             const std::stop_token& stop) mutable -> std::chrono::milliseconds {
    while (options.look.count() > 0 && !stop.stop_requested()) {
      const auto worked = objects.promote();
      if (!worked) log::warning("a direct upload could not be hashed yet", {{"problem", worked.error().message}});
      if (!worked || !*worked) break;
    }
    if (options.collect.count() > 0 && Clock::now() >= collect_at && !stop.stop_requested()) {
      const auto done = objects.collect(options.grace, referenced);
      if (done) {
        log::info("large files collected", {{"unlinked", done->unlinked},
                                            {"removed", done->removed},
                                            {"bytes", done->bytes},
                                            {"orphans", done->orphans}});
      } else {
        log::warning("large files could not be collected", {{"problem", done.error().message}});
      }
      collect_at = Clock::now() + options.collect;
    }
    return options.look.count() > 0 ? options.look : std::chrono::seconds(60);
  };
}

LargeFiles::Referenced pointers_in_git(std::function<std::string(std::int64_t)> path_of) {
  return [path_of = std::move(path_of)](std::int64_t repository,
                                        const std::function<void(std::string_view)>& visit) -> Expected<void> {
    auto read = git::each_lfs_pointer(path_of(repository), [&](const git::LfsPointer& p) { visit(p.oid); });
    if (read) return {};
    // Whatever the reason: nothing of a repository that cannot be read is thrown away.
    log::warning("the pointers of a repository could not be read; its large files stay",
                 {{"repository", repository}, {"problem", read.error().message}});
    return std::unexpected(ServiceError{ServiceFault::missing, read.error().message});
  };
}

}  // namespace stackgate::datastore::lfs
