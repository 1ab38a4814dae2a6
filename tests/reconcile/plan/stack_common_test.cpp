// What the five stack kinds share.
#include <array>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"
#include "validators/rulebook.hpp"

namespace stackgate::reconcile::tests {
namespace stack_common {

using crds::Kind;

constexpr std::array stack_kinds{Kind::stack_datastore, Kind::stack_entitystore, Kind::stack_customizer,
                                 Kind::stack_evaluator, Kind::stack_guardrail};

/// The database's URL when databaseConfig is patched.
std::string url_with(std::string_view patch) {
  const std::string whole = "spec: {databaseConfig: {" + std::string(patch) + "}}";
  return plan_of(minimal(Kind::stack_entitystore, whole)).variable("STACKGATE_DATABASE_URL").get<std::string>();
}

TEST(StackPods, ADatabaseUrlHoldsAnyUserAndNameAndNeverAPassword) {
  EXPECT_EQ(url_with(""), "postgresql://entitystore@postgres:5432/entitystore");
  EXPECT_EQ(url_with("port: 6432"), "postgresql://entitystore@postgres:6432/entitystore");
  EXPECT_EQ(url_with("host: 'fd00::7'"), "postgresql://entitystore@[fd00::7]:5432/entitystore");
  EXPECT_EQ(url_with("databaseName: 'a/b?c#d'"), "postgresql://entitystore@postgres:5432/a%2Fb%3Fc%23d");
  EXPECT_EQ(url_with("credentials: {user: 'o''brien@corp:x'}"),
            "postgresql://o%27brien%40corp%3Ax@postgres:5432/entitystore");
  EXPECT_EQ(url_with("credentials: {user: 'jürgen $(HOME)'}"),
            "postgresql://j%C3%BCrgen%20%24%28HOME%29@postgres:5432/entitystore");
}

TEST(StackPods, ThePasswordIsAFileWhateverItsKeyIsCalled) {
  const Planned planned = plan_of(minimal(Kind::stack_guardrail,
                                          "spec: {databaseConfig: {host: db, databaseName: d, credentials: "
                                          "{user: u, secretName: s, passwordKey: my.key}}}"));
  EXPECT_EQ(planned.volume("database")["secret"],
            Tree::parse(R"({"secretName":"s","items":[{"key":"my.key","path":"password"}],"defaultMode":288})"));
  EXPECT_EQ(planned.mount("database")["mountPath"], "/run/secrets/stackgate/database");
  EXPECT_EQ(planned.variable("STACKGATE_DATABASE_PASSWORD_FILE"), "/run/secrets/stackgate/database/password");
}

TEST(StackPods, WithoutADatabaseNothingMigrates) {
  const Planned planned = plan_of(minimal(Kind::stack_guardrail));
  EXPECT_TRUE(planned.container("migrate").is_null());
  EXPECT_TRUE(planned.variable("STACKGATE_DATABASE_URL").is_null());
  EXPECT_EQ(planned.volume("data"), Tree::parse(R"({"name":"data","emptyDir":{}})"));
}

TEST(StackPods, ASubCommandIsTheSameContainerWithoutPortsAndProbes) {
  const Planned planned = plan_of(full(Kind::stack_entitystore));
  const Tree main = planned.container();
  const Tree migrate = planned.container("migrate");
  EXPECT_EQ(migrate["args"], Tree::parse(R"(["migrate"])"));
  for (const char* same : {"image", "imagePullPolicy", "env", "volumeMounts", "resources", "securityContext"})
    EXPECT_EQ(migrate[same], main[same]) << same;
  for (const char* absent : {"ports", "startupProbe", "readinessProbe", "livenessProbe"})
    EXPECT_FALSE(migrate.contains(absent)) << absent;
}

TEST(StackPods, TheImageIsTheUsersOrTheOperatorsOwn) {
  const auto image = [](std::string_view patch, const World& world) {
    return plan_of(minimal(Kind::stack_evaluator, patch), world).container()["image"].get<std::string>();
  };
  World world;
  EXPECT_EQ(image("{}", world), "registry.example.com/stackgate/evaluator:0.1.0");
  EXPECT_EQ(image("spec: {image: {repository: r.example.com/e, tag: '2'}}", world), "r.example.com/e:2");
  EXPECT_EQ(image("spec: {image: {repository: r.example.com/e}}", world), "r.example.com/e");
  EXPECT_EQ(image("spec: {image: {tag: '2'}}", world), "registry.example.com/stackgate/evaluator:2");
  world.settings.images["evaluator"] = "localhost:5000/evaluator@sha256:abc";
  EXPECT_EQ(image("spec: {image: {tag: '2'}}", world), "localhost:5000/evaluator:2");
  world.settings.images["evaluator"] = "localhost:5000/evaluator";
  EXPECT_EQ(image("spec: {image: {tag: '2'}}", world), "localhost:5000/evaluator:2");
}

TEST(StackPods, ATextFromTheSpecIsNotExpanded) {
  const Planned planned =
      plan_of(minimal(Kind::stack_entitystore, "spec: {datastore: {endpoint: 'http://d/$(HOME)$$x'}}"));
  EXPECT_EQ(planned.variable("STACKGATE_DATASTORE_URL"), "http://d/$$(HOME)$$$$x");
}

TEST(StackPods, TheUsersVariablesComeLastAndMayReferToOurs) {
  const Planned planned =
      plan_of(minimal(Kind::stack_entitystore,
                      "spec: {env: [{name: LISTEN, value: '$(STACKGATE_LISTEN)'}, {name: OTEL_SDK_DISABLED, "
                      "value: 'false'}]}"));
  const Tree env = planned.container()["env"];
  EXPECT_EQ(env.back(), Tree::parse(R"({"name":"OTEL_SDK_DISABLED","value":"false"})"));
  EXPECT_EQ(planned.variable("LISTEN"), "$(STACKGATE_LISTEN)");
  EXPECT_EQ(std::ranges::count_if(env, [](const Tree& each) { return each["name"] == "OTEL_SDK_DISABLED"; }), 1);
}

TEST(StackPods, OpenTelemetryIsSwitchedOffUnlessAskedFor) {
  for (const Kind kind : stack_kinds) {
    const Planned planned = plan_of(minimal(kind));
    EXPECT_EQ(planned.variable("OTEL_SDK_DISABLED"), "true");
    EXPECT_TRUE(planned.variable("OTEL_LOG_LEVEL").is_null());
  }
}

TEST(StackPods, OpenTelemetryFollowsItsFieldsAndTheirDefaults) {
  const auto with = [](std::string_view otel) {
    return plan_of(minimal(Kind::stack_guardrail, "spec: {otel: {enabled: true" + std::string(otel) + "}}"));
  };
  const Planned plain = with(", exporterOtlpEndpoint: 'http://c:4318'");
  EXPECT_EQ(plain.variable("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://c:4318");
  for (const char* exporter : {"OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"})
    EXPECT_EQ(plain.variable(exporter), "otlp") << exporter;
  EXPECT_EQ(plain.variable("OTEL_LOG_LEVEL"), "INFO");
  EXPECT_EQ(plain.variable("OTEL_PYTHON_EXCLUDED_URLS"), "health");
  EXPECT_EQ(plain.variable("OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED"), "true");
  EXPECT_EQ(plain.variable("OTEL_SERVICE_NAME"), "guardrail");
  EXPECT_TRUE(plain.variable("OTEL_SDK_DISABLED").is_null());

  const Planned console = with(
      ", exporterConfig: {tracesExporter: console, metricsExporter: none, logsExporter: none}"
      ", excludedUrls: [], disableLogging: true, logLevel: DEBUG");
  EXPECT_TRUE(console.variable("OTEL_EXPORTER_OTLP_ENDPOINT").is_null());
  EXPECT_EQ(console.variable("OTEL_TRACES_EXPORTER"), "console");
  EXPECT_EQ(console.variable("OTEL_METRICS_EXPORTER"), "none");
  EXPECT_TRUE(console.variable("OTEL_PYTHON_EXCLUDED_URLS").is_null()) << "nothing is excluded";
  EXPECT_EQ(console.variable("OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED"), "false");
  EXPECT_EQ(console.variable("OTEL_LOG_LEVEL"), "DEBUG");
}

TEST(StackPods, WhoNeedsNoRightsGetsNoToken) {
  for (const Kind kind : stack_kinds) {
    const Planned planned = plan_of(minimal(kind));
    const std::string name(planned.plan.children.front().name);
    const bool talks = kind == Kind::stack_customizer || kind == Kind::stack_evaluator;
    const Tree pod = planned.child(ChildType::deployment, name)["spec"]["template"]["spec"];
    EXPECT_EQ(pod.value("automountServiceAccountToken", true), talks) << name;
    EXPECT_EQ(planned.child(ChildType::role, name).contains("rules"), talks) << name;
  }
}

/// What the plans set, the gate must reserve, or else a user's variable would silently win.
TEST(StackPods, EveryVariableOfAPlanIsReservedOrADefault) {
  const std::set<std::string> defaults{"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SDK_DISABLED"};
  for (const Kind kind : stack_kinds) {
    for (Tree object : {minimal(kind), full(kind, "spec: {env: null}")}) {
      const Tree env = plan_of(object).container()["env"];
      ASSERT_FALSE(env.empty());
      object["spec"]["env"] = Tree::array();
      for (const Tree& each : env) object["spec"]["env"].push_back({{"name", each["name"]}, {"value", "x"}});
      const std::string text = object.dump();
      json::Document document;
      const auto root = json::parse(text, document);
      ASSERT_TRUE(root);
      std::set<std::string> reserved;
      for (const validate::Finding& finding :
           validate::review({.kind = kind, .object = &*root, .old = nullptr, .ns = "team"}, nullptr))
        if (finding.rule == "env-reserved") reserved.insert(finding.path);
      for (std::size_t i = 0; i < env.size(); ++i) {
        const std::string name = env[i]["name"];
        EXPECT_EQ(reserved.contains("spec.env[" + std::to_string(i) + "].name"), !defaults.contains(name))
            << crds::info(kind).name << " " << name;
      }
    }
  }
}

TEST(StackPods, WhatThePodsReadRestartsThem) {
  for (const Kind kind : stack_kinds) {
    const Tree object = full(kind);
    const std::string text =
        plan_of(object).container().dump() +
        plan_of(object)
            .child(ChildType::deployment,
                   object["metadata"]["name"].get<std::string>())["spec"]["template"]["spec"]["volumes"]
            .dump();
    const std::string spec = object["spec"].dump();
    json::Document document;
    const auto root = json::parse(spec, document);
    ASSERT_TRUE(root);
    std::set<std::string> inputs;
    for (const InputFacts& each : inputs_of(kind, *root)) inputs.insert(each.name);
    EXPECT_FALSE(inputs.empty());
    for (const std::string& name : inputs) EXPECT_NE(text.find('"' + name + '"'), std::string::npos) << name;
    // And the other way round: every Secret and ConfigMap of the pod is watched, but for the operator's own.
    const std::function<void(const Tree&)> walk = [&](const Tree& tree) {
      for (const auto& [key, value] : tree.items()) {
        if (value.is_object())
          for (const char* reference : {"secretKeyRef", "configMapKeyRef", "configMap", "secret"})
            if (key == reference) {
              const std::string name = value.contains("secretName") ? value["secretName"] : value["name"];
              EXPECT_TRUE(inputs.contains(name) || name == "customizer-jobs") << name;
            }
        if (value.is_structured()) walk(value);
      }
    };
    walk(plan_of(object).child(ChildType::deployment, object["metadata"]["name"].get<std::string>()));
  }
}

}  // namespace stack_common
}  // namespace stackgate::reconcile::tests
