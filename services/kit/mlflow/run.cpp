#include "services/kit/mlflow/run.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/backoff.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/mlflow/artifacts.hpp"

namespace stackgate::mlflow {

class Run::Sending {
  using Clock = std::chrono::steady_clock;

 public:
  Sending(Server server, NewRun run, std::function<void(const std::string&)> known, const Pace& pace)
      : run_(std::move(run)),
        known_(std::move(known)),
        pace_(pace),
        begun_(now_in_milliseconds()),
        calls_(std::move(server), pace.call, [this] { return given_up_.load(); }),
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

  void attach(std::vector<File> files) {
    const std::scoped_lock lock(mutex_);
    for (File& each : files) files_.push_back(std::move(each));
  }

  Counts end(Status status) {
    std::unique_lock lock(mutex_);
    if (!ending_) {
      ending_ = status;
      ended_ = now_in_milliseconds();
      end_by_ = Clock::now() + pace_.end;
      changed_.notify_all();
      // Files move it: see move_end().
      for (Clock::time_point until = end_by_; !over_ && Clock::now() < until; until = end_by_)
        changed_.wait_until(lock, until);
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
        Clock::time_point until = Clock::now() + backoff_.next(jitter_);
        if (files_until_) until = std::min(until, *files_until_);
        changed_.wait_until(lock, until, [&] { return given_up_ || ending != ending_.has_value(); });
        continue;
      }
      backoff_.reset();
      changed_.wait(lock, [&] { return given_up_ || ending_ || !waiting_.empty(); });
      changed_.wait_until(lock, next_batch_, [&] { return given_up_ || ending_; });
    }
    const std::scoped_lock lock(mutex_);
    counts_.lost += waiting_.size();
    if (ending_ == Status::finished) counts_.files_lost += files_.size();
    waiting_.clear();
    over_ = true;
    changed_.notify_all();
  }

  /// The next thing to be done.
  Outcome::Kind next() {
    if (!open_) return open();
    if (!params_sent_) {
      const Outcome came = calls_.call(log_params(run_.id, run_.params));
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
    const Outcome came = calls_.call(log_metrics(run_.id, batch));
    next_batch_ = Clock::now() + pace_.between;
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
    std::optional<File> file;
    {
      const std::scoped_lock lock(mutex_);
      if (!ending_) return Outcome::Kind::good;
      status = ending_;
      if (status == Status::finished && !files_.empty()) file = files_.front();
    }
    if (file) return send_file(*file);
    const Outcome came = calls_.call(update_run(run_.id, *status, ended_));
    if (came.kind != Outcome::Kind::passing) is_over();
    return came.kind;
  }

  /// The status waits for them no longer than Pace::files.
  Outcome::Kind send_file(const File& file) {
    if (!files_until_) {
      files_until_ = Clock::now() + pace_.files;
      move_end(*files_until_ + pace_.end);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*files_until_ - Clock::now());
    if (left.count() <= 0) return without_files("the time for them is up");
    if (root_.empty()) {
      const Outcome came = calls_.call(get_run(run_.id));
      if (came.kind == Outcome::Kind::passing) return came.kind;
      if (!came.good()) return without_files(came.words);
      const auto uri = read_artifact_uri(came.body);
      if (!uri) return calls_.failed(uri.error()).kind;
      const auto root = artifact_root(*uri);
      if (!root) return without_files(root.error());
      root_ = *root;
      return Outcome::Kind::good;
    }
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(file.path, error);
    std::ifstream in(file.path, std::ios::binary);
    if (error || !in) return without_file(file, "it cannot be read");
    if (size > pace_.largest_file)
      return without_file(file, fmt::format("it has {} bytes, and {} are the most", size, pace_.largest_file));
    const Outcome came = calls_.put(put_artifact(root_, file.name), in, size, left);
    if (came.kind == Outcome::Kind::refused) return without_files(came.words);
    if (came.good()) done_with_files(1, true);
    return came.kind;
  }

  Outcome::Kind without_file(const File& file, const std::string& cause) {
    log::warning("a file of this run is not in MLflow", {{"file", file.name}, {"cause", cause}});
    done_with_files(1, false);
    return Outcome::Kind::good;
  }

  Outcome::Kind without_files(std::string_view cause) {
    log::warning("MLflow does not take the files of this run; it is recorded without them", {{"cause", cause}});
    done_with_files(std::numeric_limits<std::size_t>::max(), false);
    return Outcome::Kind::good;
  }

  void done_with_files(std::size_t count, bool sent) {
    bool all = false;
    {
      const std::scoped_lock lock(mutex_);
      count = std::min(count, files_.size());
      (sent ? counts_.files_sent : counts_.files_lost) += count;
      files_.erase(files_.begin(), files_.begin() + static_cast<std::ptrdiff_t>(count));
      all = files_.empty();
    }
    if (!all) return;
    files_until_.reset();
    move_end(Clock::now() + pace_.end);
  }

  void move_end(Clock::time_point when) {
    const std::scoped_lock lock(mutex_);
    end_by_ = when;
    changed_.notify_all();
  }

  /// A run to log to: the one that was named, else a new one.
  Outcome::Kind open() {
    if (!run_.id.empty()) {
      const Outcome came = calls_.call(update_run(run_.id, Status::running));
      if (came.kind == Outcome::Kind::passing) return came.kind;
      if (came.good()) return opened();
      run_.id.clear();
    }
    if (experiment_.empty()) {
      Outcome came = calls_.call(find_experiment(run_.experiment), "RESOURCE_DOES_NOT_EXIST");
      if (came.code == "RESOURCE_DOES_NOT_EXIST")
        came = calls_.call(create_experiment(run_.experiment), "RESOURCE_ALREADY_EXISTS");
      // Another one was quicker: it is found the next time.
      if (came.code == "RESOURCE_ALREADY_EXISTS") return Outcome::Kind::passing;
      if (!came.good()) return no_run(came);
      const auto id = read_experiment(came.body);
      if (!id) return calls_.failed(id.error()).kind;
      experiment_ = *id;
    }
    const Outcome came = calls_.call(create_run(experiment_, run_.name, run_.tags, begun_));
    if (!came.good()) return no_run(came);
    const auto id = read_run(came.body);
    if (!id) return calls_.failed(id.error()).kind;
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

  NewRun run_;
  const std::function<void(const std::string&)> known_;
  const Pace pace_;
  const std::int64_t begun_;

  // The thread's own.
  Calls calls_;
  Backoff backoff_;
  Jitter jitter_ = Jitter::random();
  std::string experiment_;
  bool open_ = false, params_sent_ = false;
  Clock::time_point next_batch_{};
  std::string root_;                              // of its files
  std::optional<Clock::time_point> files_until_;  // while they are sent

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Metric> waiting_;
  std::deque<File> files_;
  Clock::time_point end_by_{};
  std::optional<Status> ending_;
  std::int64_t ended_ = 0;
  bool over_ = false;
  Counts counts_;
  std::uint64_t pushed_out_ = 0;
  std::atomic<bool> given_up_ = false;
  std::jthread thread_;  // last: it uses the others
};

Run::Run(Server server, NewRun run, std::function<void(const std::string& id)> known, Pace pace)
    : sending_(std::make_unique<Sending>(std::move(server), std::move(run), std::move(known), pace)) {}
Run::~Run() = default;

void Run::log(std::vector<Metric> metrics) { sending_->log(std::move(metrics)); }
void Run::attach(std::vector<File> files) { sending_->attach(std::move(files)); }
Counts Run::end(Status status) { return sending_->end(status); }

std::int64_t now_in_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace stackgate::mlflow
