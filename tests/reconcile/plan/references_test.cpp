// What a resource names and is not there: the rules' own findings, in a plan and its status. Under the gate's defaults
// most of them are errors.
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"
#include "tests/support/table_lookup.hpp"
#include "validators/rulebook.hpp"

namespace stackgate::reconcile::tests {
namespace references_test {

using crds::Kind;
using validate::Finding;
using validate::References;
using validate::Severity;

constexpr std::string_view registry_key =
    "{kind: Secret, metadata: {name: registry-api}, stringData: {REGISTRY_API_KEY: a}}";
constexpr std::string_view another_key = "{kind: Secret, metadata: {name: registry-api}, stringData: {OTHER: a}}";
constexpr std::string_view serves =
    "{metadata: {generation: 1}, spec: {replicas: 1, template: {metadata: {annotations: {stackgate.dev/inputs: "
    "kept}}}},"
    " status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}}";
constexpr std::string_view starts =
    "{metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: "
    "1}}";
constexpr std::string_view too_late =
    "{metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1,"
    " conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}}";

/// What the reconciler's shell does: rules and inputs against the same cluster.
struct Cluster : World {
  explicit Cluster(std::string_view yaml = {}, validate::Options rules = {}) : text(yaml), options(std::move(rules)) {}

  Planned plan(const Tree& object) {
    const std::string json = object.dump();
    json::Document document;
    const json::Value root = json::parse(json, document).value();
    const Kind kind = crds::kind_named(object["kind"].get<std::string>()).value();
    validate::tests::TableLookup lookup(text);
    findings = validate::review({.kind = kind, .object = &root, .old = nullptr, .ns = {}}, &lookup, options);
    inputs = inputs_of(kind, *root.find("spec"));
    for (InputFacts& input : inputs) {
      const auto reference_kind =
          input.type == ChildType::secret ? validate::ReferenceKind::secret : validate::ReferenceKind::config_map;
      const validate::ReferencedObject found = lookup.find(reference_kind, "default", input.name);
      if (found.presence == validate::Presence::present) input.content_hash = "hash of " + input.name;
      for (const std::string& key : found.keys) input.content_hash += key;
    }
    observed.findings = findings;
    observed.inputs = inputs;
    return plan_of(object, *this);
  }

  std::string text;
  validate::Options options;
  validate::Findings findings;
  std::vector<InputFacts> inputs;
};

std::string told(const Planned& planned) {
  std::string out(to_string(planned.plan.status.state));
  for (const Condition& each : planned.plan.status.conditions) out += " " + each.type + "=" + each.reason;
  for (const EventNote& each : planned.plan.events) out += " !" + each.reason;
  for (const EventNote& each : planned.plan.late_events) out += " ~" + each.reason;  // told if it lasts
  return out;
}

std::string message_of(const Planned& planned, std::string_view type) {
  for (const Condition& each : planned.plan.status.conditions)
    if (each.type == type) return each.message;
  return {};
}

std::string restart_mark(const Planned& planned, ChildType type = ChildType::deployment,
                         std::string_view template_ = "/spec/template", std::string_view name = "llm") {
  const Tree::json_pointer place{std::string(template_) + "/metadata/annotations/stackgate.dev~1inputs"};
  const Tree& child = planned.child(type, name);
  return child.contains(place) ? child.at(place).get<std::string>() : "";
}

struct Case {
  std::string_view name, cluster, deployment, told;
  References required = References::deny;
};

TEST(References, WhatIsMissingIsToldAndWaitedFor) {
  constexpr References warn = References::warn, off = References::off;
  const Case cases[] = {
      {"all is there", registry_key, "", "Pending Ready=Creating"},
      {"no Secret, nothing yet", "", "",
       "Pending Ready=SecretNotFound ReferencesResolved=SecretNotFound ~SecretNotFound"},
      {"no Secret, pods are made", "", starts,
       "Pending Ready=SecretNotFound ReferencesResolved=SecretNotFound ~SecretNotFound"},
      {"no Secret, past the deadline", "", too_late,
       "Pending Ready=SecretNotFound ReferencesResolved=SecretNotFound ~SecretNotFound"},
      {"no Secret, but it serves", "", serves,
       "Ready Ready=AllReplicasAvailable ReferencesResolved=SecretNotFound !SecretNotFound"},
      {"no key", another_key, starts,
       "Pending Ready=SecretKeyNotFound ReferencesResolved=SecretKeyNotFound ~SecretKeyNotFound"},
      {"no key, but it serves", another_key, serves,
       "Ready Ready=AllReplicasAvailable ReferencesResolved=SecretKeyNotFound !SecretKeyNotFound"},
      {"the gate only warns", "", serves,
       "Ready Ready=AllReplicasAvailable ReferencesResolved=SecretNotFound !SecretNotFound", warn},
      {"nobody asked", "", starts, "Pending Ready=Starting", off},
      {"the Secret cannot be asked about",
       "{kind: Secret, metadata: {name: registry-api, annotations: {test/presence: unknown}}}", starts,
       "Pending Ready=Starting"},
  };
  for (const Case& each : cases) {
    Cluster cluster(each.cluster, {.required_references = each.required});
    if (!each.deployment.empty()) cluster.add(ChildType::deployment, "llm", each.deployment);
    const Planned planned = cluster.plan(minimal(Kind::inference_service));
    EXPECT_EQ(told(planned), each.told) << each.name;
    EXPECT_TRUE(planned.plan.acts) << each.name;
    EXPECT_FALSE(planned.child(ChildType::deployment, "llm").is_null()) << each.name;
  }
}

TEST(References, TheConditionHasTheFindingsWordsAndReadyThoseOfAPod) {
  const Planned planned = Cluster().plan(minimal(Kind::inference_service));
  EXPECT_EQ(message_of(planned, "ReferencesResolved"),
            "spec.authSecret: there is no such Secret in namespace \"default\" (value: \"registry-api\"); create it "
            "with the key REGISTRY_API_KEY, or name one that exists [required-secret-missing]");
  EXPECT_EQ(message_of(planned, "Ready"), "there is no Secret registry-api; create it in the same namespace");
  EXPECT_EQ(message_of(Cluster(another_key).plan(minimal(Kind::inference_service)), "Ready"),
            "the Secret registry-api lacks a key that is read from it; add it");
}

TEST(References, APodKnowsMoreThanThePlan) {
  Cluster cluster;
  cluster.add(ChildType::deployment, "llm", starts);
  const PodFacts pods[] = {{.name = "x", .phase = "Pending", .problem = Problem{"ImagePullBackOff", "no image"}}};
  cluster.observed.pods = pods;
  EXPECT_EQ(told(cluster.plan(minimal(Kind::inference_service))),
            "Pending Ready=ImagePullBackOff ReferencesResolved=SecretNotFound !ImagePullBackOff ~SecretNotFound");
}

TEST(References, WhatIsStoredAlreadyIsNoNews) {
  Cluster cluster;
  cluster.add(ChildType::deployment, "llm", serves);
  Tree object = minimal(Kind::inference_service);
  object["status"] = {{"conditions", {{{"type", "ReferencesResolved"}, {"reason", "SecretNotFound"}}}}};
  EXPECT_TRUE(cluster.plan(object).plan.events.empty());
}

TEST(References, AFaultOfTheResourceItselfStillRefusesIt) {
  Cluster cluster;
  cluster.add(ChildType::deployment, "llm", serves);
  const Planned planned =
      cluster.plan(minimal(Kind::inference_service, "spec: {resources: {limits: {nvidia.com/gpu: '1.5'}}}"));
  EXPECT_FALSE(planned.plan.acts);
  EXPECT_TRUE(planned.plan.children.empty());
  EXPECT_EQ(told(planned), "Failed Ready=Invalid ReferencesResolved=SecretNotFound !Invalid ~SecretNotFound");
  EXPECT_EQ(message_of(planned, "Ready").find("registry-api"), std::string::npos) << message_of(planned, "Ready");
}

TEST(References, WithNothingThereEveryKindIsPlannedAsEver) {
  for (const crds::KindInfo& info : crds::kinds) {
    const Planned missing = Cluster().plan(full(info.kind));
    const World world;
    EXPECT_EQ(missing.names(), plan_of(full(info.kind), world).names()) << info.name;
    EXPECT_NE(missing.plan.status.state, State::failed) << info.name << told(missing);
  }
}

/// A pull secret may be on the node, a certificate is the Ingress's, a ServiceAccount told by the API server.
TEST(References, OfWhatPodsCanStartWithoutNothingIsSaid) {
  Cluster cluster(registry_key);
  cluster.add(ChildType::deployment, "llm", serves);
  const Tree object = minimal(Kind::inference_service,
                              "spec: {image: {pullSecrets: [none]}, priorityClassName: none, env: [{name: A,"
                              " valueFrom: {secretKeyRef: {name: none, key: a, optional: true}}}]}");
  const Planned planned = cluster.plan(object);
  EXPECT_FALSE(cluster.findings.empty());
  EXPECT_EQ(told(planned), "Ready Ready=AllReplicasAvailable");
  // Who wants them denied wants to know.
  Cluster strict(registry_key, {.other_references = References::deny});
  strict.add(ChildType::deployment, "llm", serves);
  EXPECT_EQ(told(strict.plan(object)),
            "Ready Ready=AllReplicasAvailable ReferencesResolved=SecretNotFound !SecretNotFound");
}

TEST(References, ACacheThatIsFilledStaysReady) {
  const Tree object = minimal(Kind::inference_cache,
                              "status: {state: Ready, conditions: [{type: Ready, reason: Downloaded,"
                              " lastTransitionTime: '2026-01-01T00:00:00Z'}]}");
  Cluster cluster;
  cluster.add(ChildType::persistent_volume_claim, "llm-cache-pvc",
              "{metadata: {creationTimestamp: '2025-01-01T00:00:00Z'}, status: {phase: Bound}}");
  EXPECT_EQ(told(cluster.plan(object)), "Ready Ready=Downloaded ReferencesResolved=SecretNotFound !SecretNotFound");
}

// --- Restarts ---

TEST(References, AnInputThatIsGoneRestartsNothing) {
  const Tree object = minimal(Kind::inference_service);
  for (const std::string_view gone : {std::string_view(), another_key}) {
    Cluster cluster(gone);
    cluster.add(ChildType::deployment, "llm", serves);
    EXPECT_EQ(restart_mark(cluster.plan(object)), "kept") << gone;
  }
  Cluster cluster(registry_key);
  cluster.add(ChildType::deployment, "llm", serves);
  EXPECT_EQ(restart_mark(cluster.plan(object)).size(), 16U) << "it is back";
  EXPECT_EQ(restart_mark(cluster.plan(object)), restart_mark(Cluster(registry_key).plan(object)))
      << "as it was: that restarts nothing either";
}

TEST(References, NobodyAskedAndStillAnInputThatIsGoneRestartsNothing) {
  Cluster cluster({}, {.required_references = References::off, .other_references = References::off});
  cluster.add(ChildType::deployment, "llm", serves);
  EXPECT_EQ(restart_mark(cluster.plan(minimal(Kind::inference_service))), "kept");
}

TEST(References, AnInputThatMayBeAbsentRestartsPodsWhenItGoes) {
  const Tree object =
      minimal(Kind::inference_service,
              "spec: {env: [{name: A, valueFrom: {configMapKeyRef: {name: features, key: a, optional: true}}}]}");
  Cluster cluster(registry_key);
  cluster.add(ChildType::deployment, "llm", serves);
  EXPECT_NE(restart_mark(cluster.plan(object)), "kept");
}

TEST(References, AnInputThatIsGoneRestartsNoGroupOfNodes) {
  Cluster cluster;
  cluster.add(
      ChildType::leader_worker_set, "llm-lws",
      "{spec: {leaderWorkerTemplate: {workerTemplate: {metadata: {annotations: {stackgate.dev/inputs: kept}}}}}}");
  const Planned planned =
      cluster.plan(minimal(Kind::inference_service, "spec: {multiNode: {size: 2, pipelineParallelism: 2}}"));
  for (const std::string_view pods :
       {"/spec/leaderWorkerTemplate/leaderTemplate", "/spec/leaderWorkerTemplate/workerTemplate"})
    EXPECT_EQ(restart_mark(planned, ChildType::leader_worker_set, pods, "llm-lws"), "kept");
}

TEST(References, BeforeThereAreAnyPodsTheMarkIsOfWhatIsThere) {
  EXPECT_EQ(restart_mark(Cluster().plan(minimal(Kind::inference_service))), "");
}

// --- The rules and the plans look at the same fields ---

/// What is read by others than the pods of the workload, and what pods start without.
bool is_no_input(std::string_view path) {
  constexpr std::string_view others[] = {"spec.image.pullSecrets", "spec.expose.ingress.tlsSecretName",
                                         "spec.modelDownloadJobs.registryApiSecret"};
  return std::ranges::any_of(others, [&](std::string_view other) { return path.starts_with(other); });
}

TEST(References, WhatTheRulesSayOfAnInputIsKnownToBeAboutIt) {
  for (const crds::KindInfo& info : crds::kinds) {
    if (info.kind == Kind::inference_cache || info.kind == Kind::inference_pipeline) continue;
    Cluster nothing;
    nothing.plan(full(info.kind));
    std::string empty_objects;
    for (const InputFacts& input : nothing.inputs)
      empty_objects += "---\n{kind: " + std::string(reconcile::info(input.type).kind) + ", metadata: {name: '" +
                       input.name + "'}}\n";
    Cluster hollow(empty_objects);
    hollow.plan(full(info.kind));
    for (const Cluster* cluster : {&nothing, &hollow}) {
      std::set<std::string> spoken_of;
      for (const Finding& finding : cluster->findings) {
        if (!finding.rule.contains("secret-") && !finding.rule.contains("config-map-")) continue;
        if (!validate::is_about_others(finding.rule) || is_no_input(finding.path)) continue;
        bool known = false;
        for (const InputFacts& input : cluster->inputs) {
          if (std::ranges::find(input.fields, finding.path) == input.fields.end()) continue;
          known = true;
          spoken_of.insert(input.name);
        }
        EXPECT_TRUE(known) << info.name << ": " << finding.path << " " << finding.rule;
      }
      for (const InputFacts& input : cluster->inputs)
        EXPECT_EQ(spoken_of.contains(input.name), input.needed) << info.name << ": " << input.name;
    }
  }
}

// --- Word for word ---

TEST(References, EveryKindInAnEmptyNamespace) {
  Tree out = Tree::object();
  for (const crds::KindInfo& info : crds::kinds) {
    const Planned planned = Cluster().plan(minimal(info.kind));
    out[std::string(info.plural)] = Tree::parse(status_json(planned.plan.status, 1, nullptr, "2026-01-01T00:00:00Z"));
  }
  expect_golden("missing.status", out.dump(2) + "\n");
}

}  // namespace references_test
}  // namespace stackgate::reconcile::tests
