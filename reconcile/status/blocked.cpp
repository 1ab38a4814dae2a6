#include "reconcile/status/blocked.hpp"

#include <algorithm>

namespace stackgate::reconcile {

Status blocked_by(Status status, const Trouble& trouble) {
  if (trouble.lasting)
    status.state = State::failed;
  else if (status.state == State::ready)
    status.state = State::not_ready;
  const auto ready = std::ranges::find(status.conditions, "Ready", &Condition::type);
  Condition says{"Ready", "False", trouble.reason, trouble.message};
  if (ready == status.conditions.end())
    status.conditions.push_back(std::move(says));
  else
    *ready = std::move(says);
  return status;
}

}  // namespace stackgate::reconcile
