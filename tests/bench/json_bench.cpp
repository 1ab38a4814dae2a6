// The JSON parser beside simdjson (when its header is there) and nlohmann, on what the gate reads.
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <time.h>

#include "services/kit/json/parse.hpp"
#if __has_include(<simdjson.h>) && defined(STACKGATE_WITH_SIMDJSON)
#include <simdjson.h>
#endif

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Microseconds of CPU per call: the best of several rounds, so that a neighbour on the machine counts little.
template <class Body>
double measure(Body&& body) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const double start = cpu_seconds();
    long calls = 0;
    double spent = 0;
    do {
      body();
      ++calls;
      spent = cpu_seconds() - start;
    } while (spent < 0.05);
    best = std::min(best, spent / static_cast<double>(calls));
  }
  return best * 1e6;
}

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

void compare(std::string_view name, const std::string& text) {
  stackgate::json::Document document;
  if (!stackgate::json::parse(text, document)) std::abort();
  const double ours = measure([&] { static_cast<void>(stackgate::json::parse(text, document)); });
  const double nlohmann = measure([&] { static_cast<void>(nlohmann::json::parse(text).size()); });
  fmt::print("{:<28} {:>8} bytes   ours {:>9.2f} us ({:.2f} ns/byte)   nlohmann {:>10.2f} us", name, text.size(), ours,
             ours * 1000 / static_cast<double>(text.size()), nlohmann);
#if defined(STACKGATE_WITH_SIMDJSON)
  simdjson::dom::parser parser;
  const double simd = measure([&] { static_cast<void>(parser.parse(text).error()); });
  fmt::print("   simdjson {:>8.2f} us", simd);
#endif
  fmt::print("\n");
}

}  // namespace

int main() {
  compare("review, 2 KB", review(8));
  compare("review, 17 KB", review(250));
  compare("object, 4,000 env entries", review(4000));
  std::string wide = "{";
  for (int i = 0; i < 20000; ++i) wide += fmt::format("{}\"key-{}\":{}", i == 0 ? "" : ",", i * 7919 % 20011, i);
  compare("one object, 20,000 keys", wide + "}");
}
