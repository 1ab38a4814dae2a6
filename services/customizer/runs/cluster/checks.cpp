// What can be known before a customization is stored: asked side by side, and no longer than a person waits gladly.
// What is not answered, or may not be read, is not known.
#include "services/customizer/runs/cluster/accelerators.hpp"
#include "services/customizer/runs/cluster/cluster.hpp"
#include "services/customizer/runs/cluster/facts.hpp"
#include "services/customizer/runs/cluster/limit_ranges.hpp"
#include "services/customizer/runs/cluster/quota.hpp"
#include "services/kit/kube/discovery.hpp"

namespace stackgate::customizer {
namespace checks_detail {

constexpr std::chrono::milliseconds limit{2'000};
constexpr std::string_view most_nodes = "200";  // of a cluster with more it is not known how large they are
constexpr kube::ResourceType resource_quotas{"", "v1", "resourcequotas"}, limit_ranges{"", "v1", "limitranges"},
    nodes{"", "v1", "nodes", false};

Fact fact_of(kube::Result<kube::Response> answer, std::string_view name) {
  auto found = kube::object_of(std::move(answer));
  if (found) return {.is_known = true, .object = std::make_shared<const kube::Object>(std::move(*found))};
  return {.is_known = found.error().object_missing(name)};
}

void append(validate::Findings& to, validate::Findings more) {
  for (validate::Finding& each : more) to.push_back(std::move(each));
}

}  // namespace checks_detail

validate::Findings ClusterExecutor::check(const CustomizationRequest& request) const {
  using namespace checks_detail;
  const JobSetup& setup = options_.setup;
  const auto ask = [&](const kube::ResourceType& type, std::string_view name) {
    return client_->start(kube::Request::get(type, type.namespaced ? std::string_view(ns_) : std::string_view(), name),
                          kube::CallOptions::once(limit));
  };
  const auto queue = queue_object(setup);
  const auto list = [&](const kube::ResourceType& type) {
    return client_->start(kube::Request{.path = kube::collection_path(type, ns_)}, kube::CallOptions::once(limit));
  };
  auto quotas = list(resource_quotas), ranges = list(limit_ranges);
  const TrainingJob job = training_job(request);
  const ContainerDefaults defaults = options_.defaults();
  std::optional<kube::Pending> nodes_answer;
  if (estimated_memory(job.target) != 0 && job.option.num_gpus != 0)
    nodes_answer = client_->start(
        kube::Request{.path = kube::collection_path(nodes, "") + kube::Query().add("limit", most_nodes).text()},
        kube::CallOptions::once(limit));
  auto claim = ask(kube::types::persistent_volume_claims, setup.model_claim.name);
  std::optional<kube::Pending> queue_answer, class_answer;
  if (queue) queue_answer = ask(queue->type, queue->name);
  const std::string storage_class = setup.workspace.storage_class.value_or("");
  if (!storage_class.empty()) class_answer = ask(kube::types::storage_classes, storage_class);
  ClusterFacts facts;
  if (setup.scheduler == Scheduler::volcano || setup.scheduler == Scheduler::kueue) {
    const auto served =
        kube::serves(*client_, setup.scheduler == Scheduler::volcano ? types::volcano_jobs : types::workloads,
                     kube::CallOptions::once(limit));
    if (served) facts.serves_trainings = *served;
  }
  facts.model_claim = fact_of(claim.wait(), setup.model_claim.name);
  if (queue_answer) facts.queue = fact_of(queue_answer->wait(), queue->name);
  if (class_answer) facts.storage_class = fact_of(class_answer->wait(), storage_class);
  const json::Value* local_queue = facts.queue.object == nullptr ? nullptr : &facts.queue.object->root();
  std::string cluster_queue;
  if (setup.scheduler == Scheduler::kueue && local_queue != nullptr) cluster_queue = cluster_queue_of(*local_queue);
  if (!cluster_queue.empty()) facts.cluster_queue = fact_of(ask(cluster_queues, cluster_queue).wait(), cluster_queue);
  validate::Findings out = judge_cluster(facts, setup);
  const std::vector<FirstObject> objects = first_attempts(job, setup, defaults);
  const QuotaNeeds needs = needs_of(objects);
  if (facts.cluster_queue.object != nullptr)
    append(out, judge_cluster_quota(facts.cluster_queue.object->root(), cluster_queue, needs));
  if (setup.scheduler == Scheduler::volcano && facts.queue.object != nullptr)
    append(out, judge_capability(facts.queue.object->root(), queue->name, needs));
  if (const auto found = kube::object_of(quotas.wait())) append(out, judge_quotas(found->root(), needs));
  if (const auto found = kube::object_of(ranges.wait())) append(out, judge_limit_ranges(found->root(), objects));
  if (nodes_answer)
    if (const auto found = kube::object_of(nodes_answer->wait()))
      append(out, judge_accelerators(found->root(), job, defaults));
  return out;
}

}  // namespace stackgate::customizer
