#include "services/datastore/upkeep.hpp"

#include <algorithm>

#include "services/kit/log/log.hpp"

namespace stackgate::datastore {

Repositories::Expected<UpkeepResult> keep_up(Repositories& repositories, git::Upkeep upkeep,
                                             const std::stop_token& stop) {
  UpkeepResult out;
  auto visited = repositories.each([&](const Repository& repository) {
    ++out.repositories;
    auto done = git::maintain(repositories.path(repository), upkeep);
    if (!done) {
      ++out.failed;
      log::warning("a repository could not be maintained",
                   {{"repository", repository.full_name()}, {"cause", done.error().message}});
    } else if (*done) {
      ++out.maintained;
    }
    return !stop.stop_requested();
  });
  if (!visited) return std::unexpected(visited.error());
  if (stop.stop_requested()) return out;
  auto swept = repositories.sweep();
  if (!swept) return std::unexpected(swept.error());
  out.swept = *swept;
  return out;
}

UpkeepThread::UpkeepThread(Repositories& repositories, std::chrono::seconds interval)
    : repositories_(repositories), interval_(interval), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void UpkeepThread::run(const std::stop_token& stop) {
  // The first round comes soon after the start: a crash may be why there was one.
  auto wait = std::min(interval_, std::chrono::seconds(60));
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, wait, [] { return false; });
    }
    if (stop.stop_requested()) return;
    wait = interval_;
    const auto done = keep_up(repositories_, git::Upkeep::when_needed, stop);
    if (!done)
      log::warning("upkeep failed", {{"cause", done.error().message}});
    else if (done->maintained + done->swept.orphans + done->swept.trash > 0)
      log::info("upkeep",
                {{"maintained", done->maintained}, {"orphans", done->swept.orphans}, {"deleted", done->swept.trash}});
  }
}

}  // namespace stackgate::datastore
