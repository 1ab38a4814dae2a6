// What a work queue decides, without threads and clock: which key is handed out next, and when.
//
//              add                     take                 done
//   (unknown) ─────→ queued (normal, low) ────→ in work ────────────→ (unknown)
//       └ add_after ─→ delayed ─ due ─↑            └ added meanwhile → queued again
//
// A key waits once however often it was added, and is in work once at most. Pure; not thread-safe. `now` must not run
// backwards. Every operation is O(1) but for delays: O(log n).
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "services/kit/base/backoff.hpp"

namespace stackgate::kube {

enum class Priority : std::uint8_t { normal, low };

struct QueueLimits {
  /// Of add_backing_off(): the waits after a key's first, second, … failure.
  BackoffLimits backoff{std::chrono::milliseconds(5), std::chrono::milliseconds(300'000), 2.0};
  /// A key of low priority counts as one of normal priority that was added this much later: no normal key that was
  /// added after that goes before it.
  std::chrono::milliseconds low_waits_at_most{30'000};
};

/// For metrics. The totals are monotonic.
struct QueueNumbers {
  std::size_t normal = 0, low = 0;  // ready to be handed out
  std::size_t delayed = 0;          // keys that become ready later
  std::size_t in_work = 0;
  std::size_t failing = 0;  // keys that wait longer after each failure: added backing off and not forgotten
  std::uint64_t adds_total = 0;
  std::uint64_t taken_total = 0;
  std::uint64_t retries_total = 0;            // of add_backing_off()
  std::chrono::milliseconds longest_wait{0};  // of the keys that are ready now, low ones included
  std::chrono::milliseconds longest_work{0};  // of the keys in work now: a stuck worker shows here
  std::size_t depth() const { return normal + low; }
};

template <class Key, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class WorkQueueCore {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Taken {
    Key key;
    std::chrono::steady_clock::duration waited;  // from when it became ready
    int failures;                                // add_backing_off() since the last forget()
  };

  WorkQueueCore(const QueueLimits& limits, Jitter jitter) : limits_(limits), jitter_(jitter) {}

  /// A key that waits with low priority and is added with normal priority moves up; never the other way.
  /// True when the key became ready by this call (and not when it is in work or ready already).
  bool add(const Key& key, Priority priority, Time now) {
    if (shut_) return false;
    ++adds_;
    return make_ready(at(key), priority, now);
  }
  /// Adds the key when `delay` is over. Of several delays of one key the earliest counts; add() does not undo it.
  void add_after(const Key& key, std::chrono::milliseconds delay, Priority priority, Time now) {
    if (shut_) return;
    if (delay.count() <= 0) {
      add(key, priority, now);
      return;
    }
    const Iterator entry = at(key);
    if (entry->timer != timers_.end()) {
      if (priority == Priority::normal) entry->timer_priority = priority;
      if (entry->timer->first <= now + delay) return;
      timers_.erase(entry->timer);
    } else {
      entry->timer_priority = priority;
    }
    entry->timer = timers_.emplace(now + delay, entry);
  }
  /// Adds the key after a wait that grows with each call, until forget(). Returns the wait.
  std::chrono::milliseconds add_backing_off(const Key& key, Priority priority, Time now) {
    if (shut_) return {};
    const Iterator entry = at(key);
    const auto wait = backoff_wait(limits_.backoff, entry->failures, jitter_.next());
    if (entry->failures == 0) ++failing_;
    entry->failures = std::min(entry->failures + 1, 60);
    ++retries_;
    add_after(key, wait, priority, now);
    return wait;
  }
  /// The key succeeded: its next failure waits as briefly as the first. A delay under way stays.
  void forget(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second->failures == 0) return;
    found->second->failures = 0;
    --failing_;
    drop_if_idle(found->second);
  }

  /// Makes ready what is due. True when there was any.
  bool tick(Time now) {
    bool any = false;
    while (!timers_.empty() && timers_.begin()->first <= now) {
      const Iterator entry = timers_.begin()->second;
      timers_.erase(timers_.begin());
      entry->timer = timers_.end();
      ++adds_;
      make_ready(entry, entry->timer_priority, now);
      any = true;
    }
    return any;
  }
  /// The next key to work on, if any is ready. Each key taken must be given back by done().
  std::optional<Taken> take(Time now) {
    tick(now);
    if (shut_ || (normal_.empty() && low_.empty())) return std::nullopt;
    const bool take_low =
        normal_.empty() || (!low_.empty() && low_.front().since + limits_.low_waits_at_most < normal_.front().since);
    List& from = take_low ? low_ : normal_;
    const Iterator entry = from.begin();
    const auto waited = now - entry->since;
    move(entry, Place::work);
    entry->since = now;
    ++taken_;
    return Taken{*entry->key, waited, entry->failures};
  }
  /// True when the key is ready again at once, because it was added while it was in work. A key that is not in work
  /// is passed over.
  bool done(const Key& key, Time now) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second->place != Place::work) return false;
    const Iterator entry = found->second;
    if (entry->again && !shut_) {
      entry->again = false;
      move(entry, place_of(entry->again_priority));
      entry->since = now;
      return true;
    }
    entry->again = false;
    move(entry, Place::rest);
    drop_if_idle(entry);
    return false;
  }
  /// Nothing is handed out or added any more; what waits is let go, what is in work ends with done().
  void shut_down() {
    shut_ = true;
    timers_.clear();
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const Iterator each = entry->second;
      each->timer = timers_.end();
      if (each->place == Place::work) {
        ++entry;
        continue;
      }
      list_of(each->place).erase(each);
      entry = entries_.erase(entry);
    }
  }

  bool is_shut_down() const { return shut_; }
  bool any_ready() const { return !normal_.empty() || !low_.empty(); }
  std::optional<Time> next_due() const {
    return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first);
  }

  QueueNumbers numbers(Time now) const {
    QueueNumbers out;
    out.normal = normal_.size();
    out.low = low_.size();
    out.delayed = timers_.size();
    out.in_work = work_.size();
    out.failing = failing_;
    out.adds_total = adds_;
    out.taken_total = taken_;
    out.retries_total = retries_;
    // Each list is in the order in which its keys came.
    for (const List* list : {&normal_, &low_})
      if (!list->empty()) out.longest_wait = std::max(out.longest_wait, age(list->front(), now));
    if (!work_.empty()) out.longest_work = age(work_.front(), now);
    return out;
  }
  /// Keys that cost memory: ready, delayed, in work or failing.
  std::size_t known() const { return entries_.size(); }

 private:
  enum class Place : std::uint8_t { rest, normal, low, work };
  struct Entry;
  using List = std::list<Entry>;
  using Iterator = typename List::iterator;
  using Timers = std::multimap<Time, Iterator>;
  struct Entry {
    const Key* key;  // in entries_
    Time since{};    // ready since, or in work since
    typename Timers::iterator timer;
    int failures = 0;
    Place place = Place::rest;
    bool again = false;  // added while in work
    Priority again_priority = Priority::normal, timer_priority = Priority::normal;
  };

  static Place place_of(Priority priority) { return priority == Priority::normal ? Place::normal : Place::low; }
  static std::chrono::milliseconds age(const Entry& entry, Time now) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.since);
  }
  List& list_of(Place place) {
    switch (place) {
      case Place::normal:
        return normal_;
      case Place::low:
        return low_;
      case Place::work:
        return work_;
      case Place::rest:
        break;
    }
    return rest_;
  }
  Iterator at(const Key& key) {
    const auto [found, fresh] = entries_.try_emplace(key);
    if (fresh) {
      rest_.push_back(Entry{.key = &found->first, .timer = timers_.end()});
      found->second = std::prev(rest_.end());
    }
    return found->second;
  }
  void move(Iterator entry, Place to) {
    List& target = list_of(to);
    target.splice(target.end(), list_of(entry->place), entry);
    entry->place = to;
  }
  bool make_ready(Iterator entry, Priority priority, Time now) {
    switch (entry->place) {
      case Place::normal:
        return false;
      case Place::low:
        if (priority == Priority::low) return false;
        move(entry, Place::normal);
        entry->since = now;  // the list stays in the order of these
        return false;
      case Place::work:
        entry->again_priority = entry->again ? std::min(entry->again_priority, priority) : priority;
        entry->again = true;
        return false;
      case Place::rest:
        break;
    }
    move(entry, place_of(priority));
    entry->since = now;
    return true;
  }
  void drop_if_idle(Iterator entry) {
    if (entry->place != Place::rest || entry->failures != 0 || entry->timer != timers_.end()) return;
    const auto found = entries_.find(*entry->key);
    rest_.erase(entry);
    entries_.erase(found);
  }

  const QueueLimits limits_;
  Jitter jitter_;
  std::unordered_map<Key, Iterator, Hash, Equal> entries_;
  List rest_, normal_, low_, work_;
  Timers timers_;
  bool shut_ = false;
  std::size_t failing_ = 0;
  std::uint64_t adds_ = 0, taken_ = 0, retries_ = 0;
};

}  // namespace stackgate::kube
