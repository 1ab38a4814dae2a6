// Pods, environment variables and volumes as they are written.
#include "services/kit/pods/pod.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::pods {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string written(const Pod& pod) {
  std::string text;
  json::Writer out(text);
  write_template(out, pod);
  json::Document document;
  EXPECT_TRUE(json::parse(text, document)) << text;
  return text;
}

Pod with(Container container) {
  Pod pod{.tmp = false};
  pod.containers.push_back(std::move(container));
  return pod;
}

struct Case {
  const char* name;
  std::string body, expected;
};
std::ostream& operator<<(std::ostream& out, const Case& each) { return out << each.name; }

class Body : public testing::TestWithParam<Case> {};
TEST_P(Body, is_the_entry_that_kubernetes_reads) { EXPECT_EQ(GetParam().body, GetParam().expected); }

const std::vector<KeyToPath> items{{"password", "pw"}};
const std::vector<Case> bodies{
    {"value", env_value("A", "$(B)").body, R"-({"name":"A","value":"$(B)"})-"},
    {"empty value", env_value("A", "").body, R"({"name":"A"})"},
    {"text is not expanded", env_text("A", "$(B) $ x").body, R"({"name":"A","value":"$$(B) $$ x"})"},
    {"secret key", env_from_secret("A", "s", "k").body,
     R"({"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}})"},
    {"optional secret key", env_from_secret("A", "s", "k", true).body,
     R"({"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k","optional":true}}})"},
    {"field", env_from_field("A", "status.podIP").body,
     R"({"name":"A","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}})"},
    {"secret", secret_volume("v", "s").body, R"({"name":"v","secret":{"secretName":"s","defaultMode":288}})"},
    {"keys of a secret", secret_volume("v", "s", items, 0400, true).body,
     R"({"name":"v","secret":{"secretName":"s","items":[{"key":"password","path":"pw"}],)"
     R"("defaultMode":256,"optional":true}})"},
    {"config map", config_map_volume("v", "m").body, R"({"name":"v","configMap":{"name":"m"}})"},
    {"config map with a mode", config_map_volume("v", "m", {}, 0444, true).body,
     R"({"name":"v","configMap":{"name":"m","defaultMode":292,"optional":true}})"},
    {"claim", claim_volume("v", "c", true).body,
     R"({"name":"v","persistentVolumeClaim":{"claimName":"c","readOnly":true}})"},
    {"memory", memory_volume("v", "1024Mi").body, R"({"name":"v","emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}})"},
    {"memory without a limit", memory_volume("v").body, R"({"name":"v","emptyDir":{"medium":"Memory"}})"},
    {"empty", empty_volume("v").body, R"({"name":"v","emptyDir":{}})"},
    {"text that is no JSON", env_value("A\"", "\n").body, R"({"name":"A\"","value":"\n"})"}};
INSTANTIATE_TEST_SUITE_P(Sources, Body, testing::ValuesIn(bodies));

TEST(Pod, is_strict_where_nothing_is_said) {
  EXPECT_EQ(written(with({.name = "main", .image = "i"})),
            R"({"metadata":{},"spec":{"automountServiceAccountToken":false,"enableServiceLinks":false,)"
            R"("securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},)"
            R"("terminationGracePeriodSeconds":30,"containers":[{"name":"main","image":"i",)"
            R"("terminationMessagePolicy":"FallbackToLogsOnError","securityContext":{"allowPrivilegeEscalation":false,)"
            R"("capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true}}]}})");
}

TEST(Pod, has_what_it_is_given) {
  Pod pod = with({.name = "main",
                  .image = "i",
                  .command = {"run"},
                  .args = {"a", "b"},
                  .resources = R"({"limits":{}})",
                  .ports = {{"api", 8000}},
                  .read_only_root = false});
  pod.labels = {{"b", ""}, {"a", "1"}};
  pod.annotations = {{"note", "x"}};
  pod.service_account = "trainer";
  pod.token = true;
  pod.pull_secrets = {"registry"};
  pod.node_selector = R"({"gpu":"a"})";
  pod.tolerations = "[]";
  pod.priority_class = "high";
  pod.runtime_class = "nvidia";
  pod.scheduler = "volcano";
  pod.restart_policy = "Never";
  pod.volumes = {empty_volume("data")};
  const std::string text = written(pod);
  for (const char* part :
       {R"("labels":{"a":"1","b":""},"annotations":{"note":"x"})", R"("serviceAccountName":"trainer")",
        R"("imagePullSecrets":[{"name":"registry"}])", R"("nodeSelector":{"gpu":"a"})", R"("tolerations":[])",
        R"("priorityClassName":"high")", R"("runtimeClassName":"nvidia")", R"("schedulerName":"volcano")",
        R"("restartPolicy":"Never")", R"("command":["run"])", R"("args":["a","b"])", R"("resources":{"limits":{}})",
        R"("ports":[{"name":"api","containerPort":8000,"protocol":"TCP"}])",
        R"("volumes":[{"name":"data","emptyDir":{}}])"})
    EXPECT_THAT(text, HasSubstr(part));
  for (const char* part : {"automountServiceAccountToken", "readOnlyRootFilesystem", "topologySpread"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
}

TEST(Pod, gives_every_container_a_tmp_that_mounts_none_there) {
  Pod pod;
  pod.init.push_back({.name = "init", .image = "i"});
  pod.containers.push_back({.name = "main", .image = "i", .mounts = {{"own", "/tmp", "sub", true}}});
  const std::string text = written(pod);
  EXPECT_THAT(text, HasSubstr(R"("volumeMounts":[{"name":"tmp","mountPath":"/tmp"}])"));
  EXPECT_THAT(text, HasSubstr(R"("volumeMounts":[{"name":"own","mountPath":"/tmp","subPath":"sub","readOnly":true}])"));
  EXPECT_THAT(text, HasSubstr(R"("volumes":[{"name":"tmp","emptyDir":{}}])"));
}

TEST(Pod, has_the_last_variable_of_each_name) {
  const std::string text = written(
      with({.name = "main", .image = "i", .env = {env_value("A", "1"), env_value("B", "2"), env_value("A", "3")}}));
  EXPECT_THAT(text, HasSubstr(R"("env":[{"name":"B","value":"2"},{"name":"A","value":"3"}])"));
}

TEST(Pod, asks_the_port_api_for_its_health) {
  const Probe probe{.path = "/health", .initial_delay = 5, .failures = 6};
  EXPECT_EQ(probe.budget(), 65);
  EXPECT_THAT(written(with({.name = "main", .image = "i", .readiness = probe})),
              HasSubstr(R"("readinessProbe":{"httpGet":{"path":"/health","port":"api","scheme":"HTTP"},)"
                        R"("initialDelaySeconds":5,"periodSeconds":10,"timeoutSeconds":1,"failureThreshold":6,)"
                        R"("successThreshold":1})"));
}

TEST(Pod, is_spread_over_nodes_and_zones) {
  Pod pod = with({.name = "main", .image = "i"});
  pod.spread_over = {{"app", "llm"}};
  const std::string text = written(pod);
  for (const char* key : {"kubernetes.io/hostname", "topology.kubernetes.io/zone"})
    EXPECT_THAT(text,
                HasSubstr(std::string(R"({"maxSkew":1,"topologyKey":")") + key +
                          R"(","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"llm"}}})"));
}

}  // namespace
}  // namespace stackgate::pods
