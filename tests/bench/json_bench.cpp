// The JSON parser beside nlohmann on what the gate reads; and beside simdjson when built with
// -DSTACKGATE_WITH_SIMDJSON and -lsimdjson.
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <time.h>

#include "services/kit/json/parse.hpp"
#include "tests/bench/figure.hpp"
#if __has_include(<simdjson.h>) && defined(STACKGATE_WITH_SIMDJSON)
#include <simdjson.h>
#endif

namespace {

std::string review(int env) {
  std::string object =
      R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","metadata":{"name":"llm","namespace":"default",)"
      R"("uid":"3c2c8f5e-3b0e-4a53-8a5e-0f2f3f3d2e11","creationTimestamp":"2026-01-01T00:00:00Z","generation":1,)"
      R"("labels":{"app.kubernetes.io/name":"llm","team":"search"},"annotations":{"note":"first \"quoted\" line\nsecond"}},)"
      R"("spec":{"image":{"repository":"registry.example.com/inference/llm","tag":"1.4.2","pullPolicy":"IfNotPresent",)"
      R"("pullSecrets":["registry"]},"authSecret":"hub-token","replicas":2,"resources":{"limits":{"cpu":"8",)"
      R"("memory":"64Gi","nvidia.com/gpu":"2"},"requests":{"cpu":"4","memory":"32Gi","nvidia.com/gpu":"2"}},)"
      R"("storage":{"nimCache":{"name":"llm-cache","profile":"tp2-fp16"},"sharedMemorySizeLimit":"8Gi"},)"
      R"("expose":{"service":{"type":"ClusterIP","port":8000}},"metrics":{"enabled":true,"serviceMonitor":)"
      R"({"interval":"30s","scrapeTimeout":"10s"}},"env":[)";
  for (int i = 0; i < env; ++i) {
    if (i > 0) object += ',';
    object += fmt::format(R"({{"name":"VARIABLE_{}","value":"{}"}})", i, std::string(env > 100 ? 195 : 24, 'v'));
  }
  object += "]}}";
  return R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002",)"
         R"("kind":{"group":"stackgate.dev","version":"v1alpha1","kind":"InferenceService"},"resource":{"group":)"
         R"("stackgate.dev","version":"v1alpha1","resource":"inferenceservices"},"name":"llm","namespace":"default",)"
         R"("operation":"CREATE","userInfo":{"username":"admin","uid":"014fbff9","groups":["system:authenticated",)"
         R"("my-admin-group"]},"object":)" +
         object +
         R"(,"oldObject":null,"dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}})";
}

using stackgate::bench::microseconds;

void compare(const std::string& name, const std::string& text, double limit) {
  stackgate::json::Document document;
  if (!stackgate::json::parse(text, document)) std::abort();
  const double ours = microseconds([&] { static_cast<void>(stackgate::json::parse(text, document)); });
  const double nlohmann = microseconds([&] { static_cast<void>(nlohmann::json::parse(text).size()); });
  std::string others = fmt::format("{} bytes; nlohmann {:.1f} µs", text.size(), nlohmann);
#if defined(STACKGATE_WITH_SIMDJSON)
  simdjson::dom::parser parser;
  fmt::format_to(std::back_inserter(others), ", simdjson {:.1f} µs",
                 microseconds([&] { static_cast<void>(parser.parse(text).error()); }));
#endif
  stackgate::bench::print(
      {.name = "json_" + name, .value = ours, .unit = "us", .limit = limit, .beside = nlohmann, .text = others});
}

}  // namespace

int main() {
  compare("review_2k", review(8), 4);
  compare("review_60k", review(250), 60);
  compare("env_4000", review(4000), 1500);
  std::string wide = "{";
  for (int i = 0; i < 20000; ++i) wide += fmt::format("{}\"key-{}\":{}", i == 0 ? "" : ",", i * 7919 % 20011, i);
  compare("one_object_20000_keys", wide + "}", 10000);
  return stackgate::bench::exit_status;
}
