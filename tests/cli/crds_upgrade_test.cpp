#include "services/stackgate/crds_upgrade.hpp"

#include <gmock/gmock.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "tests/cli/run_command.hpp"

namespace stackgate::crds_upgrade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Keeps the documents that the values of one test belong to.
class CrdsUpgrade : public testing::Test {
 protected:
  const json::Value& parse(const std::string& text) {
    texts_.push_back(std::make_unique<std::string>(text));
    documents_.push_back(std::make_unique<json::Document>());
    const auto parsed = json::parse(*texts_.back(), *documents_.back());
    EXPECT_TRUE(parsed) << text;
    return documents_.back()->root;
  }
  /// A definition with this schema of the resource.
  const json::Value& with_schema(const std::string& schema) {
    return parse(R"({"spec": {"versions": [{"name": "v1alpha1", "schema": {"openAPIV3Schema": )" + schema + "}}]}}");
  }
  std::vector<std::string> between(const std::string& before, const std::string& after) {
    return changes(with_schema(before), with_schema(after));
  }

 private:
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<json::Document>> documents_;
};

std::string stored_definition(const std::string& stored_versions, const std::string& kind = "InferenceCache",
                              const std::string& more = "") {
  return R"({"metadata": {"name": "inferencecaches.stackgate.dev")" + more +
         R"(}, "spec": {"group": "stackgate.dev", "scope": "Namespaced", "names": {"kind": ")" + kind +
         R"(", "plural": "inferencecaches"}}, "status": {"storedVersions": )" + stored_versions + "}}";
}

TEST_F(CrdsUpgrade, a_version_with_stored_resources_is_not_dropped) {
  const auto& wanted = parse(std::string(crds::definition_json(crds::Kind::inference_cache)));
  EXPECT_FALSE(refusal(parse(stored_definition(R"(["v1alpha1"])")), wanted));
  EXPECT_FALSE(refusal(parse(stored_definition("[]")), wanted));
  const auto older = refusal(parse(stored_definition(R"(["v1alpha1", "v1"])")), wanted);
  ASSERT_TRUE(older);
  EXPECT_THAT(*older, HasSubstr("inferencecaches.stackgate.dev has resources stored as v1,"));
  EXPECT_THAT(*older, HasSubstr("take v1 out of status.storedVersions"));
}

TEST_F(CrdsUpgrade, what_is_not_ours_or_leaving_is_not_replaced) {
  const auto& wanted = parse(std::string(crds::definition_json(crds::Kind::inference_cache)));
  EXPECT_THAT(refusal(parse(stored_definition("[]", "Cache")), wanted).value_or(""),
              HasSubstr("has spec.names.kind Cache and not InferenceCache"));
  EXPECT_THAT(
      refusal(parse(stored_definition("[]", "InferenceCache", R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")")),
              wanted)
          .value_or(""),
      HasSubstr("is being deleted"));
}

TEST_F(CrdsUpgrade, a_definition_is_the_same_as_itself) {
  for (const crds::KindInfo& each : crds::kinds) {
    const auto& definition = parse(std::string(crds::definition_json(each.kind)));
    EXPECT_THAT(changes(definition, definition), IsEmpty()) << each.name;
  }
}

TEST_F(CrdsUpgrade, changes_of_a_schema_are_told_by_field) {
  EXPECT_THAT(between(R"({"properties": {"spec": {"properties": {"a": {}}}}})",
                      R"({"properties": {"spec": {"properties": {"a": {}, "b": {}}}}})"),
              ElementsAre("+ spec.b"));
  EXPECT_THAT(between(R"({"properties": {"spec": {"properties": {"a": {}, "b": {}}}}})",
                      R"({"properties": {"spec": {"properties": {"b": {}}}}})"),
              ElementsAre("- spec.a (stored values are dropped when their resources are next written)"));
  EXPECT_THAT(between(R"({"properties": {"n": {"maximum": 10}}})", R"({"properties": {"n": {"maximum": 20}}})"),
              ElementsAre("~ n: maximum 10 -> 20"));
  EXPECT_THAT(between(R"({"properties": {"n": {"type": "string"}}})",
                      R"({"properties": {"n": {"type": "string", "minLength": 1}}})"),
              ElementsAre("~ n: minLength none -> 1"));
  EXPECT_THAT(between(R"({"properties": {"n": {"items": {"properties": {"x": {}}}}}})",
                      R"({"properties": {"n": {"items": {"properties": {"x": {}, "y": {}}}}}})"),
              ElementsAre("+ n[].y"));
  EXPECT_THAT(between(R"({"properties": {"n": {"additionalProperties": {"maxLength": 1}}}})",
                      R"({"properties": {"n": {"additionalProperties": {"maxLength": 2}}}})"),
              ElementsAre("~ n[*]: maxLength 1 -> 2"));
  EXPECT_THAT(between(R"({"x-kubernetes-validations": [{"rule": "true"}]})", "{}"),
              ElementsAre("~ the resource: rules"));
  EXPECT_THAT(
      between(R"({"properties": {"n": {"description": "a"}}})", R"({"properties": {"n": {"description": "b"}}})"),
      ElementsAre("~ n: description"));
  EXPECT_THAT(between(R"({"required": ["a"]})", R"({"required": ["a", "b"]})"),
              ElementsAre("~ the resource: required"));
  EXPECT_THAT(between(R"({"properties": {"properties": {"type": "string"}}})", R"({"properties": {}})"),
              ElementsAre(HasSubstr("- properties (")));
}

TEST_F(CrdsUpgrade, changes_beside_the_schema_are_told) {
  const auto told = [&](const char* before, const char* after) {
    return changes(parse(std::string(R"({"spec": )") + before + "}"), parse(std::string(R"({"spec": )") + after + "}"));
  };
  EXPECT_THAT(told(R"({"versions": [{"name": "a"}]})", R"({"versions": [{"name": "a"}, {"name": "b"}]})"),
              ElementsAre("+ version b"));
  EXPECT_THAT(told(R"({"versions": [{"name": "a"}, {"name": "b"}]})", R"({"versions": [{"name": "b"}]})"),
              ElementsAre("- version a"));
  EXPECT_THAT(
      told(R"({"versions": [{"name": "a", "served": true}]})", R"({"versions": [{"name": "a", "served": false}]})"),
      ElementsAre("~ version a: served true -> false"));
  EXPECT_THAT(told(R"({"names": {"shortNames": ["a"]}})", R"({"names": {"shortNames": ["b"]}})"),
              ElementsAre("~ names.shortNames"));
  EXPECT_THAT(told(R"({"names": {"singular": "a"}})", R"({"names": {"singular": "b"}})"),
              ElementsAre(R"(~ names.singular: "a" -> "b")"));
  EXPECT_THAT(told("{}", R"({"conversion": {"strategy": "None"}})"), ElementsAre("+ conversion"));
  EXPECT_THAT(changes(parse("[]"), parse("null")), IsEmpty());
}

TEST_F(CrdsUpgrade, a_definition_is_served_when_it_is_established_and_nothing_is_wrong) {
  std::string why;
  const auto conditions = [&](const std::string& list) -> const json::Value& {
    return parse(R"({"status": {"conditions": )" + list + "}}");
  };
  EXPECT_TRUE(established(conditions(R"([{"type": "Established", "status": "True"}])"), why));
  EXPECT_FALSE(established(conditions("[]"), why));
  EXPECT_FALSE(established(parse("{}"), why));
  EXPECT_EQ(why, "");
  EXPECT_FALSE(established(conditions(R"([{"type": "NamesAccepted", "status": "False", "reason": "ShortNamesConflict",
      "message": "\"isvc\" is already in use"}, {"type": "Established", "status": "False"}])"),
                           why));
  EXPECT_EQ(why, R"(ShortNamesConflict: "isvc" is already in use)");
}

TEST_F(CrdsUpgrade, servers_before_1_23_do_not_know_validation_rules) {
  const std::pair<const char*, bool> cases[] = {{R"({"major": "1", "minor": "20"})", false},
                                                {R"({"major": "1", "minor": "22+"})", false},
                                                {R"({"major": "1", "minor": "23"})", true},
                                                {R"({"major": "1", "minor": "36"})", true},
                                                {R"({"major": "1", "minor": "28+"})", true},
                                                {R"({"major": "2", "minor": "0"})", true},
                                                {R"({})", false}};
  for (const auto& [version, wanted] : cases) EXPECT_EQ(knows_validation_rules(parse(version)), wanted) << version;
}

TEST_F(CrdsUpgrade, only_the_rules_are_taken_out) {
  const std::string with =
      R"({"a":[{"x-kubernetes-validations":[{"rule":"r"}],"b":1.5}],"c":"x-kubernetes-validations"})";
  EXPECT_EQ(without_validation_rules(parse(with)), R"({"a":[{"b":1.5}],"c":"x-kubernetes-validations"})");
  for (const crds::KindInfo& each : crds::kinds)
    EXPECT_THAT(without_validation_rules(parse(std::string(crds::definition_json(each.kind)))),
                Not(HasSubstr("x-kubernetes-validations")));
}

TEST(CrdsApply, wrong_use_is_refused) {
  using test::run;
  EXPECT_THAT(run({"crds", "--dry-run"}).err, HasSubstr("requires --apply"));
  EXPECT_THAT(run({"crds", "--apply", "-o", "json"}).err, HasSubstr("excludes"));
  EXPECT_THAT(run({"crds", "--apply", "--timeout", "0"}).err, HasSubstr("between 1 and 3600"));
  const auto no_cluster = run({"crds", "--apply", "--kubeconfig", "/nonexistent/kubeconfig"});
  EXPECT_EQ(no_cluster.status, 1);
  EXPECT_THAT(no_cluster.err, HasSubstr("/nonexistent/kubeconfig"));
  EXPECT_EQ(no_cluster.out, "");
}

}  // namespace
}  // namespace stackgate::crds_upgrade
