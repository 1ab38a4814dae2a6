#include "services/stackgate/validate/validate.hpp"

#include <algorithm>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster_state/lookup.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/findings/terminal_text.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/config.hpp"
#include "services/stackgate/validate/check.hpp"
#include "services/stackgate/validate/inputs.hpp"
#include "services/stackgate/validate/report.hpp"
#include "validators/lookup.hpp"

namespace stackgate {

namespace {

/// The rules' view of a live cluster, for one run of `stackgate validate --cluster`.
struct ClusterSession {
  std::shared_ptr<void> connection;      // outlives the lookup
  std::unique_ptr<std::string> problem;  // why the server stopped answering; empty as long as it does
  std::unique_ptr<validate::Lookup> lookup;
  std::string ns;        // of the kubeconfig's context
  std::string warnings;  // one per line
};

std::expected<ClusterSession, Error> open_cluster(const ValidateOptions& options) {
  auto config = TRY(kube::find_config(options.kubeconfig, options.context));
  ClusterSession session;
  session.ns = config.ns;
  for (const std::string& warning : config.warnings) session.warnings += warning + '\n';
  auto client = TRY(kube::Client::connect(std::move(config)));
  const std::shared_ptr<kube::Client> shared = std::move(client);
  session.connection = shared;
  session.problem = std::make_unique<std::string>();
  session.lookup = cluster::make_asking_lookup(*shared, session.problem.get());
  return session;
}

std::string write_report(const Report& report, ValidateOutput output, bool colour, bool complete) {
  switch (output) {
    case ValidateOutput::json:
      return write_json(report);
    case ValidateOutput::sarif:
      return write_sarif(report, complete);
    case ValidateOutput::github:
      return write_github(report);
    case ValidateOutput::text:
      break;
  }
  return write_text(report, colour);
}

/// The name of the first file that only kustomize reads, or "".
std::string kustomization_among(const std::vector<Input>& inputs) {
  const auto found = std::ranges::find_if(inputs, [](const Input& input) {
    const std::string_view name = std::string_view(input.name).substr(input.name.rfind('/') + 1);
    return name == "kustomization.yaml" || name == "kustomization.yml";
  });
  return found == inputs.end() ? std::string() : validate::visible_text(found->name);
}

}  // namespace

int run_validate(const ValidateOptions& given, const Console& console) {
  ValidateOptions options = given;
  ClusterSession cluster;
  if (options.cluster) {
    auto opened = open_cluster(options);
    if (!opened) {
      console.err << "stackgate: no cluster can be asked: " << opened.error().message
                  << "\nLeave --cluster out to check what the documents say about themselves.\n";
      return 2;
    }
    cluster = std::move(*opened);
    console.err << cluster.warnings;
    if (options.ns.empty()) options.ns = cluster.ns;
  }

  if (options.old_path == "-" && std::ranges::find(options.paths, "-") != options.paths.end()) {
    console.err << "stackgate: standard input cannot be both the stored resources and the new ones\n";
    return 2;
  }
  std::vector<Input> inputs = read_inputs(options.paths, console.in);
  const std::string kustomization = kustomization_among(inputs);
  std::vector<Input> old;
  if (!options.old_path.empty()) old = read_inputs({options.old_path}, console.in);
  const CheckedSet checked(std::move(inputs), std::move(old), options, cluster.lookup.get());
  const Report& report = checked.report();
  const bool cluster_failed = cluster.problem && !cluster.problem->empty();
  const bool nothing_to_check = report.documents - report.deletions + report.passed_over == 0 && !report.unreadable;
  const bool complete = !report.unreadable && !cluster_failed && !nothing_to_check;
  console.out << write_report(report, options.output, console.colour, complete);
  if (cluster_failed) console.err << "stackgate: the cluster stopped answering: " << *cluster.problem << '\n';
  if (nothing_to_check) {
    console.err << "stackgate: there was nothing to check: the input holds no document\n";
  } else if (!options.old_path.empty() && report.updates == 0 && !report.unreadable) {
    console.err << "stackgate: no resource of " << options.old_path
                << " is among the new ones (by kind, namespace and name): nothing was compared"
                << (report.deletions > 0 ? ", all of them count as deleted\n" : "\n");
  }
  if (report.errors > 0 && !kustomization.empty()) {
    console.err << "stackgate: " << kustomization << " puts manifests together, and these may be parts of them: "
                << "kustomize build DIRECTORY | stackgate validate - checks what will be applied\n";
  }
  if (!complete) return 2;
  return report.errors > 0 || (options.warnings_as_errors && report.warnings > 0) ? 1 : 0;
}

}  // namespace stackgate
