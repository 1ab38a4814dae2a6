#include "services/kit/mlflow/run.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/backoff.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/http_client/client.hpp"
#include "services/kit/http_client/url.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::mlflow {
namespace run_detail {

/// What came of a call: an answer to use, a refusal for good, or something that passes.
struct Outcome {
  enum class Kind : std::uint8_t { good, refused, passing } kind = Kind::passing;
  std::string body{}, code{}, words{};

  bool good() const { return kind == Kind::good; }
};

Server without_slashes(Server server) {
  while (server.url.ends_with('/')) server.url.pop_back();
  return server;
}

bool passes(int status) { return status >= 500 || status == 429 || status == 408; }

}  // namespace run_detail

class Run::Sending {
  using Outcome = run_detail::Outcome;

 public:
  Sending(Server server, NewRun run, std::function<void(const std::string&)> known, const Pace& pace)
      : server_(run_detail::without_slashes(std::move(server))),
        run_(std::move(run)),
        known_(std::move(known)),
        pace_(pace),
        begun_(now_in_milliseconds()),
        client_({.whole = pace.call, .retries = 0, .ca_file = server_.ca_file}),
        backoff_({.first = pace.first_pause, .most = pace.longest_pause}),
        thread_([this] { work(); }) {}
  ~Sending() { end(Status::failed); }

  void log(std::vector<Metric> metrics) {
    const std::scoped_lock lock(mutex_);
    if (over_ || ending_) {
      counts_.lost += metrics.size();
      return;
    }
    for (Metric& each : metrics) waiting_.push_back(std::move(each));
    while (waiting_.size() > pace_.waiting) {
      waiting_.pop_front();
      ++counts_.lost;
      ++pushed_out_;
    }
    changed_.notify_all();
  }

  Counts end(Status status) {
    std::unique_lock lock(mutex_);
    if (!ending_) {
      ending_ = status;
      ended_ = now_in_milliseconds();
      changed_.notify_all();
      changed_.wait_for(lock, pace_.end, [&] { return over_; });
      given_up_ = true;
      changed_.notify_all();
    }
    lock.unlock();
    if (thread_.joinable()) thread_.join();
    return counts_;
  }

 private:
  void work() {
    while (!given_up_) {
      const Outcome::Kind came = next();
      std::unique_lock lock(mutex_);
      if (over_ || given_up_) break;
      if (came == Outcome::Kind::passing) {
        // The end does not wait for a pause to be over.
        const bool ending = ending_.has_value();
        changed_.wait_for(lock, backoff_.next(jitter_), [&] { return given_up_ || ending != ending_.has_value(); });
        continue;
      }
      backoff_.reset();
      changed_.wait(lock, [&] { return given_up_ || ending_ || !waiting_.empty(); });
      changed_.wait_until(lock, next_batch_, [&] { return given_up_ || ending_; });
    }
    const std::scoped_lock lock(mutex_);
    counts_.lost += waiting_.size();
    waiting_.clear();
    over_ = true;
    changed_.notify_all();
  }

  /// The next thing to be done.
  Outcome::Kind next() {
    if (!open_) return open();
    if (!params_sent_) {
      const Outcome came = call(log_params(run_.id, run_.params));
      params_sent_ = came.kind != Outcome::Kind::passing;
      return came.kind;
    }
    std::vector<Metric> batch;
    std::uint64_t pushed_out = 0;
    {
      const std::scoped_lock lock(mutex_);
      const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), most_metrics));
      batch.assign(waiting_.begin(), waiting_.begin() + count);
      pushed_out = pushed_out_;
    }
    return batch.empty() ? finish() : send(batch, pushed_out);
  }

  /// `pushed_out`: when the batch was made; what was pushed out since is its beginning.
  Outcome::Kind send(const std::vector<Metric>& batch, std::uint64_t pushed_out) {
    const Outcome came = call(log_metrics(run_.id, batch));
    next_batch_ = std::chrono::steady_clock::now() + pace_.between;
    if (came.kind == Outcome::Kind::passing) return came.kind;
    const std::scoped_lock lock(mutex_);
    const std::size_t gone = std::min<std::uint64_t>(batch.size(), pushed_out_ - pushed_out);
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(batch.size() - gone));
    counts_.lost -= gone;  // it was sent all the same
    (came.good() ? counts_.sent : counts_.lost) += batch.size();
    return came.kind;
  }

  Outcome::Kind finish() {
    std::optional<Status> status;
    {
      const std::scoped_lock lock(mutex_);
      if (!ending_) return Outcome::Kind::good;
      status = ending_;
    }
    const Outcome came = call(update_run(run_.id, *status, ended_));
    if (came.kind != Outcome::Kind::passing) is_over();
    return came.kind;
  }

  /// A run to log to: the one that was named, else a new one.
  Outcome::Kind open() {
    if (!run_.id.empty()) {
      const Outcome came = call(update_run(run_.id, Status::running));
      if (came.kind == Outcome::Kind::passing) return came.kind;
      if (came.good()) return opened();
      run_.id.clear();
    }
    if (experiment_.empty()) {
      Outcome came = call(find_experiment(run_.experiment), "RESOURCE_DOES_NOT_EXIST");
      if (came.code == "RESOURCE_DOES_NOT_EXIST")
        came = call(create_experiment(run_.experiment), "RESOURCE_ALREADY_EXISTS");
      // Another one was quicker: it is found the next time.
      if (came.code == "RESOURCE_ALREADY_EXISTS") return Outcome::Kind::passing;
      if (!came.good()) return no_run(came);
      const auto id = read_experiment(came.body);
      if (!id) return failed(id.error()).kind;
      experiment_ = *id;
    }
    const Outcome came = call(create_run(experiment_, run_.name, run_.tags, begun_));
    if (!came.good()) return no_run(came);
    const auto id = read_run(came.body);
    if (!id) return failed(id.error()).kind;
    run_.id = *id;
    return opened();
  }

  Outcome::Kind opened() {
    open_ = true;
    log::info("MLflow records this run", {{"run_id", run_.id}, {"experiment", run_.experiment}});
    if (known_) known_(run_.id);
    return Outcome::Kind::good;
  }

  Outcome::Kind no_run(const Outcome& came) {
    if (came.kind == Outcome::Kind::refused) is_over();
    return came.kind;
  }

  void is_over() {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }

  /// `expected`: a code that is no news.
  Outcome call(const Call& what, std::string_view expected = {}) {
    http_client::Request request{.method = what.method, .url = server_.url + what.path, .body = what.body};
    if (!what.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    if (std::string credentials = authorization(server_); !credentials.empty())
      request.headers.emplace_back("Authorization", std::move(credentials));
    request.largest_reply = 1U << 20U;
    request.repeatable = false;
    request.give_up = [this] { return given_up_.load(); };
    const auto answer = client_.call(request);
    if (!answer) return failed(answer.error().message);
    if (answer->status >= 200 && answer->status < 300) {
      if (std::exchange(warned_, false)) log::info("MLflow takes what is logged again");
      return {Outcome::Kind::good, answer->body, {}, {}};
    }
    const Refusal refusal = read_refusal(answer->body);
    const std::string words = fmt::format("HTTP {} {} {}", answer->status, refusal.code, refusal.message);
    if (run_detail::passes(answer->status)) return failed(words);
    if (refusal.code != expected || expected.empty()) warn("MLflow refuses what is logged; the run goes on", words);
    return {Outcome::Kind::refused, {}, refusal.code, words};
  }

  Outcome failed(const std::string& words) {
    if (!given_up_) warn("MLflow cannot be reached; the run goes on", words);
    return {Outcome::Kind::passing, {}, {}, words};
  }

  /// Once, until it works again.
  void warn(std::string_view what, const std::string& words) {
    if (!std::exchange(warned_, true))
      log::warning(what, {{"server", http_client::without_secrets(server_.url)}, {"cause", words}});
  }

  const Server server_;
  NewRun run_;
  const std::function<void(const std::string&)> known_;
  const Pace pace_;
  const std::int64_t begun_;
  http_client::Client client_;

  // The thread's own.
  Backoff backoff_;
  Jitter jitter_ = Jitter::random();
  std::string experiment_;
  bool open_ = false, params_sent_ = false, warned_ = false;
  std::chrono::steady_clock::time_point next_batch_{};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Metric> waiting_;
  std::optional<Status> ending_;
  std::int64_t ended_ = 0;
  bool over_ = false;
  Counts counts_;
  std::uint64_t pushed_out_ = 0;
  std::atomic<bool> given_up_ = false;
  std::jthread thread_;  // last: it uses the others
};

std::string authorization(const Server& server) {
  if (!server.token.empty()) return "Bearer " + server.token;
  return server.user.empty() ? "" : "Basic " + base64::encode(server.user + ":" + server.password);
}

Run::Run(Server server, NewRun run, std::function<void(const std::string& id)> known, Pace pace)
    : sending_(std::make_unique<Sending>(std::move(server), std::move(run), std::move(known), pace)) {}
Run::~Run() = default;

void Run::log(std::vector<Metric> metrics) { sending_->log(std::move(metrics)); }
Counts Run::end(Status status) { return sending_->end(status); }

std::int64_t now_in_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace stackgate::mlflow
