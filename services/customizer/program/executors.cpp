// Where stages run, by the settings.
#include <algorithm>

#include <fmt/format.h>

#include "services/customizer/program/program.hpp"
#include "services/customizer/runs/cluster/cluster.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/kube/config.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::customizer {
namespace executors_detail {

constexpr std::uint64_t largest_setup = 1U << 20U;

/// The pods that ask know the namespace; a kubeconfig may name one.
std::string namespace_of(const settings::Values& values, const kube::Config& config) {
  if (!values.text("namespace").empty()) return values.text("namespace");
  return config.ns.empty() ? std::string("default") : config.ns;
}

}  // namespace executors_detail

using namespace executors_detail;

std::expected<SetupRead, Error> setup_of(const settings::Values& values) {
  const std::string& path = values.text("customizer-config-file");
  auto text = files::read_file(path, largest_setup);
  if (!text) return std::unexpected(Error{fmt::format("{} cannot be read", path)});
  return read_setup(*text);
}

std::expected<ExecutorParts, Error> make_executor(const settings::Values& values, const CatalogueFolder& catalogue,
                                                  const std::string& callback_url, const FailPoint& fail) {
  ExecutorParts out{.limits = limits_of(values)};
  if (!values.has("customizer-config-file")) {
    out.executor = TRY(LocalExecutor::open(local_options(values, callback_url)));
    return out;
  }
  SetupRead read = TRY(setup_of(values));
  for (const validate::Finding& each : read.findings)
    log::warning("how jobs run", {{"finding", validate::to_line(each)}});
  if (validate::has_errors(read.findings))
    return std::unexpected(
        Error{fmt::format("{}: {}", values.text("customizer-config-file"),
                          validate::to_line(*std::ranges::find(read.findings, validate::Severity::error,
                                                               &validate::Finding::severity)))});
  auto config = TRY(kube::find_config(values.text("kubeconfig")));
  for (const std::string& warning : config.warnings) log::warning(warning, {{"source", config.source}});
  config.user_agent = fmt::format("stackgate-customizer/{}", version);
  Addresses addresses{.kubernetes_namespace = namespace_of(values, config),
                      .callback_url = callback_url,
                      .datastore_url = values.text("datastore-url"),
                      .entitystore_url = values.text("entitystore-url")};
  out.about = {{"cluster", config.server},
               {"namespace", addresses.kubernetes_namespace},
               {"scheduler", std::string(to_string(read.setup.scheduler))}};
  if (values.source("training-limit") == settings::Source::fallback && read.setup.training.timeout_seconds)
    out.limits.training = *read.setup.training.timeout_seconds;
  auto executor = TRY(ClusterExecutor::open({.config = std::move(config),
                                             .setup = std::move(read.setup),
                                             .addresses = std::move(addresses),
                                             .defaults = [&catalogue] { return catalogue.now()->container; },
                                             .fail = fail}));
  // Records are read, and new ones taken, while it is away.
  out.checks.push_back({.name = "cluster",
                        .ask = [cluster = executor.get()](std::chrono::milliseconds) -> std::expected<void, Error> {
                          if (std::string problem = cluster->problem(); !problem.empty())
                            return std::unexpected(Error{std::move(problem)});
                          return cluster->available();
                        },
                        .only_warns = true});
  out.executor = std::move(executor);
  return out;
}

}  // namespace stackgate::customizer
