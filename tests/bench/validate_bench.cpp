// `stackgate validate` over 10,000 documents of 2 KB on one core: reading YAML, all rules, the report.
#include <deque>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "services/kit/yaml/parse.hpp"
#include "services/stackgate/validate/check.hpp"
#include "tests/bench/figure.hpp"

namespace {

using namespace stackgate;

/// About 2 KB, as people write them; `fault` makes one mistake.
std::string manifest(int i, bool fault) {
  std::string out = fmt::format(R"(apiVersion: stackgate.dev/v1alpha1
kind: InferenceService
metadata:
  name: llm-{0}
  namespace: team-{1}
  labels:
    app.kubernetes.io/part-of: search
    team: "search-{1}"
spec:
  image:
    repository: registry.example.com/inference/llm-8b
    tag: "1.4.2"
    pullPolicy: IfNotPresent
    pullSecrets:
      - registry
  authSecret: registry-api
  replicas: {2}
  storage:
    nimCache:
      name: llm-8b
      profile: vllm-bf16-tp1
    sharedMemorySizeLimit: 16Gi
  resources:
    requests:
      cpu: "4"
      memory: 32Gi
    limits:
      cpu: "8"
      memory: 64Gi
      nvidia.com/gpu: 1
  expose:
    service:
      type: ClusterIP
      port: 8000
    ingress:
      enabled: true
      className: nginx
      host: llm-{0}.example.com
      path: /
  metrics:
    enabled: true
    serviceMonitor:
      interval: 30s
      scrapeTimeout: 10s
  nodeSelector:
    accelerator: h100
  tolerations:
    - key: nvidia.com/gpu
      operator: Exists
      effect: NoSchedule
  env:
)",
                                i, i % 50, fault ? "\"2\"" : "2");
  for (int k = 0; k < 19; ++k)
    out += fmt::format("    - name: SETTING_{}\n      value: \"some value of setting {}\"\n", k, k);
  return out;
}

}  // namespace

int main() {
  constexpr int count = 10'000;
  std::string stream;
  for (int i = 0; i < count; ++i) stream += manifest(i, false) + "---\n";
  const double bytes = static_cast<double>(stream.size()) / count;

  const auto read = [](std::string_view text) {
    yaml::Reader reader(text);
    json::Document document;
    int documents = 0;
    while (reader.next(document)) ++documents;
    if (reader.failed() || documents == 0) std::abort();
  };
  const std::string_view some(stream.data(), stream.size() / 20);
  const std::string_view whole = some.substr(0, some.rfind("---\n"));
  const double read_count = static_cast<double>(std::count(whole.begin(), whole.end(), '\n')) /
                            static_cast<double>(std::count(stream.begin(), stream.end(), '\n')) * count;
  const double reading = bench::microseconds([&] { read(whole); }) / read_count;
  bench::print({.name = "yaml_document",
                .value = reading,
                .unit = "us",
                .limit = 60,
                .text = fmt::format("{:.0f} bytes", bytes)});

  ValidateOptions options;
  std::string wrong;
  const double seconds = bench::microseconds(
                             [&] {
                               const CheckedSet checked({{"stream.yaml", stream, ""}}, {}, options, nullptr);
                               const std::string text = write_text(checked.report(), false);
                               if (checked.report().documents != count || checked.report().errors != 0) wrong = text;
                             },
                             0, 5) /
                         1e6;
  if (!wrong.empty()) fmt::print(stderr, "the documents are not accepted:\n{:.3000}\n", wrong);
  bench::print({.name = "validate_documents_per_second",
                .value = count / seconds,
                .unit = "documents/s",
                .limit = 12'000,
                .at_least = true,
                .beside = 1e6 / reading,
                .text = fmt::format("one core, one stream of 10,000, {:.0f} bytes each", bytes)});

  std::vector<Input> files;
  for (int i = 0; i < count; ++i) files.push_back({fmt::format("manifests/{}.yaml", i), manifest(i, i % 10 == 0), ""});
  const double with_faults = bench::microseconds(
                                 [&] {
                                   const CheckedSet checked(files, {}, options, nullptr);
                                   static_cast<void>(write_text(checked.report(), false));
                                 },
                                 0, 5) /
                             1e6;
  bench::print({.name = "validate_with_faults_per_second",
                .value = count / with_faults,
                .unit = "documents/s",
                .limit = 12'000,
                .at_least = true,
                .beside = count / seconds,
                .text = "10,000 files, every tenth with a fault"});
  return wrong.empty() ? bench::exit_status : 1;
}
