// What clients, trainers and ConfigMaps give the customizer: a request without faults reads as it was stored, progress
// never goes back, and every fault has a cure.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "services/customizer/api/request.hpp"
#include "services/customizer/job/progress.hpp"
#include "services/customizer/setup/setup.hpp"
#include "services/kit/json/parse.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::customizer;

void check(const validate::Findings& findings) {
  for (const validate::Finding& each : findings)
    if (each.problem.empty() || each.rule.empty()) std::abort();
}

const Catalogue& catalogue() {
  static const Catalogue found =
      read_catalogue({{"customizationTargets", "targets: {a/b@1: {model_path: b}}"},
                      {"customizationConfigTemplates", "templates: {a/b@v1: {target: a/b@1, max_seq_length: 64}}"}},
                     {{"training", "hyperparameters: {lora_rank: {max: 64}}"}})
          .catalogue;
  return found;
}

void check(const RequestRead& read) {
  check(read.findings);
  if (has_errors(read.findings)) return;
  const std::string stored = to_json(read.request);
  if (to_json(read_stored(stored)) != stored) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  json::Document document;
  if (const auto root = json::parse(text, document)) {
    check(read_request(*root, catalogue()));
    check(read_nemo_request(*root, catalogue(), "job"));
  }
  check(read_setup(text).findings);
  const CatalogueRead read =
      read_catalogue({{"customizationTargets", text}, {"customizationConfigTemplates", text}}, {{"training", text}});
  check(read.findings);
  for (const auto& [name, each] : read.catalogue.templates)
    if (!read.catalogue.targets.contains(each.target)) std::abort();
  (void)read_stored(text);

  Progress progress{.step = 3, .max_steps = 10, .percent = 30};
  (void)apply_report(progress, text, "j");
  if (progress.step < 3 || progress.percent < 30 || progress.percent > 100) std::abort();
  if (!(read_progress(progress_json(progress)) == progress)) std::abort();
  return 0;
}
