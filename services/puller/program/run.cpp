#include "services/puller/program/run.hpp"

#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include <unistd.h>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/run/stop.hpp"
#include "services/kit/settings/variables.hpp"
#include "services/puller/program/options.hpp"
#include "services/puller/program/report.hpp"

namespace stackgate::puller {
namespace run_detail {

constexpr std::chrono::milliseconds look{20};

constexpr std::string_view not_downloaded = "the model was not downloaded",
                           not_uploaded = "the adapter was not uploaded";

void log_failure(std::string_view what, const Failure& failure) {
  log::error(what, {{"error", failure.message},
                    {"cure", failure.cure},
                    {"reason", reason(failure.cause)},
                    {"try_again", may_pass(failure.cause)},
                    {"exit_code", exit_code(failure.cause)}});
}

Pulled pulled_of(const PullSettings& settings, const Manifest& manifest) {
  const std::string& name = settings.source.model.repository;
  return {.model = name.empty() ? manifest.source : name, .revision = manifest.revision};
}

/// Of whoever started this process: what is asked of services belongs to it.
std::unique_ptr<const TraceCopy> process_trace() {
  return std::make_unique<const TraceCopy>(run::variable("TRACEPARENT").value_or(""));
}

int carry_out(const PullSettings& settings, Report& report, run::StopSignals& signals, const FailPoint& fail_point) {
  Counter counter;
  std::promise<Result<Outcome>> promise;
  auto result = promise.get_future();
  std::jthread worker([&, trace = process_trace()] {
    std::optional<TraceScope> scope;
    trace->enter(scope);
    promise.set_value(pull(settings, counter, fail_point));
  });
  while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    report.tick(counter.now());
    const auto signal = signals.wait_for(look);
    if (!signal) continue;
    // All that is here stays for the next time, whenever this ends.
    const Failure stopped{Cause::stopped, "stopped by a signal", "start it again: what was downloaded is kept"};
    report.end(counter.now(), stopped, std::nullopt);
    log_failure(not_downloaded, stopped);
    std::fflush(nullptr);
    ::_exit(128 + *signal);
  }
  const auto outcome = result.get();
  if (!outcome) {
    report.end(counter.now(), outcome.error(), std::nullopt);
    log_failure(not_downloaded, outcome.error());
    return exit_code(outcome.error().cause);
  }
  report.end(counter.now(), std::nullopt, pulled_of(settings, outcome->manifest));
  log::info(outcome->was_complete ? "the model is complete already" : "the model is complete",
            {{"output", settings.output},
             {"source", outcome->manifest.source},
             {"revision", outcome->manifest.revision},
             {"files", outcome->manifest.files.size()},
             {"bytes", counter.total.load()}});
  return 0;
}

/// What is under way on a terminal, and now and then in the log.
class SentReport {
 public:
  void tick(const Sent& sent) {
    const auto now = std::chrono::steady_clock::now();
    const Progress progress{.downloaded = sent.bytes, .total = sent.total};
    if (progress.total == 0 || now - shown_ < (terminal_ ? terminal_pause : log_pause)) return;
    shown_ = now;
    if (terminal_)
      std::fprintf(stderr, "\r%3d %% of %.1f MB", percent(progress), static_cast<double>(progress.total) / 1e6);
    else
      log::info("uploading", {{"bytes", progress.downloaded}, {"of", progress.total}});
  }
  ~SentReport() {
    if (terminal_ && shown_ != std::chrono::steady_clock::time_point{}) std::fputs("\n", stderr);
  }

 private:
  static constexpr std::chrono::seconds log_pause{5};
  static constexpr std::chrono::milliseconds terminal_pause{200};
  const bool terminal_ = ::isatty(2) == 1;
  std::chrono::steady_clock::time_point shown_{};
};

int carry_out_upload(const UploadSettings& settings, const std::string& termination_log, run::StopSignals& signals) {
  Sent sent;
  std::promise<Result<Uploaded>> promise;
  auto result = promise.get_future();
  std::jthread worker([&, trace = process_trace()] {
    std::optional<TraceScope> scope;
    trace->enter(scope);
    promise.set_value(upload(settings, sent));
  });
  const auto end = [&](const Failure& failure) {
    write_last_words(termination_log, sentence(failure));
    log_failure(not_uploaded, failure);
  };
  {
    SentReport report;
    while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      report.tick(sent);
      const auto signal = signals.wait_for(look);
      if (!signal) continue;
      end({Cause::stopped, "stopped by a signal", "start it again: the entitystore knows what it has"});
      std::fflush(nullptr);
      ::_exit(128 + *signal);
    }
  }
  const auto outcome = result.get();
  if (!outcome) {
    end(outcome.error());
    return exit_code(outcome.error().cause);
  }
  write_last_words(termination_log, "stored as " + outcome->registered.id);
  log::info(outcome->waits_for_approval ? "the adapter is stored and waits for its approval" : "the adapter is stored",
            {{"id", outcome->registered.id},
             {"sha256", outcome->sha256},
             {"bytes", sent.total.load()},
             {"was_there", outcome->registered.was_there}});
  return 0;
}

}  // namespace run_detail

int run(int argc, char** argv, const FailPoint& fail_point) {
  using namespace run_detail;
  const settings::Program table = program();
  const std::vector<const char*> arguments(argv + std::min(argc, 1), argv + argc);
  const settings::Outcome read = settings::read(table, arguments, run::variable, run::small_file, version);
  if (!read.to_print.empty()) return std::fputs(read.to_print.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
  Asked asked;
  AskedUpload asked_upload;
  const bool uploads = read.values.command() == "upload";
  validate::Findings findings = read.findings;
  if (findings.empty() && uploads) {
    asked_upload = asked_upload_of(read.values);
    findings = asked_upload.findings;
  } else if (findings.empty()) {
    asked = asked_of(read.values);
    findings = asked.findings;
  }
  if (!findings.empty()) {
    std::fputs(settings::to_text(table, findings).c_str(), stderr);
    return exit_code(Cause::settings);
  }
  run::StopSignals signals;  // before any thread: threads inherit the signal mask
  run::give_memory_back();
  run::configure_log(read.values.text("log-level"), read.values.text("log-format"));
  for (const auto& [name, meant] : settings::misspelt_variables(table, run::environment()))
    run::warn_of_misspelt_variable(name, meant);
  auto trusted = authorities(read.values);
  if (!trusted) {
    log_failure(not_downloaded, trusted.error());
    return exit_code(trusted.error().cause);
  }
  if (uploads) {
    asked_upload.upload.ca_text = std::move(*trusted);
    return carry_out_upload(asked_upload.upload, read.values.text("termination-log"), signals);
  }
  asked.pull.access.ca_text = std::move(*trusted);
  Report report({.config_map = read.values.text("progress-config-map"),
                 .ns = read.values.text("namespace"),
                 .kubeconfig = read.values.text("kubeconfig"),
                 .termination_log = read.values.text("termination-log")});
  return carry_out(asked.pull, report, signals, fail_point);
}

}  // namespace stackgate::puller
