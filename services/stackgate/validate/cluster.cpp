#include "services/stackgate/validate/cluster.hpp"

#include <utility>

#include "cluster_state/lookup.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/config.hpp"

namespace stackgate {

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

}  // namespace stackgate
