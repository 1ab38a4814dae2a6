#include "services/trainer/program/run.hpp"

#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "services/kit/base/version.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/settings/variables.hpp"
#include "services/kit/telemetry/telemetry.hpp"
#include "services/kit/telemetry/work.hpp"
#include "services/trainer/learn_library/load_learner.hpp"
#include "services/trainer/program/options.hpp"
#include "services/trainer/program/stop_flag.hpp"

namespace stackgate::trainer {
namespace run_detail {

constexpr std::chrono::seconds flush_limit{5};  // of telemetry, at the end

/// All that is wrong with the file; nothing to read is no fault.
Failure read_configuration(const std::string& file, model::Hyperparameters& out) {
  Failure failure{Ending::wrong_input, {}};
  if (file.empty()) return failure;
  const auto text = files::read_file(file, model::largest_configuration);
  if (!text) {
    failure.faults.push_back({.message = fmt::format("cannot be read: {}", std::strerror(text.error())), .file = file});
    return failure;
  }
  auto read = model::read_hyperparameters(*text, "");
  for (const validate::Finding& each : read.findings)
    failure.faults.push_back(
        {.message = fmt::format("{}{}{}; {}", each.path, each.path.empty() ? "" : ": ", each.problem, each.fix),
         .file = file});
  out = std::move(read.parameters);
  return failure;
}

int report_failure(const Failure& failure, Report& report) {
  for (const Failed& each : failure.faults) {
    const std::string place = each.line != 0 ? fmt::format("{}:{}", each.file, each.line) : each.file;
    log::error(each.message, {{"place", place}, {"exit_code", static_cast<int>(failure.ending)}});
    report.error(each);
  }
  return static_cast<int>(failure.ending);
}

mlflow::Status status_of(Ending ending) {
  return ending == Ending::done      ? mlflow::Status::finished
         : ending == Ending::stopped ? mlflow::Status::killed
                                     : mlflow::Status::failed;
}

int reported(const settings::Values& values, const FailPoint& fail_point, telemetry::Work& work,
             metrics::Registry& registry) {
  Report report({.job = values.text("job-id"),
                 .url = values.text("progress-url"),
                 .token = values.text("progress-token"),
                 .ca_file = values.text("ca-file"),
                 .tracking = tracking_settings(values),
                 .errors_alone = values.command() == "train" && values.integer("rank") != 0},
                &work, &registry);
  const std::string library =
      values.has("learner-library") ? values.text("learner-library") : default_learner_library();
  const Backend backend{on_device_of(values, learner_of_library(library)), group_of_library(library)};
  Result<Ending> ending = Ending::done;
  if (values.command() == "make-tiny") {
    ending = make_tiny(tiny_settings(values), backend.open_learner, report, stop_asked);
  } else if (values.command() == "merge") {
    ending = merge(merge_settings(values));
    if (ending) report.done({.path = values.text("output")});
  } else {
    TrainSettings settings = train_settings(values);
    if (const Failure wrong = read_configuration(values.text("config"), settings.parameters); !wrong.faults.empty())
      return report_failure(wrong, report);
    ending = train(settings, backend, report, stop_asked, fail_point);
  }
  const int code = ending ? static_cast<int>(*ending) : report_failure(ending.error(), report);
  report.end(status_of(ending ? *ending : ending.error().ending));
  return code;
}

/// Spans, gauges and log lines go to a collector where one is named.
int carry_out(const settings::Values& values, const FailPoint& fail_point) {
  watch_stop_signals();
  metrics::Registry registry;
  telemetry::Options options;
  if (values.command() == "train") options = telemetry::read_telemetry(values, "stackgate-trainer", run::host_name());
  const auto telemetry = telemetry::Telemetry::start(std::move(options), registry, false);
  telemetry::Work work(*telemetry, run::variable("TRACEPARENT").value_or(""));
  const int code = reported(values, fail_point, work, registry);
  telemetry->shutdown(flush_limit);
  return code;
}

}  // namespace run_detail

int run(int argc, char** argv, const FailPoint& fail_point) {
  const settings::Program table = program();
  const std::vector<const char*> arguments(argv + std::min(argc, 1), argv + argc);
  const settings::Outcome read = settings::read(table, arguments, run::variable, run::small_file, version);
  if (!read.to_print.empty()) return std::fputs(read.to_print.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
  validate::Findings findings = read.findings;
  if (findings.empty()) findings = faults_of(read.values);
  if (!findings.empty()) {
    std::fputs(settings::to_text(table, findings).c_str(), stderr);
    return static_cast<int>(Ending::wrong_input);
  }
  run::configure_log(read.values.text("log-level"), read.values.text("log-format"));
  for (const auto& [name, meant] : settings::misspelt_variables(table, run::environment()))
    run::warn_of_misspelt_variable(name, meant);
  return run_detail::carry_out(read.values, fail_point);
}

}  // namespace stackgate::trainer
