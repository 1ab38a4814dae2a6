#include "webhook/review.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::webhook {
namespace {

std::expected<ReviewRequest, ReviewError> read(std::string_view text, json::Document& document) {
  auto root = json::parse(text, document);
  if (!root) return std::unexpected(ReviewError{root.error().message, {}});
  return read_review(*root);
}

constexpr std::string_view create = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{
  "uid":"7d2b1c9e-0000-4000-8000-000000000001","kind":{"group":"stackgate.dev","version":"v1alpha1","kind":"InferenceService"},
  "namespace":"team-a","name":"llm","operation":"CREATE","userInfo":{"username":"ada"},"dryRun":true,
  "object":{"metadata":{"name":"llm"}},"oldObject":null}})";

TEST(Review, ACreateRequestIsRead) {
  json::Document document;
  auto request = read(create, document);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->uid, "7d2b1c9e-0000-4000-8000-000000000001");
  EXPECT_EQ(request->group, "stackgate.dev");
  EXPECT_EQ(request->version, "v1alpha1");
  EXPECT_EQ(request->kind, "InferenceService");
  EXPECT_EQ(request->ns, "team-a");
  EXPECT_EQ(request->name, "llm");
  EXPECT_EQ(request->user, "ada");
  EXPECT_EQ(request->operation, Operation::create);
  EXPECT_TRUE(request->dry_run);
  EXPECT_NE(request->object, nullptr);
  EXPECT_EQ(request->old_object, nullptr);
}

TEST(Review, TheNameOfAnObjectThatHasNoneYetIsItsGenerateName) {
  json::Document document;
  auto request = read(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",
    "kind":{"kind":"InferenceService"},"operation":"CREATE","object":{"metadata":{"generateName":"llm-"}}}})",
                      document);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->name, "llm-");
}

struct Bad {
  const char* sentence;
  std::string_view text;
  std::string_view says;
  std::string_view uid;
};

class BadReview : public testing::TestWithParam<Bad> {};

TEST_P(BadReview, IsRefusedWithTheReasonAndTheUidWhereItCouldBeRead) {
  json::Document document;
  auto request = read(GetParam().text, document);
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().message, testing::HasSubstr(std::string(GetParam().says)));
  EXPECT_EQ(request.error().uid, GetParam().uid);
}

#define HEAD R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":)"
INSTANTIATE_TEST_SUITE_P(
    Cases, BadReview,
    testing::Values(
        Bad{"NoObject", "[]", "no JSON object", ""},
        Bad{"OtherVersion",
            R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","request":{"uid":"u1"}})",
            "admission.k8s.io/v1beta1", "u1"},
        Bad{"OtherKind", R"({"kind":"Pod","apiVersion":"v1"})", "expected kind AdmissionReview", ""},
        Bad{"NoRequest", R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})", "has no request", ""},
        Bad{"RequestIsAString", HEAD R"("x"})", "has no request", ""},
        Bad{"NoUid", HEAD R"({"kind":{"kind":"A"}}})", "uid is missing", ""},
        Bad{"NoKind", HEAD R"({"uid":"u2"}})", "request.kind", "u2"},
        Bad{"UnknownOperation", HEAD R"({"uid":"u3","kind":{"kind":"A"},"operation":"SHRED"}})", "SHRED", "u3"},
        Bad{"CreateWithoutObject", HEAD R"({"uid":"u4","kind":{"kind":"A"},"operation":"CREATE"}})", "request.object",
            "u4"},
        Bad{"UpdateWithoutOld", HEAD R"({"uid":"u5","kind":{"kind":"A"},"operation":"UPDATE","object":{}}})",
            "request.oldObject", "u5"}),
    [](const auto& each) { return std::string(each.param.sentence); });
#undef HEAD

TEST(Review, TheUidOfABrokenBodyIsSalvaged) {
  EXPECT_EQ(salvage_uid(R"({"kind":"AdmissionReview","request":{"uid":"ab-12","kind":{"kind)"), "ab-12");
  EXPECT_EQ(salvage_uid(R"({"request":{"uid":"<script>","x")"), "");
  EXPECT_EQ(salvage_uid(R"({"request":{"uid":"ab-12)"), "");
  EXPECT_EQ(salvage_uid(""), "");
}

TEST(Review, AnAllowedAnswerSaysNoMoreThanNeeded) {
  std::string out;
  Answer answer;
  answer.uid = "u";
  write_review(out, answer);
  EXPECT_EQ(out,
            R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true}})");
}

TEST(Review, ADenialCarriesStatusCausesWarningsAndAnnotations) {
  std::string out;
  Answer answer;
  answer.uid = "u";
  answer.allowed = false;
  answer.message = "no \"good\"";
  answer.name = "llm";
  answer.group = "stackgate.dev";
  answer.kind = "InferenceService";
  answer.causes = {{"spec.replicas", "FieldValueInvalid", "must be at least 0"}};
  answer.warnings = {"careful"};
  answer.audit_annotations = {{"rules", "schema-range"}};
  write_review(out, answer);
  json::Document document;
  auto root = json::parse(out, document);
  ASSERT_TRUE(root) << out;
  const json::Value* response = root->find("response");
  const json::Value* status = response->find("status");
  EXPECT_FALSE(response->find("allowed")->boolean());
  EXPECT_EQ(status->find("code")->integer(), 422);
  EXPECT_EQ(status->find("reason")->string(), "Invalid");
  EXPECT_EQ(status->find("message")->string(), "no \"good\"");
  const json::Value& cause = status->find("details")->find("causes")->items()[0];
  EXPECT_EQ(cause.find("field")->string(), "spec.replicas");
  EXPECT_EQ(cause.find("message")->string(), "must be at least 0");
  EXPECT_EQ(response->find("warnings")->items()[0].string(), "careful");
  EXPECT_EQ(response->find("auditAnnotations")->find("rules")->string(), "schema-range");
}

}  // namespace
}  // namespace stackgate::webhook
