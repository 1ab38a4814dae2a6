// What goes on beside the requests: the catalogue follows the database, the sweep follows crashes.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "services/entitystore/registration/registrar.hpp"

namespace stackgate::entitystore {

struct UpkeepTimes {
  std::chrono::milliseconds refresh{250}, sweep{30'000};
  std::int64_t access_log_days = 90;
};

class Upkeep {
 public:
  Upkeep(sql::Database& database, Catalogue& catalogue, Registrar& registrar, UpkeepTimes times);
  ~Upkeep();
  Upkeep(const Upkeep&) = delete;
  Upkeep& operator=(const Upkeep&) = delete;

  /// A sweep soon: something was deleted.
  void wake();

 private:
  void follow();
  void sweep();
  /// False when it is time to stop.
  bool wait(std::chrono::milliseconds period, bool until_woken);

  sql::Database& database_;
  Catalogue& catalogue_;
  Registrar& registrar_;
  const UpkeepTimes times_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::jthread following_, sweeping_;
};

}  // namespace stackgate::entitystore
