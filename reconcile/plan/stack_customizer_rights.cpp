#include "reconcile/plan/stack_customizer_rights.hpp"

namespace stackgate::reconcile::customizer {

std::vector<parts::PolicyRule> rights(std::string_view scheduler, std::string_view dialect) {
  const std::vector<std::string> life{"create", "get", "list", "watch", "delete"};
  const std::vector<std::string> view{"get", "list", "watch"};
  std::vector<parts::PolicyRule> out{{{""}, {"pods"}, view},
                                     {{""}, {"pods/log"}, {"get"}},
                                     {{""}, {"events"}, {"list", "watch"}},
                                     {{""}, {"configmaps"}, {"create", "get", "delete"}},
                                     {{""}, {"persistentvolumeclaims"}, life},
                                     // Models and datasets are downloaded by plain Jobs, whoever schedules trainings.
                                     {{"batch"}, {"jobs"}, life}};
  if (scheduler == "gang") {
    out.push_back({{"batch.volcano.sh"}, {"jobs"}, life});
    out.push_back({{"scheduling.volcano.sh"}, {"podgroups"}, view});  // why a job waits
  } else if (dialect == "kueue") {
    out.push_back({{"kueue.x-k8s.io"}, {"workloads"}, view});
  }
  return out;
}

}  // namespace stackgate::reconcile::customizer
