#include "services/kit/kube/watch_contact.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/log/log.hpp"

namespace stackgate::kube {
namespace {

std::int64_t whole_seconds(Contact::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace

std::optional<Contact::Clock::duration> Contact::answered(Clock::time_point now) {
  std::optional<Clock::duration> away;
  if (reported_) away = lost_for(now);
  since_.reset();
  reported_ = false;
  error_.clear();
  return away;
}

void Contact::failed(Clock::time_point now, std::string_view error) {
  if (!since_) since_ = now;
  error_ = error;
}

bool Contact::report_loss(Clock::time_point now) {
  if (!due() || now < *due()) return false;
  return reported_ = true;
}

std::optional<Contact::Clock::time_point> Contact::due() const {
  if (!since_ || reported_) return std::nullopt;
  return *since_ + patience;
}

Contact::Clock::duration Contact::lost_for(Clock::time_point now) const {
  return since_ ? now - *since_ : Clock::duration::zero();
}

std::string Contact::problem(Clock::time_point now) const {
  if (!since_ || lost_for(now) < patience) return {};
  return fmt::format("no answer from the API server for {} s: {}", whole_seconds(lost_for(now)), error_);
}

void ContactLog::answered() {
  if (!lost_) return;
  std::optional<Contact::Clock::duration> away;
  {
    const std::scoped_lock lock(mutex_);
    away = contact_.answered(Contact::Clock::now());
    lost_ = false;
  }
  if (away) log::info("the API server answers again", {{"server", server_}, {"away_seconds", whole_seconds(*away)}});
}

std::optional<std::chrono::milliseconds> ContactLog::failed(std::string_view error) {
  const std::scoped_lock lock(mutex_);
  contact_.failed(Contact::Clock::now(), error);
  if (lost_.exchange(true)) return std::nullopt;
  return std::chrono::milliseconds(Contact::patience);
}

std::optional<std::chrono::milliseconds> ContactLog::look() {
  std::string error;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = Contact::Clock::now();
    if (!contact_.report_loss(now)) {
      const auto due = contact_.due();
      if (!due) return std::nullopt;
      return std::max(std::chrono::milliseconds(1), std::chrono::ceil<std::chrono::milliseconds>(*due - now));
    }
    error = contact_.error();
  }
  log::warning("the API server does not answer; what is known of the cluster grows old",
               {{"server", server_}, {"error", error}});
  return std::nullopt;
}

std::chrono::duration<double> ContactLog::lost_for() const {
  const std::scoped_lock lock(mutex_);
  return contact_.lost_for(Contact::Clock::now());
}

std::string ContactLog::problem() const {
  const std::scoped_lock lock(mutex_);
  return contact_.problem(Contact::Clock::now());
}

std::string ContactLog::error() const {
  const std::scoped_lock lock(mutex_);
  return contact_.error();
}

}  // namespace stackgate::kube
