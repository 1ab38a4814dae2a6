#include "services/guardrail/models/protocol/breaker.hpp"

#include <algorithm>

namespace stackgate::guardrail {

std::optional<Breaker::Ticket> Breaker::begin(Moment now) {
  if (closed_) return Ticket{.round = round_};
  if (now < open_until_ || probes_ >= rules_.probes) return std::nullopt;
  ++probes_;
  return Ticket{.round = round_, .probe = true};
}

void Breaker::open(Moment now) {
  const std::chrono::nanoseconds first = rules_.rest, most = rules_.longest_rest;
  rest_ = rest_.count() == 0 ? first : std::min(2 * rest_, most);
  open_until_ = now + rest_;
  closed_ = false;
  failures_ = probes_ = 0;
  ++round_;
}

void Breaker::ended(const Ticket& ticket, Result result, Moment now) {
  if (ticket.round != round_) return;
  if (ticket.probe) --probes_;
  if (result == Result::unknown) return;
  if (result == Result::succeeded) {
    failures_ = 0;
    if (!ticket.probe) return;
    closed_ = true;
    rest_ = {};
    probes_ = 0;
    ++round_;
  } else if (ticket.probe || ++failures_ >= rules_.failures) {
    open(now);
  }
}

Breaker::State Breaker::state(Moment now) const {
  if (closed_) return State::closed;
  return now < open_until_ ? State::open : State::half_open;
}

Breaker::Moment Breaker::wait(Moment now) const { return closed_ ? Moment(0) : std::max(open_until_ - now, Moment(0)); }

}  // namespace stackgate::guardrail
