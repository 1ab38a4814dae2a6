#include "services/puller/program/report.hpp"

#include <cstdio>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "services/kit/files/file.hpp"
#include "services/kit/kube/config.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::puller {
namespace report_detail {

using std::chrono::seconds;
/// Each change is a write of the cache's status.
constexpr seconds between_lines{1}, between_patches{5}, last_limit{10};
using kube::types::config_maps;

std::size_t columns() {
  winsize size{};
  return ::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1U : 79U;
}

}  // namespace report_detail

Report::Report(ReportSettings settings) : settings_(std::move(settings)), terminal_(::isatty(1) == 1) {
  if (settings_.config_map.empty()) return;
  auto config = kube::find_config(settings_.kubeconfig);
  if (!config) {
    warn_once(config.error().message);
    return;
  }
  if (settings_.ns.empty()) settings_.ns = config->ns;
  config->user_agent = "stackgate-puller";
  auto client = kube::Client::connect(std::move(*config));
  if (client)
    client_ = std::move(*client);
  else
    warn_once(client.error().message);
}

void Report::warn_once(const std::string& why) {
  if (std::exchange(warned_, true)) return;
  log::warning("progress is not reported to the cluster", {{"config_map", settings_.config_map}, {"cause", why}});
}

void Report::show(const Progress& progress, Clock::time_point now) {
  if (terminal_) {
    const double passed = std::chrono::duration<double>(now - shown_).count();
    const double rate = progress.downloaded > shown_bytes_ && passed > 0
                            ? static_cast<double>(progress.downloaded - shown_bytes_) / passed
                            : 0;
    std::printf("\r\x1b[K%s", progress_bar(progress, rate, report_detail::columns()).c_str());
  } else {
    std::puts(progress_line(progress).c_str());
  }
  std::fflush(stdout);
  shown_ = now;
  shown_bytes_ = progress.downloaded;
}

/// One at a time: what is not answered is waited for.
void Report::send(const Progress& progress) {
  using namespace report_detail;
  if (pending_ && !pending_->wait_for(std::chrono::milliseconds(0))) return;
  if (pending_) {
    const auto answer = pending_->wait();
    pending_.reset();
    if (!answer) {
      warn_once(answer.error().message);
      sent_.clear();
    }
  }
  std::string patch = report_patch(progress, std::nullopt, std::nullopt);
  if (patch == sent_) return;
  sent_ = patch;
  pending_ = client_->start(
      kube::Request::patch(config_maps, settings_.ns, settings_.config_map, kube::PatchType::merge, std::move(patch)),
      kube::CallOptions::once(between_patches));
}

void Report::tick(const Progress& progress) {
  const auto now = Clock::now();
  if (now - shown_ >= report_detail::between_lines) show(progress, now);
  if (client_ && now - reported_ >= report_detail::between_patches) {
    send(progress);
    reported_ = now;
  }
}

void write_last_words(const std::string& termination_log, const std::string& text) {
  const files::File file(::open(termination_log.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (file) (void)files::write_all(file.fd(), text + "\n");
}

void Report::end(const Progress& progress, const std::optional<Failure>& failure, const std::optional<Pulled>& pulled) {
  using namespace report_detail;
  show(progress, Clock::now());
  if (terminal_) std::puts("");
  write_last_words(settings_.termination_log, failure ? sentence(*failure) : progress_line(progress));
  if (!client_) return;
  if (pending_) pending_->cancel();
  kube::CallOptions options;
  options.timeout = last_limit / 2;
  options.retry.total = last_limit;
  const auto answer = client_->patch(config_maps, settings_.ns, settings_.config_map, kube::PatchType::merge,
                                     report_patch(progress, failure, pulled), {}, options);
  if (!answer) warn_once(answer.error().message);
}

}  // namespace stackgate::puller
