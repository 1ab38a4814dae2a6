// No field is dead: for every leaf of every kind's spec there are two resources which the rules admit, which differ in
// that leaf only, and whose plans differ.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"
#include "validators/rulebook.hpp"
#include "validators/schemas.hpp"

namespace stackgate::reconcile::tests {
namespace dead_fields {

using crds::Kind;
using validate::schema::Node;

/// Fields that change nothing, on purpose, by the end of their path. Keep this list short.
const std::map<std::string_view, std::string_view> exceptions{
    {"livenessProbe.probe.successThreshold", "Kubernetes allows 1 only, which it also takes when nothing is written"},
    {"startupProbe.probe.successThreshold", "the same"},
    // One type of target serves all types of metrics; the rules refuse the values that do not go with one.
    {"metrics[].resource.target.value", "a resource has no absolute value: autoscaling/v2 refuses it"},
    {"metrics[].containerResource.target.value", "the same"},
    {"metrics[].pods.target.value", "pods have an average only"},
    {"metrics[].pods.target.averageUtilization", "only resources have a utilization"},
    {"metrics[].object.target.averageUtilization", "the same"},
    {"metrics[].external.target.averageUtilization", "the same"},
};

// What is laid over a full sample (RFC 7386) where fields exclude each other, or where it leaves some out.

constexpr std::string_view inference_variants[] = {
    "{}",
    "{multiNode: {tensorParallelism: , pipelineParallelism: }}",
    "{multiNode: , replicas: , scale: {enabled: true}}",
    R"({multiNode: , replicas: , scale: {enabled: true, metrics: [
        {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 5}}},
        {type: ContainerResource, containerResource: {name: cpu, container: server,
          target: {type: Utilization, averageUtilization: 50}}},
        {type: Object, object: {describedObject: {kind: Service, name: a}, target: {type: AverageValue, averageValue: 5},
          metric: {name: a, selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}}},
        {type: External, external: {target: {type: Value, value: 5},
          metric: {name: a, selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}}}]}})",
};

constexpr std::string_view pod_variants[] = {
    "{serviceAccountName: , podSecurityContext: {seccompProfile: {type: RuntimeDefault, localhostProfile: }}}",
    "{expose: {ingress: {enabled: false}, httpRoute: {enabled: true}}}",
    "{tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}]}",
    R"({affinity: {
        nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [
          {weight: 5, preference: {matchFields: [{key: metadata.name, operator: In, values: [a]}]}}]},
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a,
            labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]},
            namespaceSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}],
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, podAffinityTerm: {topologyKey: a,
            labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]},
            namespaceSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}}]},
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a,
            labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]},
            namespaceSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}],
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, podAffinityTerm: {topologyKey: a,
            labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]},
            namespaceSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}}]}}})",
};

const std::multimap<Kind, std::string_view> kind_variants{
    {Kind::inference_cache, "{}"},
    {Kind::inference_cache,
     "{source: {registry: , datastore: {endpoint: 'http://datastore:8000', repository: a/b,"
     " revision: main, authSecret: datastore-user}}}"},
    {Kind::inference_cache,
     "{source: {registry: {model: {profiles: [a, b], engine: , tensorParallelism: ,"
     " precision: , lora: }}}}"},
    {Kind::inference_cache, "{storage: {pvc: {create: false}}}"},
    {Kind::inference_cache, "{tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}]}"},
    {Kind::stack_datastore, "{}"},
    {Kind::stack_entitystore, "{}"},
    {Kind::stack_customizer, "{}"},
    {Kind::stack_customizer, "{scheduler: {type: queue, queueDialect: kueue}, trainingConfig: {queueName: a}}"},
    {Kind::stack_customizer,
     "{scheduler: {type: gang, queueDialect: }, trainingConfig: {queueName: , tolerations: ["
     "{key: a, operator: Equal, value: b, effect: NoSchedule}]}}"},
    {Kind::stack_evaluator, "{}"},
    {Kind::stack_guardrail, "{}"},
    {Kind::stack_guardrail, "{configStore: {pvc: , configMap: {name: rails}}}"},
};

bool has_pods(Kind kind) { return kind != Kind::inference_cache && kind != Kind::inference_pipeline; }

std::vector<Tree> bases_of(Kind kind) {
  std::vector<std::string_view> patches;
  const bool inference = kind == Kind::inference_service || kind == Kind::inference_pipeline;
  if (inference) patches.insert(patches.end(), std::begin(inference_variants), std::end(inference_variants));
  if (inference || has_pods(kind)) patches.insert(patches.end(), std::begin(pod_variants), std::end(pod_variants));
  for (auto [at, end] = kind_variants.equal_range(kind); at != end; ++at) patches.push_back(at->second);
  std::vector<Tree> out;
  for (const std::string_view patch : patches) {
    Tree& object = out.emplace_back(full(kind));
    if (kind == Kind::inference_pipeline)
      object["spec"]["services"][0]["spec"].merge_patch(tree_of(patch));  // the one with every field
    else
      object["spec"].merge_patch(tree_of(patch));
  }
  if (kind == Kind::inference_pipeline)  // the port counts only where no address is written
    out.emplace_back(full(kind))["spec"]["services"][0]["dependencies"][0].erase("envValue");
  return out;
}

struct Leaf {
  std::vector<std::string> path;  // below the object; "*" is any item
  const Node* node = nullptr;
};

std::string name_of(const Leaf& leaf) {
  std::string out;
  for (const std::string& key : leaf.path) out += (out.empty() || key == "*" ? "" : ".") + (key == "*" ? "[]" : key);
  return out;
}

/// Maps and lists of plain values are leaves too.
void collect(const Node& node, std::vector<std::string>& path, std::vector<Leaf>& out) {
  if (node.items != nullptr && !node.items->properties.empty()) {
    path.emplace_back("*");
    collect(*node.items, path, out);
    path.pop_back();
    return;
  }
  if (node.properties.empty()) return out.push_back({path, &node});
  for (const auto& property : node.properties) {
    path.emplace_back(property.name);
    collect(*property.node, path, out);
    path.pop_back();
  }
}

const std::vector<Leaf>& leaves(Kind kind) {
  static std::map<Kind, std::vector<Leaf>> known;
  auto [at, fresh] = known.try_emplace(kind);
  std::vector<std::string> path{"spec"};
  if (fresh) collect(validate::spec_node(kind), path, at->second);
  return at->second;
}

using Pointer = Tree::json_pointer;

/// Every object that has, or could have, the leaf as its member.
void find_parents(const Tree& at, const Pointer& here, const Leaf& leaf, std::size_t depth, std::vector<Pointer>& out) {
  if (depth + 1 == leaf.path.size()) {
    if (at.is_object()) out.push_back(here);
    return;
  }
  const std::string& key = leaf.path[depth];
  if (key == "*") {
    for (std::size_t i = 0; at.is_array() && i < at.size(); ++i) find_parents(at[i], here / i, leaf, depth + 1, out);
  } else if (at.is_object() && at.contains(key)) {
    find_parents(at.at(key), here / key, leaf, depth + 1, out);
  }
}

void erase(Tree& object, const Pointer& place) {
  Tree& parent = object.at(place.parent_pointer());
  if (parent.is_array())
    parent.erase(std::stoul(place.back()));
  else
    parent.erase(place.back());
}

constexpr std::string_view texts[] = {"changed",
                                      "2Gi",
                                      "3",
                                      "7m",
                                      "http://changed:8000",
                                      "http://changed:8000/v1",
                                      "http://changed:8000/v1/hf",
                                      "https://changed.example.com/v1",
                                      "https://changed.example.com/v1/hf",
                                      "changed.example.com",
                                      "*.example.com",
                                      "changed.example.com:9000",
                                      "/changed",
                                      "20s",
                                      "5s",
                                      "1m",
                                      "registry.example.com/changed:1.0",
                                      "changed/name",
                                      "v1",
                                      "metadata.namespace",
                                      "requests.memory",
                                      "limits.cpu",
                                      "memory",
                                      "b",
                                      "4",
                                      "server",
                                      "localhost",
                                      "10.0.0.0/8"};

std::vector<Tree> scalar_changes(const Node& node) {
  std::vector<Tree> out;
  for (const json::Value& value : node.enumeration) out.push_back(Tree::parse(json::to_json(value)));
  if (!out.empty()) return out;
  if (node.type == json::Type::boolean) return {true, false};
  if (node.type == json::Type::integer) return {1, 2, 3, 4, 16, 45, 1200, 8001, 2001};
  if (node.int_or_string) out = {3, 70, "4", "5Gi"};
  for (const std::string_view text : texts) out.emplace_back(std::string(text));
  return out;
}

/// Other values for the leaf; `now` is null when it is not written.
std::vector<Tree> changes(const Node& node, const Tree& now) {
  if (node.additional != nullptr) {
    std::vector<Tree> out;
    for (const Tree& value : scalar_changes(*node.additional)) {
      Tree map = now.is_object() ? now : Tree::object();
      map["changed"] = value;
      out.push_back(map);
      if (!now.is_object() || now.empty()) continue;
      map = now;
      map.begin().value() = value;
      out.push_back(map);
    }
    return out;
  }
  if (node.items == nullptr) return scalar_changes(node);
  std::vector<Tree> out;
  for (const Tree& value : scalar_changes(*node.items)) out.push_back(Tree::array({value}));
  return out;
}

bool is_admitted(const Tree& object, Kind kind) {
  const std::string text = object.dump();
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) return false;
  return !validate::has_errors(
      validate::review({.kind = kind, .object = &*root, .old = nullptr, .ns = "team"}, nullptr));
}

/// All children as one text.
std::string children_text(const Tree& object) {
  World world;
  const Tree::json_pointer cache("/spec/storage/nimCache/name");
  const std::string claim = object.contains(cache) ? object.at(cache).get<std::string>() + "-pvc" : "";
  world.observed.cache = {.exists = true, .state = "Ready", .claim = claim, .sub_path = {}, .message = {}};
  const Planned planned = plan_of(object, world);
  std::string out;
  for (const DesiredChild& child : planned.plan.children) out += child.body.text() + (child.keep ? "k\n" : "\n");
  return out;
}

enum class Found { no_valid_pair, dead, alive };

struct Base {
  Tree object;
  std::string children;
};

Found try_place(const Base& base, const Pointer& parent, const Leaf& leaf, Kind kind) {
  Found best = Found::no_valid_pair;
  const auto differs = [&](const std::function<void(Tree&)>& change) {
    Tree object = base.object;
    change(object);
    if (object == base.object || !is_admitted(object, kind)) return false;
    best = Found::dead;
    return children_text(object) != base.children;
  };
  const std::string& key = leaf.path.back();
  const Tree& holder = base.object.at(parent);
  const Tree now = holder.contains(key) ? holder.at(key) : Tree();
  for (const Tree& value : changes(*leaf.node, now))
    if (value != now && differs([&](Tree& object) { object.at(parent)[key] = value; })) return Found::alive;
  if (now.is_null()) return best;
  // Where no other value is allowed: without it, or without the part that it belongs to.
  for (Pointer place = parent / key; best == Found::no_valid_pair && place.to_string() != "/spec";
       place = place.parent_pointer())
    if (differs([&](Tree& object) { erase(object, place); })) return Found::alive;
  return best;
}

std::string_view in_words(Found found) {
  switch (found) {
    case Found::alive:
      return "is alive; take it off the list of exceptions";
    case Found::dead:
      return "changes nothing in the plan";
    case Found::no_valid_pair:
      break;
  }
  return "no admitted resource differs in it; add a variant or a value";
}

bool is_excepted(std::string_view leaf) {
  return std::ranges::any_of(exceptions, [leaf](const auto& each) { return leaf.ends_with(each.first); });
}

class DeadFields : public ::testing::TestWithParam<Kind> {};

TEST_P(DeadFields, EveryFieldEndsInAChild) {
  const Kind kind = GetParam();
  std::vector<Found> results(leaves(kind).size(), Found::no_valid_pair);
  for (Tree& object : bases_of(kind)) {
    ASSERT_TRUE(is_admitted(object, kind)) << object.dump();
    const Base base{.object = object, .children = children_text(object)};
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Leaf& leaf = leaves(kind)[i];
      std::vector<Pointer> parents;
      find_parents(object, Pointer(), leaf, 0, parents);
      for (std::size_t place = 0; place < parents.size() && results[i] != Found::alive; ++place)
        results[i] = std::max(results[i], try_place(base, parents[place], leaf, kind));
    }
  }
  EXPECT_GT(results.size(), 10U);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string leaf = name_of(leaves(kind)[i]);
    // A pipeline hands on what its services say, whatever they make of it.
    if (kind == Kind::inference_pipeline && is_excepted(leaf)) continue;
    EXPECT_EQ(results[i] == Found::alive, !is_excepted(leaf))
        << crds::info(kind).name << " " << leaf << ": " << in_words(results[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeadFields,
                         ::testing::Values(Kind::inference_service, Kind::inference_cache, Kind::inference_pipeline,
                                           Kind::stack_datastore, Kind::stack_entitystore, Kind::stack_customizer,
                                           Kind::stack_evaluator, Kind::stack_guardrail),
                         [](const auto& each) { return std::string(crds::info(each.param).plural); });

}  // namespace dead_fields
}  // namespace stackgate::reconcile::tests
