#include "webhook/admit.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::webhook {
namespace {

/// A request with the kind's minimal sample, for a test to change.
struct Case {
  std::string text;  // strings of the document are views into it
  json::Document document;
  ReviewRequest request;

  explicit Case(std::string json) : text(std::move(json)) {
    auto root = json::parse(text, document);
    EXPECT_TRUE(root) << text;
    request.uid = "u";
    request.group = crds::api_group;
    request.version = crds::api_version;
    request.kind = "InferenceService";
    request.ns = "team-a";
    request.name = "llm";
    object = *root;
    request.object = &object;
  }
  json::Value object;
};

std::string minimal() {
  auto stream = yaml::parse(crds::minimal_sample(crds::Kind::inference_service));
  return json::to_json(stream.documents.at(0).root);
}

TEST(Admit, AGoodResourceIsAllowed) {
  Case c(minimal());
  const Verdict verdict = admit(Stage::validate, c.request, nullptr, {});
  EXPECT_TRUE(verdict.answer.allowed) << verdict.answer.message;
  EXPECT_EQ(verdict.answer.uid, "u");
}

TEST(Admit, ABadResourceIsRefusedWithAllFaultsAtBothStages) {
  for (Stage stage : {Stage::early, Stage::validate}) {
    Case c(R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","metadata":{"name":"llm"},
               "spec":{"replicas":"three","expose":{"service":{"port":70000}}}})");
    const Verdict verdict = admit(stage, c.request, nullptr, {});
    EXPECT_FALSE(verdict.answer.allowed);
    EXPECT_EQ(verdict.answer.code, 422);
    EXPECT_EQ(verdict.answer.reason, "Invalid");
    std::vector<std::string> fields;
    for (const Cause& cause : verdict.answer.causes) fields.emplace_back(cause.field);
    EXPECT_THAT(fields,
                testing::IsSupersetOf({"spec.replicas", "spec.expose.service.port", "spec.image", "spec.authSecret"}));
  }
}

TEST(Admit, WarningsOfAnAllowedResourceComeOnlyFromTheSecondCall) {
  std::string json = minimal();
  const std::size_t tag = json.find("\"tag\":\"");
  ASSERT_NE(tag, std::string::npos);
  json.replace(tag, json.find('"', tag + 7) + 1 - tag, "\"tag\":\"latest\"");
  Case c(json);
  EXPECT_THAT(admit(Stage::early, c.request, nullptr, {}).answer.warnings, testing::IsEmpty());
  const Verdict verdict = admit(Stage::validate, c.request, nullptr, {});
  EXPECT_TRUE(verdict.answer.allowed);
  EXPECT_THAT(verdict.answer.warnings, testing::ElementsAre(testing::HasSubstr("latest")));
  ASSERT_EQ(verdict.answer.audit_annotations.size(), 1U);
  EXPECT_EQ(verdict.answer.audit_annotations[0].first, "rules");
}

TEST(Admit, OtherGroupsAndSubresourcesAreLetThrough) {
  Case other(R"({"kind":"Pod"})");
  other.request.group = "";
  other.request.kind = "Pod";
  EXPECT_TRUE(admit(Stage::validate, other.request, nullptr, {}).answer.allowed);
  Case status(R"({"kind":"InferenceService"})");
  status.request.sub_resource = "status";
  EXPECT_TRUE(admit(Stage::validate, status.request, nullptr, {}).answer.allowed);
}

TEST(Admit, AKindOrVersionOfOursThatIsNotKnownIsRefusedInSoManyWords) {
  Case kind(R"({})");
  kind.request.kind = "InferenceRouter";
  EXPECT_FALSE(admit(Stage::validate, kind.request, nullptr, {}).answer.allowed);
  Case version(R"({})");
  version.request.version = "v2";
  const Verdict verdict = admit(Stage::validate, version.request, nullptr, {});
  EXPECT_FALSE(verdict.answer.allowed);
  EXPECT_EQ(verdict.answer.code, 400);
  EXPECT_THAT(verdict.answer.message, testing::HasSubstr("stackgate.dev/v2"));
}

}  // namespace
}  // namespace stackgate::webhook
