// Any JSON as a pod, and as everything else that the states are told from: nothing falls, and what is stored once is
// not stored again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reconcile/status/cache.hpp"
#include "reconcile/status/pipeline.hpp"
#include "reconcile/status/workload.hpp"
#include "services/kit/json/parse.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::reconcile;

void check(const Status& status) {
  const std::string first = status_json(status, 1, nullptr, "2026-11-21T06:00:00Z");
  json::Document document;
  const auto stored = json::parse(first, document);
  if (!stored || !status_json(status, 1, &*stored, "2026-11-21T07:00:00Z").empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) return 0;
  const PodFacts pods[] = {pod_facts(*root)};
  if (pods[0].problem && (pods[0].problem->reason.empty() || pods[0].problem->message.empty())) std::abort();
  check(workload_status({.object = &*root, .pods = pods, .stored = &*root}));
  check(cache_status({.name = "a",
                      .job = &*root,
                      .claim_name = "b",
                      .claim = &*root,
                      .pods = pods,
                      .report = &*root,
                      .stored = &*root}));
  const PipelineEntry entries[] = {{.name = "a", .service = &*root}};
  check(pipeline_status(entries));
  return 0;
}
