#include "services/trainer/report/report.hpp"

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

#include <sys/ioctl.h>
#include <unistd.h>

#include "services/kit/http_client/client.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::trainer {
namespace report_detail {

using namespace std::chrono_literals;
constexpr std::size_t most_waiting = 1000;  // of a server that is away only the newest objects are kept
constexpr auto limit_of_call = 10s, pause_after_failure = 1s, last_limit = 10s;

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1U : 79U;
}

}  // namespace report_detail

/// Sends objects in their order, one at a time, on a thread of its own.
class Report::Poster {
 public:
  explicit Poster(const ReportSettings& settings)
      : settings_(settings),
        client_({.whole = report_detail::limit_of_call,
                 .retries = 0,
                 .ca_file = settings.ca_file,
                 .user_agent = "stackgate-trainer"}),
        thread_([this](const std::stop_token& stop) { send_all(stop); }) {}
  ~Poster() {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, report_detail::last_limit, [&] { return waiting_.empty(); });
    }
    given_up_ = true;
    thread_.request_stop();
  }

  void add(std::string text) {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= report_detail::most_waiting) waiting_.pop_front();
    waiting_.push_back(std::move(text));
    changed_.notify_all();
  }

 private:
  void send_all(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); }) && !stop.stop_requested()) {
      const std::string text = waiting_.front();
      lock.unlock();
      const bool sent = send(text);
      lock.lock();
      // What is pushed out meanwhile was the oldest: this one.
      if (sent && !waiting_.empty() && waiting_.front() == text) waiting_.pop_front();
      changed_.notify_all();
      if (!sent) changed_.wait_for(lock, stop, report_detail::pause_after_failure, [] { return false; });
    }
  }

  /// Whether the object is settled: taken, or refused for good.
  bool send(const std::string& text) {
    http_client::Request request{.method = "POST", .url = settings_.url, .body = text};
    request.headers.emplace_back("Content-Type", "application/json");
    if (!settings_.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + settings_.token);
    request.give_up = [this] { return given_up_.load(); };
    const auto answer = client_.call(request);
    const bool again = !answer || answer->status >= 500 || answer->status == 429 || answer->status == 408;
    if (answer && answer->status < 300) {
      warned_ = false;
    } else if (!std::exchange(warned_, true)) {
      log::warning("progress is not reported",
                   {{"cause", answer ? "HTTP " + std::to_string(answer->status) : answer.error().message}});
    }
    return !again;
  }

  const ReportSettings& settings_;
  http_client::Client client_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> waiting_;
  bool warned_ = false;
  std::atomic<bool> given_up_ = false;
  std::jthread thread_;  // last: it uses the others
};

Report::Report(ReportSettings settings, telemetry::Work* work, metrics::Registry* registry)
    : settings_(std::move(settings)),
      terminal_(::isatty(1) == 1),
      work_(work != nullptr ? work : &no_work_),
      poster_(settings_.url.empty() ? nullptr : std::make_unique<Poster>(settings_)) {
  if (registry == nullptr) return;
  loss_ = &registry->gauge("stackgate_trainer_loss", "Of the last interval of steps.").at();
  tokens_per_second_ = &registry->gauge("stackgate_trainer_tokens_per_second", "In the last interval of steps.").at();
}

Report::~Report() = default;

void Report::publish(std::string text) {
  if (settings_.errors_alone) return;
  send(std::move(text));
}

void Report::send(std::string text) {
  if (!terminal_ || !bar_shown_) {
    std::puts(text.c_str());
    std::fflush(stdout);
  }
  if (poster_) poster_->add(std::move(text));
}

void Report::start(const Started& event, const std::optional<RunFacts>& facts) {
  publish(event_text(event, settings_.job));
  if (facts && settings_.tracking && !settings_.errors_alone)
    tracking_.emplace(*settings_.tracking, settings_.job, *facts);
}

void Report::step(const Stepped& event) {
  if (terminal_ && !settings_.errors_alone) {
    bar_shown_ = true;
    std::printf("\r\x1b[K%s", bar(event, report_detail::terminal_columns()).c_str());
    std::fflush(stdout);
  }
  publish(event_text(event, settings_.job));
  if (tracking_) tracking_->step(event);
  if (loss_ == nullptr) return;
  loss_->set(event.loss);
  tokens_per_second_->set(event.tokens_per_second);
}

void Report::validation(std::uint64_t step, double loss) {
  publish(validation_text(step, loss, settings_.job));
  if (tracking_) tracking_->validation(step, loss);
}

void Report::checkpoint(std::uint64_t step, const std::string& path) {
  publish(checkpoint_text(step, path, settings_.job));
}

void Report::done(const Finished& event) {
  if (std::exchange(bar_shown_, false)) std::puts("");
  publish(event_text(event, settings_.job));
}

void Report::error(const Failed& event) {
  if (std::exchange(bar_shown_, false)) std::puts("");
  send(event_text(event, settings_.job));
}

void Report::end(mlflow::Status status) {
  if (tracking_) tracking_->end(status);
}

}  // namespace stackgate::trainer
