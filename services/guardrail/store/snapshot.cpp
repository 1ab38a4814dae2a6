#include "services/guardrail/store/snapshot.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_combined = 256, most_lines = 10;

FoundConfiguration broken(const std::string& id, std::string error) {
  return {.fault = FoundConfiguration::Fault::broken, .id = id, .error = std::move(error)};
}

}  // namespace

Snapshot::Snapshot(ById configurations, validate::Findings findings)
    : configurations_(std::move(configurations)),
      findings_(std::move(findings)),
      are_quick_(std::ranges::all_of(configurations_, [](const auto& each) {
        return each.second.configuration == nullptr || each.second.configuration->is_quick();
      })) {}

std::string error_lines(const validate::Findings& findings) {
  std::string out;
  std::size_t lines = 0;
  for (const validate::Finding& each : findings) {
    if (each.severity != validate::Severity::error) continue;
    if (++lines > most_lines) continue;
    if (!out.empty()) out += '\n';
    if (!each.path.empty()) out += each.path + ": ";
    out += validate::to_line(each);
  }
  if (lines > most_lines) out += fmt::format("\nand {} more", lines - most_lines);
  return out;
}

FoundConfiguration Snapshot::find(std::span<const std::string> ids) const {
  for (const std::string& id : ids) {
    const auto found = configurations_.find(id);
    if (found == configurations_.end()) return {.fault = FoundConfiguration::Fault::unknown, .id = id};
    if (found->second.configuration == nullptr) return broken(id, found->second.error);
  }
  if (ids.size() == 1) return {.configuration = configurations_.find(ids[0])->second.configuration};
  return combined(ids);
}

FoundConfiguration Snapshot::combined(std::span<const std::string> ids) const {
  const std::string key = fmt::format("{}", fmt::join(ids, "\n"));
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = combined_.find(key); found != combined_.end()) return found->second;
  }
  std::vector<ConfigurationPtr> parts;
  for (const std::string& id : ids) parts.push_back(configurations_.find(id)->second.configuration);
  const ReadConfiguration made = combine(parts);
  FoundConfiguration out{.configuration = made.configuration};
  if (out.configuration == nullptr) out = broken(fmt::format("{}", fmt::join(ids, ", ")), error_lines(made.findings));
  const std::lock_guard lock(mutex_);
  if (combined_.size() >= most_combined) combined_.clear();
  return combined_.try_emplace(key, std::move(out)).first->second;
}

std::string Snapshot::problems() const {
  std::string out = error_lines(findings_);
  for (const auto& [id, each] : configurations_) {
    if (each.valid) continue;
    if (!out.empty()) out += '\n';
    out += fmt::format("configuration {}{}: {}", id,
                       each.configuration == nullptr ? "" : " (the last valid one answers)", each.error);
  }
  return out;
}

}  // namespace stackgate::guardrail
