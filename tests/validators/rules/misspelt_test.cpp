// A misspelt field is one fault: that the right one is missing is not said too.
#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace {

using crds::Kind;

struct MisspeltCase {
  Kind kind;
  std::string_view patch;
  std::string_view place;
};

TEST(MisspeltFields, AreOneFaultEach) {
  const MisspeltCase cases[] = {
      {Kind::stack_guardrail, "spec: {configStore: null, configstore: {configMap: {name: rails}}}", "spec.configstore"},
      {Kind::stack_guardrail, "spec: {configStore: {configMap: null, configmap: {name: rails}}}",
       "spec.configStore.configmap"},
      {Kind::stack_datastore, "spec: {secrets: {lfsJwtSecret: null, lfsJWTSecret: jwt}}", "spec.secrets.lfsJWTSecret"},
      {Kind::inference_service, "spec: {authSecret: null, authsecret: registry-api}", "spec.authsecret"},
      {Kind::inference_service, "spec: {resources: {limits: null, limit: {nvidia.com/gpu: 1}}}",
       "spec.resources.limit"},
      {Kind::inference_cache, "spec: {source: {registry: null, Registry: {authSecret: a}}}", "spec.source.Registry"},
      {Kind::inference_cache, "spec: {storage: {pvc: {size: null, Size: 10Gi}}}", "spec.storage.pvc.Size"},
      {Kind::inference_cache, "spec: {storage: {pvc: {create: null, creat: true}}}", "spec.storage.pvc.creat"},
      {Kind::inference_cache, "spec: {storage: {pvc: {volumeAccessMode: null, accessMode: ReadWriteMany}}}",
       "spec.storage.pvc.accessMode"},
      {Kind::inference_service, "spec: {image: {repository: null, repo: r.io/a}}", "spec.image.repo"},
      {Kind::stack_datastore, "spec: {pvc: {storageClassName: fast}}", "spec.pvc.storageClassName"},
      {Kind::stack_evaluator, "spec: {evaluationImages: {rag: null, RAG: 'r.io/a:1'}}", "spec.evaluationImages.RAG"},
      {Kind::stack_customizer, "spec: {experimentTracker: {secretName: s, apiKeykey: a, encryptionKey: b}}",
       "spec.experimentTracker.apiKeykey"},
      {Kind::stack_customizer, "spec: {otel: {enabled: true, exporterOTLPEndpoint: 'http://c:4318'}}",
       "spec.otel.exporterOTLPEndpoint"},
  };
  for (const MisspeltCase& each : cases)
    EXPECT_EQ(short_form(review_of(each.kind, each.patch)),
              (std::vector<std::string>{"error " + std::string(each.place) + " schema-unknown-field"}))
        << each.patch;
}

TEST(MisspeltFields, AreNoInvitationToWriteAPasswordElsewhere) {
  const Findings findings =
      review_of(Kind::stack_datastore, "spec: {databaseConfig: {credentials: {password: hunter2}}}");
  EXPECT_EQ(all_lines(findings).find("did you mean"), std::string::npos) << all_lines(findings);
  EXPECT_EQ(all_lines(findings).find("hunter2"), std::string::npos) << all_lines(findings);
}

TEST(MisspeltFields, DoNotHideWhatIsMissingBesides) {
  EXPECT_EQ(
      short_form(review_of(Kind::stack_guardrail, "spec: {configStore: null, rails: {name: rails}}")),
      (std::vector<std::string>{"error spec.configStore schema-required", "error spec.rails schema-unknown-field"}));
  EXPECT_EQ(short_form(
                review_of(Kind::stack_evaluator, "spec: {evaluationImages: {rag: null, bfcl: null, RAG: 'r.io/a:1'}}")),
            (std::vector<std::string>{"error spec.evaluationImages.bfcl evaluation-image-missing",
                                      "error spec.evaluationImages.RAG schema-unknown-field"}));
}

}  // namespace
}  // namespace stackgate::validate::tests
