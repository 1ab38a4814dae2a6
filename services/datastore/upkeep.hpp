// What repositories need now and then, in the background of serve and at once by gc.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "services/datastore/git/maintenance.hpp"
#include "services/datastore/repositories/repositories.hpp"

namespace stackgate::datastore {

struct UpkeepResult {
  Repositories::Swept swept{};
  std::size_t repositories = 0, maintained = 0, failed = 0;
};

/// Every repository maintained, then the sweep. Goes on behind a repository that fails; ends early when stopped.
Repositories::Expected<UpkeepResult> keep_up(Repositories& repositories, git::Upkeep upkeep,
                                             const std::stop_token& stop);

/// keep_up() again and again on a thread of its own. Replicas may all run one.
class UpkeepThread {
 public:
  UpkeepThread(Repositories& repositories, std::chrono::seconds interval);
  ~UpkeepThread() = default;  // waits for the repository under way
  UpkeepThread(const UpkeepThread&) = delete;
  UpkeepThread& operator=(const UpkeepThread&) = delete;

 private:
  void run(const std::stop_token& stop);

  Repositories& repositories_;
  const std::chrono::seconds interval_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace stackgate::datastore
