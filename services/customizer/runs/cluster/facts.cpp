#include "services/customizer/runs/cluster/facts.hpp"

#include <fmt/format.h>

#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace facts_detail {

constexpr kube::ResourceType volcano_queues{"scheduling.volcano.sh", "v1beta1", "queues", false};
constexpr kube::ResourceType kai_queues{"scheduling.run.ai", "v2", "queues", false};
constexpr kube::ResourceType local_queues{"kueue.x-k8s.io", "v1beta1", "localqueues"};

validate::Finding finding(std::string problem, std::string fix) {
  return {.rule = "customization-cluster", .path = "config", .problem = std::move(problem), .fix = std::move(fix)};
}

/// Why a queue of Kueue takes in nothing: ": why", or "" where it does not say; nothing: it does.
std::optional<std::string> why_inactive(const json::Value& queue) {
  for (const json::Value& each : json::items(&queue, {"status", "conditions"}))
    if (json::text(&each, {"type"}) == "Active" && json::text(&each, {"status"}) == "False") {
      const std::string_view message = json::text(&each, {"message"});
      return message.empty() ? std::string() : fmt::format(": {}", message);
    }
  const std::string_view stop = json::text(&queue, {"spec", "stopPolicy"});
  if (stop.empty() || stop == "None") return std::nullopt;
  return fmt::format(": its stopPolicy is {}", stop);
}

void judge_cluster_queue(const Fact& fact, std::string_view name, std::string_view local, validate::Findings& out) {
  if (!fact.is_known) return;
  if (fact.object == nullptr) {
    out.push_back(finding(fmt::format("runs in the LocalQueue {}, whose ClusterQueue {} is not there", local, name),
                          "make the ClusterQueue, or have the StackCustomizer use another queue "
                          "(trainingConfig.queueName)"));
    return;
  }
  if (const auto why = why_inactive(fact.object->root()))
    out.push_back(
        finding(fmt::format("runs in the LocalQueue {}, whose ClusterQueue {} takes in nothing{}", local, name, *why),
                "activate the ClusterQueue, or have the StackCustomizer use another queue (trainingConfig.queueName)"));
}

void judge_queue(const json::Value& queue, std::string_view name, Scheduler scheduler, validate::Findings& out) {
  if (scheduler == Scheduler::volcano) {
    const std::string_view state = json::text(&queue, {"status", "state"});
    if (state == "Closed" || state == "Closing")
      out.push_back(finding(
          fmt::format("runs in Volcano's queue {}, which is {}", name, state == "Closed" ? "closed" : "closing"),
          "open the queue, or have the StackCustomizer use another one"));
    return;
  }
  if (scheduler == Scheduler::kai) {
    if (!json::items(&queue, {"status", "childQueues"}).empty())
      out.push_back(finding(fmt::format("runs in KAI's queue {}, which has queues below it: jobs run in a leaf", name),
                            "have the StackCustomizer use one of the queues below it (trainingConfig.queueName)"));
    return;
  }
  if (const auto why = why_inactive(queue))
    out.push_back(
        finding(fmt::format("runs in the LocalQueue {}, which takes in nothing{}", name, *why),
                "activate the queue, or have the StackCustomizer use another one (trainingConfig.queueName)"));
}

}  // namespace facts_detail

using namespace facts_detail;

std::optional<QueueObject> queue_object(const JobSetup& setup) {
  switch (setup.scheduler) {
    case Scheduler::volcano:
      return QueueObject{volcano_queues, setup.queue.empty() ? "default" : setup.queue};
    case Scheduler::kai:
      return QueueObject{kai_queues, setup.queue};
    case Scheduler::kueue:
      return QueueObject{local_queues, setup.queue};
    case Scheduler::runai:
    case Scheduler::plain:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view cluster_queue_of(const json::Value& local_queue) {
  return json::text(&local_queue, {"spec", "clusterQueue"});
}

validate::Findings judge_cluster(const ClusterFacts& facts, const JobSetup& setup) {
  validate::Findings out;
  const std::string_view scheduler = to_string(setup.scheduler);
  if (facts.serves_trainings == false)
    out.push_back(
        finding(fmt::format("runs on {}, whose kinds this cluster does not serve", scheduler),
                fmt::format("install {}, or choose another scheduler.type for the StackCustomizer", scheduler)));
  if (const auto queue = queue_object(setup); queue && facts.queue.is_known && facts.serves_trainings != false) {
    if (facts.queue.object == nullptr)
      out.push_back(finding(fmt::format("runs in {}'s queue {}, which is not there", scheduler, queue->name),
                            "make the queue, or have the StackCustomizer use another one (trainingConfig.queueName)"));
    else
      judge_queue(facts.queue.object->root(), queue->name, setup.scheduler, out);
    // Whatever is wrong with both is told once.
    if (out.empty() && facts.queue.object != nullptr)
      judge_cluster_queue(facts.cluster_queue, cluster_queue_of(facts.queue.object->root()), queue->name, out);
  }
  if (facts.model_claim.is_known && facts.model_claim.object == nullptr)
    out.push_back(
        finding(fmt::format("needs the claim {} with the base models, which is not there", setup.model_claim.name),
                "make the claim, or let the operator do so (trainingConfig.modelPVC.create)"));
  if (facts.model_claim.object != nullptr &&
      json::text(&facts.model_claim.object->root(), {"status", "phase"}) == "Lost")
    out.push_back(
        finding(fmt::format("needs the claim {} with the base models, whose volume is lost", setup.model_claim.name),
                "make the claim anew, and its models are downloaded again"));
  if (facts.storage_class.is_known && facts.storage_class.object == nullptr)
    out.push_back(finding(fmt::format("needs a workspace of the StorageClass {}, which is not there",
                                      setup.workspace.storage_class.value_or("")),
                          "make the class, or change trainingConfig.workspacePVC.storageClass"));
  return out;
}

}  // namespace stackgate::customizer
