// A turn together with what executes its actions: no thread is held while they are under way.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "services/guardrail/dialog/turn.hpp"

namespace stackgate::guardrail {

using ActionDone = std::move_only_function<void(ActionResult)>;
/// Executes one action and calls back once, on any thread, also before it returns.
using Execute = std::move_only_function<void(ActionRequest, ActionDone)>;

/// Thread-safe. Lives until its last action has called back.
class TurnDriver : public std::enable_shared_from_this<TurnDriver> {
 public:
  using Then = std::move_only_function<void(TurnResult)>;

  /// `then` is called once, on the thread of the last action, unless it is cancelled before.
  static std::shared_ptr<TurnDriver> make(TurnInput input, Execute execute, Then then);
  void start() { pump(); }

  /// Results count no more, and `then` is not called. Actions that are under way go on unless their owner ends them.
  void cancel();

 private:
  TurnDriver(TurnInput input, Execute execute, Then then);
  void pump();
  std::vector<ActionRequest> next(bool& more);

  std::mutex mutex_;
  Turn turn_;
  Execute execute_;
  Then then_;
  std::deque<ActionResult> results_{};  // not yet given to the turn
  bool begun_ = false, pumping_ = false, over_ = false;
};

}  // namespace stackgate::guardrail
