// The AdmissionReviews of the benchmark, made from the minimal sample of an InferenceService.
#pragma once
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::bench {

/// The sample as JSON, with members of its spec replaced or added (as JSON text).
inline std::string sample_with(const std::string& file, std::map<std::string, std::string> spec) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const yaml::Stream stream = yaml::parse(text);
  if (!in || stream.failed || stream.documents.empty()) throw std::runtime_error("cannot read the sample " + file);
  std::string out;
  json::Writer writer(out);
  writer.object([&] {
    for (const json::Member& top : stream.documents.front().root.members()) {
      writer.key(top.key);
      if (top.key != "spec") {
        writer.value(top.value);
        continue;
      }
      writer.object([&] {
        for (const json::Member& member : top.value.members()) {
          if (spec.contains(std::string(member.key))) continue;
          writer.key(member.key);
          writer.value(member.value);
        }
        for (const auto& [key, value] : spec) {
          writer.key(key);
          writer.raw(value);
        }
      });
    }
  });
  return out;
}

inline std::string env_list(int count, std::size_t value_bytes) {
  std::string out = "[";
  for (int i = 0; i < count; ++i) {
    out +=
        fmt::format(R"({}{{"name":"VARIABLE_{}","value":"{}"}})", i == 0 ? "" : ",", i, std::string(value_bytes, 'v'));
  }
  return out + "]";
}

inline std::string review_of(const std::string& object) {
  return R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002",)"
         R"("kind":{"group":"stackgate.dev","version":"v1alpha1","kind":"InferenceService"},)"
         R"("resource":{"group":"stackgate.dev","version":"v1alpha1","resource":"inferenceservices"},)"
         R"("requestKind":{"group":"stackgate.dev","version":"v1alpha1","kind":"InferenceService"},)"
         R"("requestResource":{"group":"stackgate.dev","version":"v1alpha1","resource":"inferenceservices"},)"
         R"("name":"llm","namespace":"default","operation":"CREATE",)"
         R"("userInfo":{"username":"admin","groups":["system:masters","system:authenticated"]},"object":)" +
         object +
         R"(,"oldObject":null,"dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"kubectl"}}})";
}

/// A review with six faults of different sorts.
inline std::string refused_review() {
  return review_of(
      sample_with(test::source_dir() / "crds/samples/minimal/inferenceservices.yaml",
                  {{"authSecret", R"("registry_api")"},
                   {"replicas", "-1"},
                   {"image", R"({"repository":"registry.example.com/llm","tag":"1.8.3","pullPolicy":"sometimes"})"},
                   {"expose", R"({"service":{"port":80000}})"},
                   {"storage", R"({"sharedMemorySizeLimit":"16GB"})"},
                   {"env", R"([{"name":"LOG LEVEL","value":"INFO"}])"}}));
}

/// As a request of the API server's client. `path`: "/validate" or "/early".
inline std::string post(const std::string& path, const std::string& body) {
  return fmt::format(
      "POST {}?timeout=5s HTTP/1.1\r\nHost: stackgate.stackgate-system.svc:443\r\nUser-Agent: "
      "kube-apiserver-admission\r\n"
      "Content-Length: {}\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\nAccept-Encoding: "
      "gzip\r\n\r\n{}",
      path, body.size(), body);
}

}  // namespace stackgate::bench
