#include "services/kit/kube/leader_core.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/number.hpp"

namespace stackgate::kube {
namespace {

/// Whether `fresh` was stored after `known`. Resource versions of one API server are whole numbers that grow; where
/// they are not, every one counts as news.
bool is_newer(std::string_view fresh, std::string_view known) {
  const auto a = to_number<std::uint64_t>(fresh), b = to_number<std::uint64_t>(known);
  return !a || !b || *a > *b;
}

}  // namespace

std::optional<Error> LeaderMachine::check(const LeaderTuning& tuning) {
  if (tuning.retry.count() <= 0) return Error{"leader election: the retry period must be longer than 0"};
  if (tuning.renew_deadline <= tuning.retry)
    return Error{fmt::format("leader election: the renew deadline ({} ms) must be longer than the retry period ({} ms)",
                             tuning.renew_deadline.count(), tuning.retry.count())};
  if (tuning.lease_duration <= tuning.renew_deadline)
    return Error{
        fmt::format("leader election: the lease duration ({} s) must be longer than the renew deadline ({} ms)",
                    tuning.lease_duration.count(), tuning.renew_deadline.count())};
  return std::nullopt;
}

const std::string& LeaderMachine::holder() const {
  static const std::string nobody;
  return record_ ? record_->holder : nobody;
}

bool LeaderMachine::held_by_another() const {
  return record_ && !record_->holder.empty() && record_->holder != identity_;
}

LeaderMachine::Time LeaderMachine::runs_out() const {
  // A holder that does not say how long it needs is given what we would need.
  const bool is_stated = record_ && record_->duration.count() > 0;
  return changed_ + (is_stated ? record_->duration : tuning_.lease_duration);
}

void LeaderMachine::lose(std::string why) {
  leading_ = false;
  known_ = false;
  why_lost_ = std::move(why);
  ++counts_.lost;
}

void LeaderMachine::expire(Time now) {
  if (leading_ && now >= leading_until())
    lose(fmt::format("the lease could not be renewed for {} ms", tuning_.renew_deadline.count()));
}

LeaderAction LeaderMachine::next(Time now) {
  expire(now);
  if (now < not_before_) return WaitUntil{leading_ ? std::min(not_before_, leading_until()) : not_before_};
  if (!known_) return ReadLease{};
  if (!leading_ && held_by_another() && now < runs_out()) {
    const Time next_read = last_read_ + tuning_.retry;
    if (!watching_ && now >= next_read) return ReadLease{};
    return WaitUntil{std::min(runs_out(), watching_ ? now + tuning_.retry : next_read)};
  }
  WriteLease out;
  out.acquired = !record_ || record_->holder != identity_;
  if (record_) {
    out.record = *record_;
    if (out.acquired) ++out.record.transitions;
  }
  out.record.holder = identity_;
  out.record.duration = tuning_.lease_duration;
  return out;
}

void LeaderMachine::learn(const LeaseRecord* record, Time now) {
  const bool same = record == nullptr ? !record_ : record_ && same_words(*record, *record_);
  if (!same) changed_ = now;
  if (record != nullptr && !record->holder.empty() && record->holder != holder()) ++counts_.transitions_seen;
  record_ = record == nullptr ? std::nullopt : std::optional(*record);
  known_ = true;
}

void LeaderMachine::read(const LeaseRecord* record, Time now) {
  last_read_ = now;
  learn(record, now);
  if (!held_by_another()) return;
  if (now < runs_out()) conflicts_in_row_ = 0;
  if (leading_) {
    lose(fmt::format("the lease was taken by {}", holder()));
    known_ = true;
  }
}

void LeaderMachine::seen(const LeaseRecord* record, Time now) {
  if (leading_) return;  // what matters to a leader shows when it renews
  if (record != nullptr && record_ && !is_newer(record->resource_version, record_->resource_version)) return;
  if (record == nullptr && !record_) return;
  learn(record, now);
  not_before_ = std::min(not_before_, now);
}

void LeaderMachine::written(const LeaseRecord& stored, Time begun) {
  learn(&stored, begun);
  renewed_ = begun;
  not_before_ = begun + tuning_.retry;
  conflicts_in_row_ = 0;
  if (leading_) {
    ++counts_.renewals;
  } else {
    leading_ = true;
    ++counts_.acquired;
  }
}

void LeaderMachine::failed(bool conflict, Time now) {
  known_ = false;
  if (conflict) {
    ++counts_.conflicts;
    // Once is a race that somebody else won; again is a fault that would repeat without end.
    if (++conflicts_in_row_ < 2) {
      not_before_ = now;
      return;
    }
  } else {
    ++counts_.failures;
  }
  not_before_ = now + tuning_.retry;
}

std::optional<LeaseRecord> LeaderMachine::release() {
  leading_ = false;
  if (!record_ || record_->holder != identity_) return std::nullopt;
  LeaseRecord out = *record_;
  out.holder.clear();
  out.duration = std::chrono::seconds(1);
  return out;
}

}  // namespace stackgate::kube
