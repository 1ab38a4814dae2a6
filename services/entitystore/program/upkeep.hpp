// What goes on beside the requests: the catalogue follows the database, the sweep follows crashes.
#pragma once
#include <chrono>
#include <cstdint>

#include "services/entitystore/registration/registrar.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::entitystore {

struct UpkeepTimes {
  std::chrono::milliseconds refresh{250}, sweep{30'000};
  std::int64_t access_log_days = 90;
};

class Upkeep {
 public:
  Upkeep(sql::Database& database, Catalogue& catalogue, Registrar& registrar, UpkeepTimes times);

  /// A sweep soon: something was deleted.
  void wake() { sweeping_.wake(); }

 private:
  run::Periodic following_, sweeping_;
};

}  // namespace stackgate::entitystore
