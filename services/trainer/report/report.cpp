#include "services/trainer/report/report.hpp"

#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace stackgate::trainer {
namespace report_detail {

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1U : 79U;
}

}  // namespace report_detail

Report::Report(ReportSettings settings, telemetry::Work* work, metrics::Registry* registry)
    : settings_(std::move(settings)),
      terminal_(::isatty(1) == 1),
      work_(work != nullptr ? work : &no_work_),
      poster_(settings_.url.empty()
                  ? nullptr
                  : std::make_unique<Poster>(
                        PosterSettings{.url = settings_.url, .token = settings_.token, .ca_file = settings_.ca_file})) {
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
  if (tracking_) tracking_->done(event);
}

void Report::error(const Failed& event) {
  if (std::exchange(bar_shown_, false)) std::puts("");
  send(event_text(event, settings_.job));
}

void Report::end(mlflow::Status status) {
  if (tracking_) tracking_->end(status);
}

}  // namespace stackgate::trainer
