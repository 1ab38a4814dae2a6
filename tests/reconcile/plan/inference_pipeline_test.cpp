#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace inference_pipeline_plan {

constexpr crds::Kind kind = crds::Kind::inference_pipeline;

/// A pipeline of services "llm" and "reranker", where llm needs reranker; `patch` is for the dependency, `more` for the
/// entry reranker.
Tree pipeline(std::string_view dependency = "{name: reranker, envName: RERANKER_URL}", std::string_view more = "",
              std::string_view env = "") {
  return minimal(kind, "{metadata: {name: research}, spec: {services: [{name: llm, spec: {authSecret: a" +
                           std::string(env) + "}, dependencies: [" + std::string(dependency) +
                           "]}, {name: reranker, spec: {authSecret: a, expose: {service: {port: 9000}}}" +
                           std::string(more) + "}]}}");
}
Tree spec_of(const Planned& planned, std::string_view name) {
  const Tree& body = planned.child(ChildType::inference_service, name);
  return body.is_null() ? body : body["spec"];
}
std::string told(const Planned& planned) {
  std::string out(to_string(planned.plan.status.state));
  for (const Condition& each : planned.plan.status.conditions) out += " " + each.type + "=" + each.reason;
  return out;
}
constexpr std::string_view ready = "{metadata: {generation: 1}, status: {observedGeneration: 1, state: Ready}}";

TEST(InferencePipelinePlan, MakesAServiceOfEachEnabledEntry) {
  const Planned planned = plan_of(pipeline());
  EXPECT_EQ(planned.names(), (std::vector<std::string>{"InferenceService llm", "InferenceService reranker"}));
  const Tree& body = planned.child(ChildType::inference_service, "reranker");
  EXPECT_EQ(body["apiVersion"], "stackgate.dev/v1alpha1");
  EXPECT_EQ(body["metadata"]["ownerReferences"][0]["name"], "research");
  EXPECT_EQ(body["metadata"]["ownerReferences"][0]["controller"], true);
  EXPECT_EQ(body["spec"], Tree::parse(R"({"authSecret":"a","expose":{"service":{"port":9000}}})"));
  EXPECT_EQ(told(planned), "NotReady Ready=ServicesNotReady DependenciesReady=DependencyNotReady");
  EXPECT_EQ(plan_of(pipeline("{name: reranker}", ", enabled: false")).names(),
            std::vector<std::string>{"InferenceService llm"})
      << "what is disabled is not planned, and so pruned";
}

TEST(InferencePipelinePlan, TellsAServiceWhereItsDependenciesAre) {
  const auto env = [](std::string_view dependency) { return spec_of(plan_of(pipeline(dependency)), "llm")["env"]; };
  EXPECT_EQ(env("{name: reranker, envName: URL}"), Tree::parse(R"([{"name":"URL","value":"http://reranker:9000"}])"));
  EXPECT_EQ(env("{name: reranker, envName: URL, port: 7000}"),
            Tree::parse(R"([{"name":"URL","value":"http://reranker:7000"}])"));
  EXPECT_EQ(env("{name: reranker, envName: URL, envValue: 'grpc://x'}"),
            Tree::parse(R"([{"name":"URL","value":"grpc://x"}])"));
  EXPECT_TRUE(env("{name: reranker}").is_null());
  EXPECT_EQ(env("{name: other, envName: URL}"), Tree::parse(R"([{"name":"URL","value":"http://other:8000"}])"));
}

TEST(InferencePipelinePlan, AddsToTheVariablesOfTheServiceAndReplacesNone) {
  const Planned planned = plan_of(pipeline("{name: reranker, envName: URL}, {name: b, envName: A}", "",
                                           ", env: [{name: X, value: '1'}, {name: A, value: mine}]"));
  EXPECT_EQ(
      spec_of(planned, "llm")["env"],
      Tree::parse(
          R"([{"name":"X","value":"1"},{"name":"A","value":"mine"},{"name":"URL","value":"http://reranker:9000"}])"));
}

TEST(InferencePipelinePlan, CopiesTheWholeSpecButNulls) {
  const Tree object = full(kind);
  const Planned planned = plan_of(object);
  Tree wanted = object["spec"]["services"][0]["spec"];
  wanted["env"].push_back({{"name", "RERANKER_URL"}, {"value", "http://reranker:8000/v1"}});
  EXPECT_EQ(nlohmann::json::parse(spec_of(planned, "llm-70b").dump()), nlohmann::json::parse(wanted.dump()));
  const Tree with_null = minimal(
      kind, "{spec: {services: [{name: a, spec: {authSecret: s, env: [{name: X, value: null}], labels: {k: null}}}]}}");
  EXPECT_EQ(spec_of(plan_of(with_null), "a"), Tree::parse(R"({"authSecret":"s","env":[{"name":"X"}],"labels":{}})"));
}

TEST(InferencePipelinePlan, SumsUpItsServices) {
  World world;
  world.add(ChildType::inference_service, "llm", ready);
  world.add(ChildType::inference_service, "reranker", ready);
  const Planned planned = plan_of(pipeline(), world);
  EXPECT_EQ(told(planned), "Ready Ready=AllServicesReady DependenciesReady=AllDependenciesReady");
  EXPECT_EQ(planned.plan.status.services,
            (std::map<std::string, std::string>{{"llm", "Ready"}, {"reranker", "Ready"}}));
}

TEST(InferencePipelinePlan, AnotherServiceOfThatNameFailsTheEntryWhileTheOthersGoOn) {
  World world;
  world.add(ChildType::inference_service, "reranker", ready, false);
  const Planned planned = plan_of(pipeline(), world);
  EXPECT_EQ(told(planned), "Failed Ready=NameTaken DependenciesReady=DependencyNotReady");
  EXPECT_EQ(planned.plan.status.services.at("reranker"), "Failed");
  EXPECT_FALSE(spec_of(planned, "llm").is_null());
}

TEST(InferencePipelinePlan, IsReadyWhenNothingIsEnabled) {
  const Planned planned = plan_of(minimal(kind, "{spec: {services: [{name: a, enabled: false, spec: {}}]}}"));
  EXPECT_TRUE(planned.plan.children.empty());
  EXPECT_EQ(told(planned), "Ready Ready=NothingEnabled");
}

TEST(InferencePipelinePlan, OfAnEntryThatNobodyHasCheckedTakesWhatItCan) {
  const Planned planned = plan_of(minimal(kind,
                                          "{spec: {services: [7, {name: a}, {spec: {}}, {name: a, spec: {}}, {name: b, "
                                          "spec: 3, dependencies: [7, {name: c}]}]}}"));
  EXPECT_EQ(planned.names(), (std::vector<std::string>{"InferenceService a", "InferenceService b"}));
}

}  // namespace inference_pipeline_plan
}  // namespace stackgate::reconcile::tests
