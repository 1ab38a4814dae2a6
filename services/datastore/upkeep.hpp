// What repositories need now and then, in the background of serve and at once by gc.
#pragma once
#include <chrono>
#include <stop_token>

#include "services/datastore/git/maintenance.hpp"
#include "services/datastore/repositories/repositories.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::datastore {

struct UpkeepResult {
  Repositories::Swept swept{};
  std::size_t repositories = 0, maintained = 0, failed = 0;
};

/// Every repository maintained, then the sweep. Goes on behind a repository that fails; ends early when stopped.
Repositories::Expected<UpkeepResult> keep_up(Repositories& repositories, git::Upkeep upkeep,
                                             const std::stop_token& stop);

/// keep_up() again and again; the first round comes a minute after the start at the latest. Replicas may all run one.
run::Periodic::Round upkeep_round(Repositories& repositories, std::chrono::seconds interval);
inline constexpr std::chrono::seconds first_upkeep{60};  // soon: a crash may be why there was a start

}  // namespace stackgate::datastore
