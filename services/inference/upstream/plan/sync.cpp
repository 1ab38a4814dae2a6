#include "services/inference/upstream/plan/sync.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace stackgate::inference::upstream {
namespace {

bool is_below(std::string_view path, std::string_view directory) {
  while (directory.ends_with('/')) directory.remove_suffix(1);
  return !directory.empty() && path.starts_with(directory) && path.substr(directory.size()).starts_with('/');
}

std::string path_there(std::string_view path, std::string_view ours, std::string_view theirs) {
  if (theirs.empty() || !is_below(path, ours)) return std::string(path);
  while (ours.ends_with('/')) ours.remove_suffix(1);
  while (theirs.ends_with('/')) theirs.remove_suffix(1);
  return std::string(theirs).append(path.substr(ours.size()));
}

bool is_shorter(const std::string& a, const std::string& b) {
  return std::pair(a.size(), std::string_view(a)) < std::pair(b.size(), std::string_view(b));
}

}  // namespace

std::vector<WantedAdapter> wanted_adapters(std::span<const OfferedAdapter> offered, Kind kind, std::string_view ours,
                                           std::string_view theirs) {
  std::map<std::uint64_t, WantedAdapter> by_key;
  for (const OfferedAdapter& each : offered) {
    WantedAdapter& wanted = by_key[each.key];
    wanted.key = each.key;
    wanted.names.push_back(each.name);
    if (wanted.names.size() > 1) continue;
    wanted.path = path_there(each.directory, ours, theirs);
    if (kind == Kind::openai)
      wanted.hindrance = "the upstream has no calls about adapters";
    else if (takes_adapters(kind) && each.has_patterns)
      wanted.hindrance = fmt::format("rank_pattern and alpha_pattern are not applied by {} as they were trained",
                                     kind == Kind::vllm ? "vLLM" : "SGLang");
  }
  std::vector<WantedAdapter> out;
  for (auto& [key, wanted] : by_key) {
    std::ranges::sort(wanted.names, is_shorter);
    wanted.name = wanted.names.front();
    out.push_back(std::move(wanted));
  }
  std::ranges::sort(out, {}, &WantedAdapter::name);
  return out;
}

std::vector<Step> steps(const std::vector<WantedAdapter>& wanted, const std::vector<ListedModel>& listed,
                        const std::map<std::string, std::string, std::less<>>& handed, std::string_view theirs) {
  std::map<std::string_view, std::string_view> there;  // name to path
  for (const ListedModel& each : listed) {
    if (each.parent.empty()) continue;
    const auto by_us = handed.find(each.id);
    there[each.id] = each.root.empty() && by_us != handed.end() ? std::string_view(by_us->second) : each.root;
  }
  std::vector<Step> out;
  std::set<std::string_view> kept;
  for (const WantedAdapter& each : wanted)
    if (each.hindrance.empty()) kept.insert(each.name);
  for (const auto& [name, path] : there)
    if (!kept.contains(name) && (handed.contains(name) || is_below(path, theirs)))
      out.push_back({Step::Action::unload, std::string(name)});
  for (const WantedAdapter& each : wanted) {
    if (!each.hindrance.empty()) continue;
    const auto found = there.find(each.name);
    if (found == there.end())
      out.push_back({Step::Action::load, each.name, each.path});
    else if (found->second != each.path)
      out.push_back({Step::Action::replace, each.name, each.path});
  }
  return out;
}

std::vector<ListedModel> of_others(const std::vector<WantedAdapter>& wanted, const std::vector<ListedModel>& listed,
                                   const std::map<std::string, std::string, std::less<>>& handed,
                                   std::string_view theirs) {
  std::set<std::string_view> ours;
  for (const WantedAdapter& each : wanted) ours.insert(each.name);
  std::vector<ListedModel> out;
  for (const ListedModel& each : listed)
    if (each.parent.empty() || (!ours.contains(each.id) && !handed.contains(each.id) && !is_below(each.root, theirs)))
      out.push_back(each);
  return out;
}

Next after(Step::Action action, int status, std::string_view body) {
  if (status >= 200 && status < 300) return Next::done;
  if (action == Step::Action::unload)
    return status == 404 || (status == 400 && body.find("not loaded") != std::string_view::npos) ? Next::done
                                                                                                 : Next::failed;
  const bool is_there = status == 400 && body.find("already") != std::string_view::npos;
  return is_there ? Next::unload_and_load : Next::failed;
}

}  // namespace stackgate::inference::upstream
