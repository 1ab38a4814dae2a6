#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"
#include "validators/rules/references_table.hpp"
#include "validators/schemas.hpp"

namespace stackgate::validate::tests {
namespace references_test {

using crds::Kind;
using testing::Test;

/// What the minimal samples name.
constexpr std::string_view complete = R"(
kind: Secret
metadata: {name: registry-api}
data: {REGISTRY_API_KEY: ""}
---
kind: Secret
metadata: {name: datastore-git-admin}
data: {GIT_ADMIN_USERNAME: "", GIT_ADMIN_PASSWORD: ""}
---
kind: Secret
metadata: {name: datastore-lfs-jwt}
data: {jwtSecret: ""}
---
kind: Secret
metadata: {name: datastore-config}
data: {config_environment.sh: ""}
---
kind: Secret
metadata: {name: datastore-init}
data: {init.sh: ""}
---
kind: Secret
metadata: {name: datastore-inline-config}
data: {app.ini: ""}
---
kind: Secret
metadata: {name: datastore-db}
data: {password: ""}
---
kind: Secret
metadata: {name: entitystore-db}
data: {password: ""}
---
kind: Secret
metadata: {name: customizer-db}
data: {password: "", user: ""}
---
kind: Secret
metadata: {name: evaluator-db}
data: {password: ""}
---
kind: ServiceAccount
metadata: {name: evaluator-workflow}
---
kind: ConfigMap
metadata: {name: guardrail-config}
data: {config.yml: ""}
---
)";

std::string with(std::string_view more) { return std::string(complete) + std::string(more); }

struct ReferenceCase {
  Kind kind;
  std::string_view patch;
  std::string_view more;              // objects beside the complete ones
  std::vector<std::string> expected;  // short_form()
};

void expect_references(std::initializer_list<ReferenceCase> cases, const Options& options = {}) {
  for (const ReferenceCase& each : cases) {
    SCOPED_TRACE(std::string(crds::info(each.kind).name) + " with " + std::string(each.patch));
    TableLookup cluster(with(each.more));
    const Findings findings = review_in(cluster, each.kind, each.patch, options);
    EXPECT_EQ(short_form(findings), each.expected) << all_lines(findings);
  }
}

TEST(References, TheMinimalSamplesAreContentWithWhatTheyName) {
  for (const crds::KindInfo& info : crds::kinds) {
    TableLookup cluster(complete);
    const Findings findings = review_in(cluster, info.kind, "{}");
    EXPECT_TRUE(findings.empty()) << info.name << all_lines(findings);
  }
}

TEST(References, EachOfTheFiveSecretsMustExistWithItsKeys) {
  struct Field {
    std::string name, key;
  };
  for (const Field& field : {Field{"gitAdminSecret", "GIT_ADMIN_PASSWORD"}, Field{"lfsJwtSecret", "jwtSecret"},
                             Field{"datastoreConfigSecret", "config_environment.sh"}, Field{"datastoreInitSecret", ""},
                             Field{"datastoreInlineConfigSecret", ""}}) {
    const std::string patch = "spec: {secrets: {" + field.name + ": other}}";
    TableLookup absent(complete);
    EXPECT_EQ(short_form(review_in(absent, Kind::stack_datastore, patch)),
              (std::vector<std::string>{"error spec.secrets." + field.name + " required-secret-missing"}));
    TableLookup elsewhere(with("kind: Secret\nmetadata: {name: other, namespace: elsewhere}\ndata: {a: ''}"));
    EXPECT_EQ(short_form(review_in(elsewhere, Kind::stack_datastore, patch)),
              (std::vector<std::string>{"error spec.secrets." + field.name + " required-secret-missing"}));
    TableLookup empty(with("kind: Secret\nmetadata: {name: other}"));
    const Findings findings = review_in(empty, Kind::stack_datastore, patch);
    EXPECT_FALSE(of_rule(findings, rule::required_secret_key_missing).empty()) << field.name << all_lines(findings);
  }
  TableLookup half(with("kind: Secret\nmetadata: {name: other}\ndata: {GIT_ADMIN_USERNAME: '', GIT_ADMIN_PASSWD: ''}"));
  const Findings findings = review_in(half, Kind::stack_datastore, "spec: {secrets: {gitAdminSecret: other}}");
  ASSERT_EQ(findings.size(), 1U) << all_lines(findings);
  EXPECT_EQ(findings[0].problem,
            "Secret \"other\" has no key GIT_ADMIN_PASSWORD; it holds GIT_ADMIN_USERNAME, GIT_ADMIN_PASSWD");
  EXPECT_EQ(findings[0].fix, "rename GIT_ADMIN_PASSWD to GIT_ADMIN_PASSWORD in the Secret");
}

/// The lines of all findings' problems.
std::string problems(const Findings& findings) {
  std::string out;
  for (const Finding& each : findings) out += each.problem + "\n";
  return out;
}

TEST(References, AGuardrailsConfigMapIsCompiled) {
  constexpr std::string_view other = "spec: {configStore: {configMap: {name: other}}}";
  TableLookup flat(
      with("kind: ConfigMap\nmetadata: {name: other}\ndata:\n"
           "  strict__config.yml: \"rails:\\n  input:\\n    flows: [no such rail]\\n\"\n"
           "  strict__rails.co: \"define flow x\\n  do y\\n\"\n"
           "  strict__actions.py: \"no Python {\"\n"
           "  README.md: about\n"
           "  loose__config.yml: \"models: []\"\n"));
  const Findings findings = review_in(flat, Kind::stack_guardrail, other);
  EXPECT_EQ(short_form(findings),
            (std::vector<std::string>(2, "error spec.configStore.configMap.name guardrail-configuration")));
  EXPECT_EQ(problems(findings),
            "configMap strict__rails.co:2:3: there is no flow \"y\"\n"
            "configMap strict__config.yml:3:13 rails.input.flows[0]: there is no flow \"no such rail\"\n");
  EXPECT_EQ(short_form(review_in(flat, Kind::stack_guardrail, other, {.required_references = References::warn})),
            (std::vector<std::string>(2, "warning spec.configStore.configMap.name guardrail-configuration")));
  EXPECT_TRUE(review_in(flat, Kind::stack_guardrail, other, {.required_references = References::off}).empty());

  std::string many =
      "kind: ConfigMap\nmetadata: {name: other}\ndata:\n  config.yml: \"\"\n  rails.co: \"define flow x\\n";
  for (int i = 0; i < 60; ++i) many += "  do y" + std::to_string(i) + "\\n";
  TableLookup full(with(many + "\"\n"));
  const Findings first = review_in(full, Kind::stack_guardrail, other);
  ASSERT_EQ(first.size(), 51U);
  EXPECT_TRUE(std::ranges::any_of(first, [](const Finding& each) {
    return each.problem == "configMap has 10 more faults";
  })) << problems(first);
}

TEST(References, WhatTheSpecificationDemandsIsAnError) {
  expect_references({
      {Kind::inference_service, "spec: {authSecret: other}", "", {"error spec.authSecret required-secret-missing"}},
      {Kind::inference_cache,
       "spec: {source: {registry: {authSecret: other}}}",
       "",
       {"error spec.source.registry.authSecret required-secret-missing"}},
      {Kind::stack_entitystore,
       "spec: {databaseConfig: {credentials: {secretName: other}}}",
       "",
       {"error spec.databaseConfig.credentials.secretName required-secret-missing"}},
      {Kind::stack_customizer,
       "spec: {databaseConfig: {credentials: {passwordKey: passwrd}}}",
       "",
       {"error spec.databaseConfig.credentials.passwordKey required-secret-key-missing"}},
      {Kind::stack_guardrail,
       "spec: {configStore: {configMap: {name: other}}}",
       "",
       {"error spec.configStore.configMap.name required-config-map-missing"}},
      {Kind::stack_guardrail,
       "spec: {configStore: {configMap: {name: other}}}",
       "kind: ConfigMap\nmetadata: {name: other}\ndata: {config.yaml: ''}",
       {}},
      {Kind::stack_guardrail,
       "spec: {configStore: {configMap: {name: other}}}",
       "kind: ConfigMap\nmetadata: {name: other}\ndata: {config.json: ''}",
       {"error spec.configStore.configMap.name required-config-map-key-missing"}},
      {Kind::stack_guardrail,
       "spec: {configStore: {configMap: {name: other}}}",
       "kind: ConfigMap\nmetadata: {name: other}\ndata: {strict__config.yml: ''}",
       {}},
      {Kind::stack_guardrail,
       "spec: {configStore: {configMap: {name: other}}}",
       "kind: ConfigMap\nmetadata: {name: other}\ndata: {strict-config.yml: ''}",
       {"error spec.configStore.configMap.name required-config-map-key-missing"}},
      {Kind::stack_guardrail,
       "spec: {configStore: {configMap: null, pvc: {name: other}}}",
       "",
       {"error spec.configStore.pvc.name required-claim-missing"}},
      {Kind::stack_customizer,
       "spec: {trainingConfig: {modelPVC: {name: other, create: false, size: null, volumeAccessMode: null}}}",
       "",
       {"error spec.trainingConfig.modelPVC.name required-claim-missing"}},
      {Kind::stack_datastore,
       "spec: {objectStoreConfig: {endpoint: 'minio:9000', bucketName: files, credentials: {user: u, secretName: "
       "other, "
       "passwordKey: k}}}",
       "",
       {"error spec.objectStoreConfig.credentials.secretName required-secret-missing"}},
  });
}

TEST(References, TheRestIsAWarning) {
  expect_references({
      {Kind::stack_guardrail,
       "spec: {nimEndpoint: {apiKeySecret: other}}",
       "",
       {"warning spec.nimEndpoint.apiKeySecret secret-missing"}},
      {Kind::stack_guardrail,
       "spec: {nimEndpoint: {apiKeySecret: hosted}}",
       "kind: Secret\nmetadata: {name: hosted}\ndata: {KEY: ''}",
       {"warning spec.nimEndpoint.apiKeySecret secret-key-missing"}},
      {Kind::stack_guardrail,
       "spec: {nimEndpoint: {apiKeySecret: hosted, apiKeyKey: KEYS}}",
       "kind: Secret\nmetadata: {name: hosted}\ndata: {KEY: ''}",
       {"warning spec.nimEndpoint.apiKeyKey secret-key-missing"}},
      {Kind::stack_guardrail,
       "spec: {priorityClassName: p, runtimeClassName: r, serviceAccountName: s}",
       "",
       {"warning spec.priorityClassName priority-class-missing", "warning spec.runtimeClassName runtime-class-missing",
        "warning spec.serviceAccountName service-account-missing"}},
      {Kind::stack_evaluator,
       "spec: {workflowServer: {serviceAccount: other}}",
       "",
       {"warning spec.workflowServer.serviceAccount service-account-missing"}},
      {Kind::stack_customizer,
       "spec: {modelConfig: {name: m}, trainingConfig: {configMap: {name: t}}}",
       "kind: ConfigMap\nmetadata: {name: t}",
       {"warning spec.trainingConfig.configMap.name config-map-key-missing",
        "warning spec.modelConfig.name config-map-missing"}},
      {Kind::stack_customizer,
       "spec: {experimentTracker: {secretName: t, apiKeyKey: a, encryptionKey: b}}",
       "kind: Secret\nmetadata: {name: t}\ndata: {a: ''}",
       {"warning spec.experimentTracker.encryptionKey secret-key-missing"}},
      {Kind::stack_customizer,
       "spec: {modelDownloadJobs: {registryApiSecret: {name: r}}}",
       "kind: Secret\nmetadata: {name: r}\ndata: {key: ''}",
       {"warning spec.modelDownloadJobs.registryApiSecret.name secret-key-missing"}},
      {Kind::stack_customizer,
       "spec: {trainingConfig: {workspacePVC: {storageClass: fast}}}",
       "",
       {"warning spec.trainingConfig.workspacePVC.storageClass storage-class-missing"}},
      {Kind::inference_cache,
       "spec: {storage: {pvc: {name: c, create: false, size: null, volumeAccessMode: null}}}",
       "",
       {"warning spec.storage.pvc.name claim-missing"}},
      {Kind::inference_cache,
       "spec: {source: {registry: null, datastore: {endpoint: 'http://d:8000', repository: a/b, authSecret: s}}}",
       "",
       {"warning spec.source.datastore.authSecret secret-missing"}},
      {Kind::inference_cache,
       "spec: {proxy: {caConfigMap: ca}}",
       "",
       {"warning spec.proxy.caConfigMap config-map-missing"}},
      {Kind::inference_service,
       "spec: {storage: {nimCache: {name: c}}}",
       "",
       {"warning spec.storage.nimCache.name cache-missing"}},
      {Kind::inference_service,
       "spec: {env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: B, valueFrom: {configMapKeyRef: "
       "{name: c, key: k}}}, {name: C, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}]}",
       "",
       {"warning spec.env[0].valueFrom.secretKeyRef.name secret-missing",
        "warning spec.env[1].valueFrom.configMapKeyRef.name config-map-missing"}},
  });
}

TEST(References, PullSecretsAndCertificatesHaveTheirTypes) {
  constexpr std::string_view image =
      "spec: {image: {repository: registry.example.com/g, tag: '1.0', pullSecrets: [pull]}}";
  constexpr std::string_view ingress =
      "spec: {expose: {ingress: {enabled: true, host: g.example.com, tlsSecretName: tls}}}";
  expect_references({
      {Kind::stack_guardrail, image, "kind: Secret\nmetadata: {name: pull}\ntype: kubernetes.io/dockerconfigjson", {}},
      {Kind::stack_guardrail, image, "kind: Secret\nmetadata: {name: pull}\ntype: kubernetes.io/dockercfg", {}},
      {Kind::stack_guardrail,
       image,
       "kind: Secret\nmetadata: {name: pull}\ntype: Opaque",
       {"warning spec.image.pullSecrets[0] secret-type-wrong"}},
      {Kind::stack_guardrail, image, "", {"warning spec.image.pullSecrets[0] secret-missing"}},
      {Kind::stack_guardrail,
       ingress,
       "kind: Secret\nmetadata: {name: tls}\ntype: kubernetes.io/tls\ndata: {tls.crt: '', tls.key: ''}",
       {}},
      {Kind::stack_guardrail,
       ingress,
       "kind: Secret\nmetadata: {name: tls}\ntype: Opaque",
       {"warning spec.expose.ingress.tlsSecretName secret-type-wrong"}},
      {Kind::stack_guardrail,
       "spec: {expose: {ingress: {enabled: false, host: g.example.com, tlsSecretName: tls}}}",
       "",
       {}},
  });
}

TEST(References, ACacheMustHoldTheModel) {
  constexpr std::string_view ready =
      "kind: InferenceCache\napiVersion: stackgate.dev/v1alpha1\nmetadata: {name: c}\nstatus: {state: Ready, profiles: "
      "[{name: fp8-tp1}, {name: fp8-tp2}]}";
  expect_references({
      {Kind::inference_service, "spec: {storage: {nimCache: {name: c, profile: fp8-tp2}}}", ready, {}},
      {Kind::inference_service, "spec: {storage: {nimCache: {name: c, profile: ''}}}", ready, {}},
      {Kind::inference_service, "spec: {storage: {nimCache: {name: c}}}", ready, {}},
      {Kind::inference_service,
       "spec: {storage: {nimCache: {name: c, profile: fp8-tp4}}}",
       ready,
       {"warning spec.storage.nimCache.profile cache-profile-unknown"}},
      {Kind::inference_service,
       "spec: {storage: {nimCache: {name: c, profile: x}}}",
       "kind: InferenceCache\nmetadata: {name: c}\nstatus: {state: InProgress}",
       {}},
      {Kind::inference_service,
       "spec: {storage: {nimCache: {name: c, profile: x}}}",
       "kind: InferenceCache\nmetadata: {name: c}\nstatus: {state: Failed}",
       {"warning spec.storage.nimCache.name cache-failed"}},
  });
}

TEST(References, AnExistingClaimMustServeAllPods) {
  const auto claim = [](std::string_view modes) {
    return "kind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {accessModes: [" + std::string(modes) + "]}";
  };
  const std::string once = claim("ReadWriteOnce"), many = claim("ReadWriteOnce, ReadWriteMany"),
                    read = claim("ReadOnlyMany"), pod = claim("ReadWriteOncePod");
  constexpr std::string_view models =
      "spec: {trainingConfig: {modelPVC: {name: c, create: null, size: null, volumeAccessMode: null}}}";
  constexpr std::string_view two =
      "spec: {replicas: 2, pvc: {name: c, create: null, size: null, volumeAccessMode: null}}";
  expect_references({
      {Kind::stack_customizer, models, once, {"warning spec.trainingConfig.modelPVC.name model-volume-single-node"}},
      {Kind::stack_customizer, models, many, {}},
      {Kind::stack_customizer,
       "spec: {trainingConfig: {modelPVC: {name: c, create: null, size: null, volumeAccessMode: ReadWriteOnce}}}",
       many,
       {}},
      {Kind::stack_customizer, models, read, {"error spec.trainingConfig.modelPVC.name claim-read-only"}},
      {Kind::inference_cache,
       "spec: {storage: {pvc: {name: c, create: null, size: null, volumeAccessMode: null}}}",
       read,
       {"error spec.storage.pvc.name claim-read-only"}},
      {Kind::stack_datastore, two, once, {"warning spec.pvc.name replicas-share-volume"}},
      {Kind::stack_datastore, two, pod, {"error spec.pvc.name replicas-exclusive-volume"}},
      {Kind::stack_datastore, two, many, {}},
  });
}

TEST(References, WhatACreatedClaimIsCalledNeedNotExist) {
  expect_references({
      {Kind::stack_datastore, "spec: {pvc: {name: new-claim}}", "", {}},
      {Kind::stack_datastore, "spec: {pvc: {storageClass: ''}}", "", {}},
      {Kind::stack_datastore,
       "spec: {pvc: {storageClass: fast}}",
       "",
       {"warning spec.pvc.storageClass storage-class-missing"}},
      {Kind::stack_datastore, "spec: {pvc: {storageClass: fast}}", "kind: StorageClass\nmetadata: {name: fast}", {}},
  });
}

TEST(References, APipelinesServicesAreAskedForAtTheirFullPath) {
  TableLookup cluster(complete);
  const Findings findings = review_in(cluster, Kind::inference_pipeline, R"(
spec:
  services:
    - name: one
      spec: &spec
        image: {repository: registry.example.com/one, tag: 1.8.3}
        authSecret: registry-api
        resources: {limits: {nvidia.com/gpu: 1}}
        storage: {nimCache: {name: nowhere}}
    - name: two
      enabled: false
      spec: *spec
)");
  EXPECT_EQ(short_form(findings),
            (std::vector<std::string>{"warning spec.services[0].spec.storage.nimCache.name cache-missing"}))
      << all_lines(findings);
}

TEST(References, FlagsDecideHowTheyAreReported) {
  Options options;
  options.required_references = References::warn;
  options.other_references = References::deny;
  expect_references(
      {{Kind::inference_service,
        "spec: {authSecret: other, storage: {nimCache: {name: c}}}",
        "",
        {"warning spec.authSecret required-secret-missing", "error spec.storage.nimCache.name cache-missing"}}},
      options);
  options.required_references = References::off;
  options.other_references = References::off;
  TableLookup cluster("{}");
  EXPECT_TRUE(review_in(cluster, Kind::inference_service, "spec: {storage: {nimCache: {name: c}}}", options).empty());
  EXPECT_TRUE(cluster.asked.empty());
}

TEST(References, WhatCannotBeAskedIsOneWarningAndNeverADenial) {
  constexpr std::string_view silent = R"(
kind: Secret
metadata: {name: entitystore-db, annotations: {test/presence: unknown}}
---
kind: PriorityClass
metadata: {name: high, annotations: {test/presence: unknown}}
)";
  TableLookup cluster(silent);
  const Findings findings = review_in(cluster, Kind::stack_entitystore, "spec: {priorityClassName: high}");
  ASSERT_EQ(short_form(findings), (std::vector<std::string>{"warning spec.priorityClassName reference-unchecked"}))
      << all_lines(findings);
  EXPECT_EQ(findings[0].problem,
            "the cluster could not be asked about PriorityClass \"high\", Secret \"entitystore-db\"");
  Options strict;
  strict.required_references = strict.other_references = References::deny;
  TableLookup again(silent);
  EXPECT_FALSE(has_errors(review_in(again, Kind::stack_entitystore, "spec: {priorityClassName: high}", strict)));
}

TEST(References, AnObjectIsAskedForOnce) {
  TableLookup cluster(complete);
  review_in(cluster, Kind::inference_pipeline, "{}");
  EXPECT_EQ(cluster.asked, (std::vector<std::string>{"Secret default/registry-api"}));
}

TEST(References, ANameThatNoObjectCanHaveIsNotAskedFor) {
  TableLookup cluster(complete);
  const Findings findings = review_in(cluster, Kind::inference_service, "spec: {authSecret: Registry_API}");
  EXPECT_TRUE(cluster.asked.empty());
  ASSERT_EQ(findings.size(), 1U) << all_lines(findings);
  EXPECT_EQ(findings[0].path, "spec.authSecret");
}

TEST(References, TheNamespaceIsTheResourcesOwn) {
  TableLookup cluster(
      with("kind: Secret\nmetadata: {name: registry-api, namespace: team-a}\ndata: {REGISTRY_API_KEY: ''}"));
  review_in(cluster, Kind::inference_service, "metadata: {namespace: team-a}");
  EXPECT_EQ(cluster.asked, (std::vector<std::string>{"Secret team-a/registry-api"}));
}

TEST(References, AVanishedReferenceStopsNoOtherChange) {
  const auto stored = sample(Kind::stack_entitystore, "{}");
  const auto changed = sample(Kind::stack_entitystore, "spec: {replicas: 3}");
  TableLookup cluster("{}");
  const Findings findings =
      review({.kind = Kind::stack_entitystore, .object = &changed->value(), .old = &stored->value(), .ns = "default"},
             &cluster);
  EXPECT_EQ(short_form(findings),
            (std::vector<std::string>{"warning spec.databaseConfig.credentials.secretName required-secret-missing"}));
  const auto renamed = sample(Kind::stack_entitystore, "spec: {databaseConfig: {credentials: {secretName: other}}}");
  EXPECT_TRUE(has_errors(
      review({.kind = Kind::stack_entitystore, .object = &renamed->value(), .old = &stored->value(), .ns = "default"},
             &cluster)));
}

TEST(References, WordsFitALine) {
  TableLookup cluster("{}");
  for (const crds::KindInfo& info : crds::kinds)
    for (const Finding& each : review_in(cluster, info.kind, "{}"))
      EXPECT_LE(each.problem.size(), 100U) << each.problem;
}

const schema::Node* node_at(const schema::Node& spec, std::string_view path) {
  const schema::Node* node = &spec;
  while (!path.empty() && node != nullptr) {
    if (path.starts_with("[]")) {
      node = node->items;
      path.remove_prefix(path.starts_with("[].") ? 3 : 2);
      continue;
    }
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    node = node->property(path.substr(0, end));
    path.remove_prefix(end < path.size() && path[end] == '.' ? end + 1 : end);
  }
  return node;
}

TEST(ReferenceTable, NamesFieldsThatTheKindsHave) {
  std::set<std::string> seen;
  for (const ReferenceRow& row : reference_rows())
    for (const crds::KindInfo& info : crds::kinds) {
      if ((row.kinds & kind_bit(info.kind)) == 0) continue;
      const schema::Node& spec = spec_node(info.kind);
      EXPECT_NE(node_at(spec, row.path), nullptr) << info.name << " " << row.path;
      EXPECT_TRUE(seen.insert(std::string(info.name) + row.path.data()).second) << row.path << " stands twice";
      if (row.keys != Keys::written) continue;
      const std::string parent(row.path.substr(0, row.path.find_last_of('.') + 1));
      for (const std::string_view key : row.key_names)
        if (!key.empty()) {
          EXPECT_NE(node_at(spec, parent + std::string(key)), nullptr) << info.name << " " << parent << key;
        }
    }
}

}  // namespace references_test
}  // namespace stackgate::validate::tests
