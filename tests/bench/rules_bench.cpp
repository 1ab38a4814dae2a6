// Time of one review: schema walk and rules, on a parsed object. Prints one JSON object per figure.
//   rules_bench [SECONDS-PER-FIGURE]
#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "validators/rulebook.hpp"

namespace {

using namespace stackgate;
using Clock = std::chrono::steady_clock;

/// What a user of adapters, an Ingress and metrics writes: about 2.1 KB.
std::string accepted_object() {
  return R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","metadata":{"name":"llm-70b","namespace":"models","labels":{"team":"research","app.kubernetes.io/part-of":"assistant"},"annotations":{"example.com/owner":"research@example.com","example.com/ticket":"INF-1742"},"uid":"7c1f7d2c-6a55-4a3e-9a3a-6a1a5f6f1a10","creationTimestamp":"2026-11-21T03:00:00Z","generation":1},"spec":{"image":{"repository":"registry.example.com/inference/llm-70b","tag":"1.8.3","pullPolicy":"IfNotPresent","pullSecrets":["registry-pull"]},"authSecret":"registry-api","storage":{"nimCache":{"name":"llm-70b","profile":"tensorrt_llm-h100-fp8-tp8-pp2"},"sharedMemorySizeLimit":"32Gi"},"replicas":1,"resources":{"requests":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":8},"limits":{"cpu":"16","memory":"128Gi","ephemeral-storage":"50Gi","nvidia.com/gpu":8}},"expose":{"service":{"type":"ClusterIP","port":8000},"ingress":{"enabled":true,"className":"nginx","host":"llm-70b.example.com","path":"/","tlsSecretName":"llm-70b-tls","annotations":{"nginx.ingress.kubernetes.io/proxy-body-size":"64m"}}},"env":[{"name":"INF_PEFT_SOURCE","value":"http://entitystore:8000"},{"name":"INF_PEFT_REFRESH_INTERVAL","value":"60"},{"name":"INF_MAX_CPU_LORAS","value":"32"},{"name":"INF_MAX_GPU_LORAS","value":"8"},{"name":"LOG_FORMAT","value":"json"},{"name":"LICENSE_KEY","valueFrom":{"secretKeyRef":{"name":"license","key":"key","optional":true}}}],"startupProbe":{"probe":{"initialDelaySeconds":30,"periodSeconds":10,"failureThreshold":120,"timeoutSeconds":5}},"readinessProbe":{"probe":{"initialDelaySeconds":5,"periodSeconds":10,"failureThreshold":3,"timeoutSeconds":5}},"metrics":{"enabled":true,"serviceMonitor":{"additionalLabels":{"release":"prometheus"},"interval":"30s","scrapeTimeout":"10s"}},"nodeSelector":{"kubernetes.io/arch":"amd64","nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3"},"tolerations":[{"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"}],"podSecurityContext":{"runAsNonRoot":true,"runAsUser":1000,"runAsGroup":1000,"fsGroup":1000},"serviceAccountName":"llm-70b","priorityClassName":"models"}})";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) std::abort();  // the sample above has changed
  return text.replace(at, from.size(), to);
}

std::string refused_object() {
  std::string text = accepted_object();
  text = replaced(std::move(text), R"("name":"llm-70b","namespace")", R"("name":"llm.70b","namespace")");
  text = replaced(std::move(text), R"("tag":"1.8.3")", R"("tag":"1.8.3+a")");
  text = replaced(std::move(text), R"("sharedMemorySizeLimit":"32Gi")", R"("sharedMemorySizeLimit":"32GB")");
  text = replaced(std::move(text), R"("port":8000)", R"("port":80000)");
  text = replaced(std::move(text), R"("scrapeTimeout":"10s")", R"("scrapeTimeout":"60s")");
  return replaced(std::move(text), R"("value":"60")", R"("value":"60s")");
}

std::string large_object() {
  std::string env;
  const std::string filler(180, 'x');
  for (int i = 0; i < 4000; ++i) env += fmt::format(R"({{"name":"VARIABLE_{:05}","value":"{}"}},)", i, filler);
  return replaced(accepted_object(), R"("env":[)", R"("env":[)" + env);
}

struct Figure {
  std::string_view name;
  std::string text;
  double limit_us;
  bool refused;
};

bool measure(const Figure& figure, double seconds) {
  json::Document document;
  const auto parsed = json::parse(figure.text, document);
  if (!parsed) std::abort();
  const validate::Request request{
      .kind = crds::Kind::inference_service, .object = &*parsed, .old = nullptr, .ns = "models"};
  const validate::Findings findings = validate::review(request, nullptr);
  if (validate::has_errors(findings) != figure.refused) {
    for (const validate::Finding& each : findings) fmt::print(stderr, "{}: {}\n", each.path, to_line(each));
    return false;
  }
  // The best of many short runs: what the machine's other users take is not ours.
  double best = 1e18;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const std::size_t batch = figure.text.size() > 100'000 ? 1 : 200;
  while (Clock::now() < end) {
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < batch; ++i) (void)validate::review(request, nullptr);
    best = std::min(
        best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / static_cast<double>(batch));
  }
  fmt::print(
      R"({{"name":"{}","value":{:.2f},"unit":"us","limit":{},"within":{},"beside":null,"bytes":{},"findings":{}}})"
      "\n",
      figure.name, best, figure.limit_us, best <= figure.limit_us, figure.text.size(), findings.size());
  return best <= figure.limit_us;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1.0;
  bool good = true;
  for (const Figure& figure :
       // 8 µs: what 2.5 × nginx leaves for the rules beside the server and the parser.
       {Figure{"rules_accept", accepted_object(), 8, false}, Figure{"rules_six_faults", refused_object(), 20, true},
        Figure{"rules_4000_env", large_object(), 1500, false}})
    good = measure(figure, seconds) && good;
  return good ? 0 : 1;
}
