// What stages write, kept with the customization: lines are stored once, whoever reads them; the trainer's own events
// are counted instead.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/customizer/job/progress.hpp"
#include "services/customizer/records/records.hpp"
#include "services/customizer/runs/executor.hpp"

namespace stackgate::customizer {

class StageLog {
 public:
  /// Of the stage's newest attempt, what is new. `ended`: its events count, too, should they not have been posted.
  /// True: the row has changed by them.
  bool take(Records& records, Executor& executor, const Work& work, Stage stage, bool ended);

 private:
  std::string attempt_{};  // that `offset_` is of
  std::uint64_t offset_ = 0;
  std::int64_t skip_ = 0, lines_ = 0;  // stored by whoever came before; of this attempt
  Progress passed_over_{};             // what events say that were read while it ran: they are posted, too
};

/// Whether a line is an event of the trainer: {"event": …}. Pure.
bool is_event(std::string_view line);

}  // namespace stackgate::customizer
