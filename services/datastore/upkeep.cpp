#include "services/datastore/upkeep.hpp"

#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore {

Repositories::Expected<UpkeepResult> keep_up(Repositories& repositories, git::Upkeep upkeep,
                                             const std::stop_token& stop) {
  UpkeepResult out;
  TRY(repositories.each([&](const Repository& repository) {
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
  }));
  if (stop.stop_requested()) return out;
  out.swept = TRY(repositories.sweep());
  return out;
}

run::Periodic::Round upkeep_round(Repositories& repositories, std::chrono::seconds interval) {
  return [&repositories, interval](const std::stop_token& stop) -> std::chrono::milliseconds {
    const auto done = keep_up(repositories, git::Upkeep::when_needed, stop);
    if (!done)
      log::warning("upkeep failed", {{"cause", done.error().message}});
    else if (done->maintained + done->swept.orphans + done->swept.trash > 0)
      log::info("upkeep",
                {{"maintained", done->maintained}, {"orphans", done->swept.orphans}, {"deleted", done->swept.trash}});
    return interval;
  };
}

}  // namespace stackgate::datastore
