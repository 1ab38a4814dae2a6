// What readers of the catalogue's parts have in common. Internal to this folder.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "services/customizer/catalogue/catalogue.hpp"
#include "services/kit/findings/json_report.hpp"
#include "services/kit/findings/nearest.hpp"

namespace stackgate::customizer::catalogue_detail {

using validate::Finding;
using validate::Findings;
using validate::JsonPlace;
using validate::JsonReport;
using validate::Severity;
using Names = std::span<const std::string_view>;

class PartReader {
 protected:
  PartReader(JsonReport& report, Catalogue& out) : report_(report), out_(out) {}

  void wrong(const JsonPlace& at, std::string problem, std::string fix, Severity severity = Severity::error) {
    report_.wrong("catalogue-value", at, std::move(problem), std::move(fix), severity);
  }

  void unknown(const JsonPlace& of, Names known) {
    for (const json::Member& each : of.value.members()) {
      if (std::ranges::find(known, each.key) != known.end()) continue;
      const std::string_view meant = validate::nearest(each.key, known);
      report_.wrong("catalogue-unknown", of.member(each.key, each.value), "is not known",
                    meant.empty() ? "take it out" : fmt::format("did you mean \"{}\"?", meant), Severity::warning);
    }
  }

  const json::Value* object(const JsonPlace& of, std::string_view key) {
    const json::Value* found = JsonReport::present(of, key);
    if (found == nullptr || found->is_object()) return found;
    report_.wrong_type(of.member(key, *found), "a map");
    return nullptr;
  }

  JsonReport& report_;
  Catalogue& out_;
};

inline constexpr std::string_view targets_part = "customizationTargets",
                                  templates_part = "customizationConfigTemplates";

/// A template's target, to be looked up when all files are read.
struct TemplatePlace {
  std::string name, path;
  std::uint32_t offset;
};

/// customizationTargets and customizationConfigTemplates. `findings` are those of `report`.
void read_models(JsonReport& report, const Findings& findings, Catalogue& out, std::string_view file_name,
                 const JsonPlace& top, std::vector<TemplatePlace>& places);
/// container_defaults and hyperparameters.
void read_training(JsonReport& report, Catalogue& out, const JsonPlace& top);

/// "targets.yaml" → "targets"
std::string_view without_ending(std::string_view name);

}  // namespace stackgate::customizer::catalogue_detail
