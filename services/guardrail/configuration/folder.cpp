#include "services/guardrail/configuration/folder.hpp"

#include <algorithm>

#include "services/guardrail/prompts/lines.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

std::string_view base_name(std::string_view name) { return name.substr(name.rfind('/') + 1); }

bool is_main_file(std::string_view name) { return name == "config.yml" || name == "config.yaml"; }

/// One set of a pattern ("[a-z]"), whose '[' stands at `at`: whether `c` is in it; `at` goes behind it. Without its end
/// it is a bracket.
bool fits_set(std::string_view pattern, std::size_t& at, char c) {
  const std::size_t end = pattern.find(']', at + 2);
  if (end == std::string_view::npos) return ++at, c == '[';
  std::string_view set = pattern.substr(at + 1, end - at - 1);
  at = end + 1;
  const bool negated = set.starts_with('!');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || set[i] == c;
    }
  }
  return found != negated;
}

/// "strict__kb__prices.md" → "strict/kb/prices.md".
std::string path_of_key(std::string_view key) {
  std::string_view init;
  constexpr std::string_view package = "__init__.py";
  if (key.ends_with(package)) {
    init = package;
    key.remove_suffix(package.size());
    while (key.ends_with('_')) key.remove_suffix(1);
  }
  std::string out;
  for (std::size_t at = 0; at < key.size();) {
    if (at > 0 && key.substr(at).starts_with("__") && at + 2 < key.size()) {
      out += '/';
      at += 2;
    } else {
      out += key[at++];
    }
  }
  if (!init.empty()) out += out.empty() ? std::string(init) : concat({"/", init});
  return out;
}

constexpr std::string_view only_one = "default";

}  // namespace

bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
      continue;
    }
    std::size_t next = p + 1;
    bool one = false;
    if (p < pattern.size()) {
      if (pattern[p] == '[')
        one = fits_set(pattern, next = p, text[t]);
      else
        one = pattern[p] == '?' || pattern[p] == text[t];
    }
    if (one) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

FileKind kind_of(std::string_view name, std::string_view folder) {
  if (name == ".railsignore") return FileKind::ignore;
  if (name.starts_with(concat({folder, "/"}))) return name.ends_with(".md") ? FileKind::knowledge : FileKind::other;
  if (name.ends_with(".yml") || name.ends_with(".yaml")) return FileKind::yaml;
  if (name.ends_with(".co")) return FileKind::colang;
  if (name == "actions.py" || name == "config.py" || (name.starts_with("actions/") && name.ends_with(".py")))
    return FileKind::python;
  return FileKind::other;
}

IgnoredFiles::IgnoredFiles(std::string_view text) {
  constexpr std::size_t most = 1000;
  for (std::string_view line : lines_of(text)) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (line.ends_with('/')) line.remove_suffix(1);
    if (!line.empty() && !line.starts_with('#') && patterns_.size() < most)
      patterns_.emplace_back(line.substr(0, 1024));
  }
}

bool IgnoredFiles::contains(std::string_view name) const {
  return std::ranges::any_of(patterns_, [&](const std::string& pattern) {
    // The name itself, its last part, and each folder that it lies in.
    if (fits(pattern, name) || fits(pattern, base_name(name))) return true;
    for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1))
      if (fits(pattern, name.substr(0, slash)) || fits(pattern, base_name(name.substr(0, slash)))) return true;
    return false;
  });
}

std::map<std::string, std::vector<File>> split_by_configuration(const std::vector<File>& store, bool flat_keys) {
  std::map<std::string, std::vector<File>> out;
  const auto put = [&](const File& file, std::string_view id, std::string_view name) {
    out[std::string(id)].push_back({std::string(name), file.text, file.shown});
  };
  if (flat_keys) {
    for (const File& file : store) {
      const std::string path = path_of_key(file.name);
      const std::size_t slash = path.find('/');
      const bool alone = slash == std::string::npos;
      put(file, alone ? only_one : std::string_view(path).substr(0, slash),
          alone ? std::string_view(path) : std::string_view(path).substr(slash + 1));
    }
    // Without a configuration of their own: "kb__prices.md" beside "config.yml" is one file of that.
    if (const auto found = out.find(std::string(only_one));
        found != out.end() && std::ranges::any_of(found->second, is_main_file, &File::name)) {
      for (auto at = out.begin(); at != out.end();) {
        if (at->first == only_one || std::ranges::any_of(at->second, is_main_file, &File::name)) {
          ++at;
          continue;
        }
        for (File& file : at->second) {
          file.name = concat({at->first, "/", file.name});
          found->second.push_back(std::move(file));
        }
        at = out.erase(at);
      }
    }
    // A README.md beside "strict__config.yml" is no configuration.
    std::erase_if(out, [](const auto& each) {
      return std::ranges::none_of(each.second, [](const File& file) {
        const FileKind kind = kind_of(file.name);
        return kind == FileKind::yaml || kind == FileKind::colang;
      });
    });
    return out;
  }
  if (std::ranges::any_of(store, is_main_file, &File::name)) {
    out.emplace(only_one, store);
    return out;
  }
  for (const File& file : store) {
    const std::size_t slash = file.name.find('/');
    if (slash == std::string::npos || slash == 0 || file.name.starts_with('.')) continue;
    put(file, std::string_view(file.name).substr(0, slash), std::string_view(file.name).substr(slash + 1));
  }
  std::erase_if(out, [](const auto& each) { return std::ranges::none_of(each.second, is_main_file, &File::name); });
  return out;
}

std::map<std::string, std::vector<File>> configurations_of_config_map(const std::vector<File>& keys) {
  const bool flat = std::ranges::any_of(keys, [](const File& each) { return each.name.contains("__"); });
  return split_by_configuration(keys, flat);
}

}  // namespace stackgate::guardrail
