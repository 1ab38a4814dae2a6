#include "services/kit/kube/leader.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/base/time.hpp"
#include "services/kit/kube/caller.hpp"
#include "services/kit/kube/watch_runner.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::kube {
namespace {

using LeaderClock = std::chrono::steady_clock;

/// A fraction of the deadline, so that a dead connection leaves time for a fresh one.
constexpr int attempts_within_deadline = 3;

}  // namespace

struct LeaderElector::Impl : std::enable_shared_from_this<LeaderElector::Impl> {
  Client& client;
  Caller caller{client};
  const LeaderOptions options;
  const LeaderCallbacks callbacks;

  std::atomic<LeaderClock::rep> leading_until{0};  // since the clock's epoch; 0: not leading

  mutable std::mutex mutex;
  std::condition_variable wake, ended;
  LeaderMachine machine;  // this and what follows up to last_failure under the mutex
  bool stopping = false, has_ended = false;
  bool news = false;  // the watch brought something since next() was asked
  bool was_leading = false;
  std::string last_error;
  std::pair<Failure, int> last_failure;

  // On the thread only.
  std::optional<Watch> watch;
  bool unanswered = false;
  std::string shown_holder;
  std::thread thread;

  Impl(Client& c, LeaderOptions o, LeaderCallbacks b)
      : client(c), options(std::move(o)), callbacks(std::move(b)), machine(options.tuning, options.identity) {}

  /// What the watch brings, on the transport's thread.
  class Sink;

  void seen(const LeaseRecord* record) {
    const std::scoped_lock lock(mutex);
    machine.seen(record, LeaderClock::now());
    news = true;
    wake.notify_one();
  }

  std::chrono::milliseconds attempt_limit() const { return options.tuning.renew_deadline / attempts_within_deadline; }
  CallOptions call_options(std::chrono::milliseconds limit) const {
    auto out = CallOptions::once(limit);
    out.rate_limited = false;
    out.fresh_connection = unanswered;
    return out;
  }

  void keep_watch(bool wanted);
  void show(LeaderClock::time_point now);
  void read();
  void write(const WriteLease& action);
  Request write_request(LeaseRecord record, bool acquired) const;
  void failed(const ApiError& error);
  void succeeded();
  void run();
  void hand_over(std::chrono::milliseconds limit);
};

class LeaderElector::Impl::Sink final : public WatchSink {
 public:
  explicit Sink(std::weak_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void relist_began() override { any_ = false; }
  void upsert(const json::Value& object) override {
    any_ = true;
    const LeaseRecord record = read_lease(object);
    if (const auto impl = impl_.lock()) impl->seen(&record);
  }
  void remove(const json::Value& /*object*/) override {
    if (const auto impl = impl_.lock()) impl->seen(nullptr);
  }
  void relist_ended() override {
    if (any_) return;
    if (const auto impl = impl_.lock()) impl->seen(nullptr);
  }

 private:
  std::weak_ptr<Impl> impl_;
  bool any_ = false;
};

/// A leader does not watch: it would only see itself.
void LeaderElector::Impl::keep_watch(bool wanted) {
  if (!wanted) {
    watch.reset();
  } else if (!watch) {
    const WatchTarget target{types::leases, options.ns, "", "metadata.name=" + options.name};
    watch.emplace(client.transport(), target, std::make_shared<Sink>(weak_from_this()));
  }
}

/// Reports what has changed: to the log and the callbacks.
void LeaderElector::Impl::show(LeaderClock::time_point now) {
  std::string holder, why;
  bool leading = false, changed = false;
  {
    const std::scoped_lock lock(mutex);
    if (stopping) return;
    machine.expire(now);
    leading = machine.leading(now);
    leading_until = leading ? machine.leading_until().time_since_epoch().count() : 0;
    changed = std::exchange(was_leading, leading) != leading;
    why = machine.why_lost();
    holder = machine.holder();
  }
  if (holder != shown_holder) {
    shown_holder = holder;
    if (!holder.empty()) {
      log::info("lease has a holder", {{"lease", options.name}, {"holder", holder}});
      if (callbacks.new_leader) callbacks.new_leader(holder);
    }
  }
  if (!changed) return;
  if (leading) {
    log::info("leading", {{"lease", options.name}, {"identity", options.identity}});
    if (callbacks.started) callbacks.started();
  } else {
    log::warning("not leading any more", {{"lease", options.name}, {"reason", why}});
    if (callbacks.stopped) callbacks.stopped(why);
  }
}

void LeaderElector::Impl::succeeded() {
  unanswered = false;
  last_error.clear();
  last_failure = {};
}

void LeaderElector::Impl::failed(const ApiError& error) {
  // Also what waited for another request's connection, which may be the one that hangs.
  unanswered = error.failure == Failure::timed_out || error.failure == Failure::unreachable;
  const bool conflict = error.code == 409 || error.code == 404;
  machine.failed(conflict, LeaderClock::now());
  if (conflict && error.code == 409) return;
  // Once per cause, not each two seconds; the words change with each time-out.
  if (std::exchange(last_failure, {error.failure, error.code}) != std::pair(error.failure, error.code))
    log::warning("the lease cannot be reached", {{"lease", options.name}, {"error", error.message}});
  last_error = error.message;
}

void LeaderElector::Impl::read() {
  const auto answer =
      object_of(caller.send(Request::get(types::leases, options.ns, options.name), call_options(attempt_limit())));
  const std::scoped_lock lock(mutex);
  if (answer) {
    const LeaseRecord record = read_lease(answer->root());
    machine.read(&record, LeaderClock::now());
    succeeded();
  } else if (answer.error().not_found()) {
    machine.read(nullptr, LeaderClock::now());
  } else {
    failed(answer.error());
  }
}

Request LeaderElector::Impl::write_request(LeaseRecord record, bool acquired) const {
  record.renew_time = to_rfc3339(std::chrono::system_clock::now(), 6);
  if (acquired) record.acquire_time = record.renew_time;
  if (record.resource_version.empty())
    return Request::create(types::leases, options.ns, lease_json(options.ns, options.name, record));
  return Request::patch(types::leases, options.ns, options.name, PatchType::merge, lease_patch(record));
}

void LeaderElector::Impl::write(const WriteLease& action) {
  const auto begun = LeaderClock::now();
  const auto answer =
      object_of(caller.send(write_request(action.record, action.acquired), call_options(attempt_limit())));
  const std::scoped_lock lock(mutex);
  if (answer) {
    machine.written(read_lease(answer->root()), begun);
    succeeded();
  } else {
    failed(answer.error());
  }
}

void LeaderElector::Impl::run() {
  for (;;) {
    LeaderAction action;
    bool leading = false;
    {
      const std::scoped_lock lock(mutex);
      if (stopping) break;
      machine.watching(watch && watch->health().connected);
      news = false;
      action = machine.next(LeaderClock::now());
      leading = machine.leading(LeaderClock::now());
    }
    show(LeaderClock::now());
    keep_watch(!leading);
    if (const auto* until = std::get_if<WaitUntil>(&action)) {
      std::unique_lock lock(mutex);
      wake.wait_until(lock, until->time, [this] { return stopping || news; });
    } else if (const auto* wanted = std::get_if<WriteLease>(&action)) {
      write(*wanted);
    } else {
      read();
    }
    show(LeaderClock::now());
  }
  watch.reset();
  const std::scoped_lock lock(mutex);
  has_ended = true;
  ended.notify_all();
}

void LeaderElector::Impl::hand_over(std::chrono::milliseconds limit) {
  const auto deadline = LeaderClock::now() + limit;
  std::optional<LeaseRecord> record;
  {
    const std::scoped_lock lock(mutex);
    record = machine.release();
  }
  // Twice: somebody may have set a label since.
  for (int attempt = 0; record && attempt < 2; ++attempt) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - LeaderClock::now());
    if (left.count() <= 0) return;
    const auto call = call_options(left);
    const auto answer = client.send(write_request(*record, true), call);
    if (answer) {
      log::info("lease released", {{"lease", options.name}});
      return;
    }
    if (answer.error().code != 409) {
      log::warning("the lease could not be released", {{"error", answer.error().message}});
      return;
    }
    const auto stored = client.get(types::leases, options.ns, options.name, call);
    if (!stored) return;
    const std::scoped_lock lock(mutex);
    const LeaseRecord seen = read_lease(stored->root());
    machine.read(&seen, LeaderClock::now());
    record = machine.release();
  }
}

std::expected<std::unique_ptr<LeaderElector>, Error> LeaderElector::start(Client& client, LeaderOptions options,
                                                                          LeaderCallbacks callbacks) {
  if (options.ns.empty() || options.name.empty() || options.identity.empty())
    return std::unexpected(Error{"leader election: the lease's namespace, its name and our identity must be given"});
  if (auto fault = LeaderMachine::check(options.tuning)) return std::unexpected(std::move(*fault));
  auto impl = std::make_shared<Impl>(client, std::move(options), std::move(callbacks));
  impl->thread = std::thread([raw = impl.get()] { raw->run(); });
  return std::unique_ptr<LeaderElector>(new LeaderElector(std::move(impl)));
}

LeaderElector::LeaderElector(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

LeaderElector::~LeaderElector() { release(); }

bool LeaderElector::is_leader() const {
  return LeaderClock::now().time_since_epoch().count() < impl_->leading_until.load();
}

void LeaderElector::release(std::chrono::milliseconds limit) {
  const auto begun = LeaderClock::now();
  {
    std::unique_lock lock(impl_->mutex);
    if (impl_->stopping) return;
    impl_->stopping = true;
    impl_->leading_until = 0;
    impl_->wake.notify_one();
    // A write under way may be the one that gives us the lease, so it is only broken off when it takes long.
    if (!impl_->ended.wait_for(lock, limit / 2, [this] { return impl_->has_ended; })) impl_->caller.break_off();
  }
  impl_->thread.join();
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(LeaderClock::now() - begun);
  impl_->hand_over(std::max(limit - spent, std::chrono::milliseconds(1)));
}

LeaderNumbers LeaderElector::numbers() const {
  const std::scoped_lock lock(impl_->mutex);
  return {is_leader(), impl_->machine.holder(), impl_->machine.counts(), impl_->last_error};
}

std::string make_identity() {
  std::string name;
  if (const char* pod = std::getenv("POD_NAME"); pod != nullptr && *pod != '\0') {
    name = pod;
  } else {
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    name = host[0] == '\0' ? "unknown" : host;
  }
  std::random_device device;
  return fmt::format("{}_{:08x}{:08x}", name, device(), device());
}

}  // namespace stackgate::kube
