#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/outcome.hpp"
#include "reconcile/plan/parts/workload.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile::parts {
namespace {

/// On top of the time to start: pulling an image of many GB, attaching a volume.
constexpr std::int64_t rollout_slack_seconds = 600;

/// Under an autoscaler its number stays, as far as the bounds allow. Zero would stop it.
std::int64_t scaled_replicas(const Scope& scope) {
  const Field scale = scope.spec["scale"];
  const std::int64_t least = scale["minReplicas"].integer().value_or(1);
  const std::int64_t most = std::max(least, scale["maxReplicas"].integer().value_or(least));
  const LiveChild* live = scope.planning.observed.find(ChildType::deployment, scope.name);
  const json::Value* now = live == nullptr || live->object == nullptr || !live->owned
                               ? nullptr
                               : json::at(live->object, {"spec", "replicas"});
  return std::clamp(now == nullptr ? least : now->integer(), least, most);
}

void write_strategy(json::Writer& out, Rollout rollout) {
  out.object("strategy", [&] {
    if (rollout == Rollout::recreate) return out.member("type", "Recreate");
    out.member("type", "RollingUpdate");
    out.object("rollingUpdate", [&] {
      // Kubernetes rounds maxSurge up and maxUnavailable down, and lets one pod go when both come to none.
      if (rollout == Rollout::surge) {
        out.member("maxSurge", "25%");
        out.member("maxUnavailable", 0);
      } else {
        out.member("maxSurge", 0);
        out.member("maxUnavailable", "25%");
      }
    });
  });
}

std::int64_t progress_deadline(const Workload& workload) {
  const std::int64_t start = workload.main.startup ? workload.main.startup->budget() : 0;
  const std::int64_t ready = workload.main.readiness ? workload.main.readiness->initial_delay : 0;
  return std::min<std::int64_t>(start + ready + rollout_slack_seconds, std::numeric_limits<std::int32_t>::max());
}

/// Of stack kinds that name no image, when the operator was given none either.
void report_missing_image(const Scope& scope) {
  scope.problems.push_back(
      {.reason = "ImageMissing",
       .message =
           fmt::format("spec.image is not set and --image-{} names no image either; set one of them", scope.component),
       .lasting = true});
}

}  // namespace

void add_deployment(const Scope& scope, const Workload& workload) {
  const bool scaled = is_scaled(scope);
  const bool runnable = !workload.main.image.empty();
  if (!runnable) report_missing_image(scope);
  // What runs already is left as it is.
  if (!runnable && own_live(scope, ChildType::deployment, scope.name) == nullptr) return;
  add_child(scope, ChildType::deployment, scope.name,
            {.labels = workload.pod.labels, .keep = !runnable, .follows_live_replicas = scaled},
            [&](json::Writer& out) {
              out.object("spec", [&] {
                out.member("replicas", scaled ? scaled_replicas(scope) : workload.replicas);
                out.object("selector", [&] { pods::member_map(out, "matchLabels", selector_labels(scope)); });
                out.member("revisionHistoryLimit", 3);
                out.member("progressDeadlineSeconds", progress_deadline(workload));
                write_strategy(out, workload.rollout);
                out.key("template");
                pods::write_template(out, pod_of(scope, workload));
              });
            });
}

}  // namespace stackgate::reconcile::parts
