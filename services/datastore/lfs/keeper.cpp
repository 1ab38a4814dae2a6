#include "services/datastore/lfs/keeper.hpp"

#include "services/datastore/git/maintenance.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::lfs {

Keeper::Keeper(Objects& objects, KeeperOptions options, Objects::Referenced referenced)
    : objects_(objects),
      options_(options),
      referenced_(std::move(referenced)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Keeper::run(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  // Replicas that start together do not collect together; and never at the very start.
  auto collect_at = Clock::now() + options_.collect;
  const auto pause = options_.look.count() > 0 ? options_.look : std::chrono::seconds(60);
  while (!stop.stop_requested()) {
    while (options_.look.count() > 0 && !stop.stop_requested()) {
      const auto worked = objects_.promote();
      if (!worked) log::warning("a direct upload could not be hashed yet", {{"problem", worked.error().message}});
      if (!worked || !*worked) break;
    }
    if (options_.collect.count() > 0 && Clock::now() >= collect_at && !stop.stop_requested()) {
      const auto done = objects_.collect(options_.grace, referenced_);
      if (done) {
        log::info("large files collected", {{"unlinked", done->unlinked},
                                            {"removed", done->removed},
                                            {"bytes", done->bytes},
                                            {"orphans", done->orphans}});
      } else {
        log::warning("large files could not be collected", {{"problem", done.error().message}});
      }
      collect_at = Clock::now() + options_.collect;
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, pause, [] { return false; });
  }
}

Objects::Referenced pointers_in_git(std::function<std::string(std::int64_t)> path_of) {
  return [path_of = std::move(path_of)](std::int64_t repository,
                                        const std::function<void(std::string_view)>& visit) -> Expected<void> {
    auto read = git::each_lfs_pointer(path_of(repository), [&](const git::LfsPointer& p) { visit(p.oid); });
    if (read) return {};
    // Whatever the reason: nothing of a repository that cannot be read is thrown away.
    log::warning("the pointers of a repository could not be read; its large files stay",
                 {{"repository", repository}, {"problem", read.error().message}});
    return std::unexpected(ObjectError{Fault::missing, read.error().message});
  };
}

}  // namespace stackgate::datastore::lfs
