#include "services/stackgate/validate/validate.hpp"

#include <utility>

#include "services/stackgate/validate/check.hpp"
#include "services/stackgate/validate/cluster.hpp"
#include "services/stackgate/validate/inputs.hpp"
#include "services/stackgate/validate/report.hpp"

namespace stackgate {

namespace {

std::string write_report(const Report& report, ValidateOutput output, bool colour) {
  switch (output) {
    case ValidateOutput::json:
      return write_json(report);
    case ValidateOutput::sarif:
      return write_sarif(report);
    case ValidateOutput::github:
      return write_github(report);
    case ValidateOutput::text:
      break;
  }
  return write_text(report, colour);
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

  std::vector<Input> inputs = read_inputs(options.paths, console.in);
  std::vector<Input> old;
  if (!options.old_path.empty()) old = read_inputs({options.old_path}, console.in);
  const CheckedSet checked(std::move(inputs), std::move(old), options, cluster.lookup.get());
  const Report& report = checked.report();
  console.out << write_report(report, options.output, console.colour);
  const bool cluster_failed = cluster.problem && !cluster.problem->empty();
  if (cluster_failed) console.err << "stackgate: the cluster stopped answering: " << *cluster.problem << '\n';
  if (!options.old_path.empty() && report.updates == 0 && !report.unreadable) {
    console.err
        << "stackgate: no resource of " << options.old_path
        << " is among the new ones (by kind, namespace and name): nothing was compared, all of them count as deleted\n";
  }
  if (report.documents + report.passed_over == 0 && !report.unreadable) {
    console.err << "stackgate: there was nothing to check: the input holds no document\n";
    return 2;
  }
  if (report.unreadable || cluster_failed) return 2;
  return report.errors > 0 || (options.warnings_as_errors && report.warnings > 0) ? 1 : 0;
}

}  // namespace stackgate
