#include "services/guardrail/front/turn_driver.hpp"

#include <chrono>
#include <utility>

namespace stackgate::guardrail {
namespace {

Moment moment() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

TurnDriver::TurnDriver(TurnInput input, Execute execute, Then then)
    : turn_(std::move(input)), execute_(std::move(execute)), then_(std::move(then)) {}

std::shared_ptr<TurnDriver> TurnDriver::make(TurnInput input, Execute execute, Then then) {
  return std::shared_ptr<TurnDriver>(new TurnDriver(std::move(input), std::move(execute), std::move(then)));
}

void TurnDriver::cancel() {
  const std::scoped_lock lock(mutex_);
  over_ = true;
}

/// What the turn asks for next; `more`: it may ask again at once.
std::vector<ActionRequest> TurnDriver::next(bool& more) {
  more = false;
  if (over_) return {};
  std::vector<ActionRequest> requests;
  if (!begun_) {
    begun_ = true;
    requests = turn_.begin(moment());
  } else if (!results_.empty()) {
    ActionResult result = std::move(results_.front());
    results_.pop_front();
    requests = turn_.finished(std::move(result), moment());
  } else {
    return {};
  }
  more = true;
  return requests;
}

/// One thread at a time turns the crank; the others leave their result and go.
void TurnDriver::pump() {
  std::unique_lock lock(mutex_);
  if (std::exchange(pumping_, true)) return;
  for (;;) {
    bool more = false;
    auto requests = next(more);
    if (!over_ && turn_.done()) {
      over_ = true;
      lock.unlock();
      then_(turn_.take_result());
      return;
    }
    if (!more) break;  // with the lock: who brings a result from now on turns the crank
    lock.unlock();
    for (ActionRequest& request : requests) {
      const std::uint64_t id = request.id;
      execute_(std::move(request), [self = shared_from_this(), id](ActionResult result) {
        result.id = id;
        {
          const std::scoped_lock guard(self->mutex_);
          self->results_.push_back(std::move(result));
        }
        self->pump();
      });
    }
    lock.lock();
  }
  pumping_ = false;
}

}  // namespace stackgate::guardrail
