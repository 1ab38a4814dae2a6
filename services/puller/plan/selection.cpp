#include "services/puller/plan/selection.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::puller {
namespace selection_detail {

/// What a server of models reads, and what its licence asks to be kept with it.
constexpr std::array<std::string_view, 9> usual{"*.json",     "*.safetensors", "*.model",  "*.jinja",  "tokenizer*",
                                                "merges.txt", "vocab.txt",     "LICENSE*", "README.md"};
constexpr std::array<std::string_view, 1> unusual{"original/*"};

bool any_matches(const auto& patterns, std::string_view path) {
  return std::ranges::any_of(patterns, [path](std::string_view each) { return matches(each, path); });
}

bool is_wanted(std::string_view path, const Patterns& patterns) {
  if (any_matches(patterns.exclude, path)) return false;
  if (!patterns.include.empty()) return any_matches(patterns.include, path);
  return patterns.everything || (any_matches(usual, path) && !any_matches(unusual, path));
}

bool is_weight(std::string_view path) { return path.ends_with(".safetensors") && !path.contains('/'); }

}  // namespace selection_detail

bool matches(std::string_view pattern, std::string_view path) {
  std::string whole;
  if (pattern.ends_with('/')) pattern = whole = std::string(pattern) + "*";
  std::size_t p = 0, at = 0, star = std::string_view::npos, taken = 0;
  while (at < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = at;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == path[at])) {
      ++p;
      ++at;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  return std::ranges::all_of(pattern.substr(p), [](char c) { return c == '*'; });
}

std::vector<RemoteFile> select(const std::vector<RemoteFile>& files, const Patterns& patterns) {
  std::vector<RemoteFile> out;
  for (const RemoteFile& file : files)
    if (selection_detail::is_wanted(file.path, patterns)) out.push_back(file);
  return out;
}

Result<std::set<std::string>> read_shard_index(std::string_view body) {
  const auto bad = [](std::string why) {
    return std::unexpected(Failure{Cause::bad_answer, fmt::format("{} {}", index_name, why),
                                   "the model is broken where it lies; tell whoever has published it"});
  };
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 16, .max_bytes = 64U << 20U});
  if (!root) return bad("is no JSON: " + root.error().message);
  const json::Value* map = root->find("weight_map");
  if (map == nullptr || !map->is_object() || map->members().empty()) return bad("has no weight_map");
  std::set<std::string> out;
  for (const json::Member& member : map->members()) {
    const std::string_view name = member.value.string();
    if (auto fault = fault_of_path(name)) return bad(fmt::format("names a shard whose path {}", *fault));
    if (!name.ends_with(".safetensors")) return bad("names a shard that is no .safetensors file");
    out.emplace(name);
  }
  return out;
}

Result<std::vector<RemoteFile>> with_shards(const std::vector<RemoteFile>& offered, std::vector<RemoteFile> wanted,
                                            const std::set<std::string>& shards, const Patterns& patterns) {
  using namespace selection_detail;
  for (const std::string& shard : shards) {
    const auto there = std::ranges::find(offered, shard, &RemoteFile::path);
    if (there == offered.end())
      return std::unexpected(Failure{Cause::missing, fmt::format("{} names {}, which is not there", index_name, shard),
                                     "the model is not complete where it lies; take another revision"});
    if (!is_wanted(shard, patterns) || std::ranges::find(wanted, shard, &RemoteFile::path) != wanted.end()) continue;
    wanted.push_back(*there);
  }
  if (patterns.include.empty())
    std::erase_if(wanted, [&](const RemoteFile& file) { return is_weight(file.path) && !shards.contains(file.path); });
  return wanted;
}

}  // namespace stackgate::puller
