#include "services/datastore/lfs/attributes.hpp"

#include <algorithm>

namespace stackgate::datastore::lfs {

namespace {

constexpr std::size_t longest_pattern = 1024;
constexpr std::size_t most_lines = 10'000;

/// One bracket expression; `at` is behind "[". Moves behind its "]". Nothing when it is not closed.
std::optional<bool> match_bracket(std::string_view pattern, std::size_t& at, char c) {
  bool negated = false, found = false, first = true;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) {
    negated = true;
    ++at;
  }
  for (; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) {
      ++at;
      return found != negated && c != '/';
    }
    if (pattern.substr(at).starts_with("[:space:]")) {
      found = found || c == ' ' || (c >= '\t' && c <= '\r');
      at += 9;
      continue;
    }
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    const char low = pattern[at++];
    char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = pattern[at + 1];
      at += 2;
    }
    found = found || (c >= low && c <= high);
  }
  return {};
}

/// Whether one thing of the pattern (no star) takes one character; `at` moves behind it.
bool match_one(std::string_view pattern, std::size_t& at, char c) {
  switch (pattern[at]) {
    case '?':
      ++at;
      return c != '/';
    case '[': {
      const std::size_t begin = at++;
      if (const auto matched = match_bracket(pattern, at, c)) return *matched;
      at = begin + 1;  // not closed: stands for itself
      return c == '[';
    }
    case '\\':
      if (at + 1 < pattern.size()) ++at;
      [[fallthrough]];
    default:
      return pattern[at++] == c;
  }
}

/// Dynamic programming over the path: no pattern makes it exponential.
bool wildmatch(std::string_view pattern, std::string_view path) {
  std::vector<char> now(path.size() + 1, 0), next;
  now[0] = 1;
  for (std::size_t at = 0; at < pattern.size();) {
    next.assign(path.size() + 1, 0);
    if (pattern[at] == '*') {
      std::size_t end = at;
      while (end < pattern.size() && pattern[end] == '*') ++end;
      const bool begins = at == 0 || pattern[at - 1] == '/';
      const bool deep = end - at == 2 && begins && (end == pattern.size() || pattern[end] == '/');
      bool open = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (now[i]) open = true;
        if (deep && end < pattern.size()) {  // "**/": nothing, or whole segments
          next[i] = static_cast<char>(now[i] || (open && i > 0 && path[i - 1] == '/'));
        } else {
          next[i] = static_cast<char>(open);
          if (!deep && i < path.size() && path[i] == '/') open = false;
        }
      }
      at = deep && end < pattern.size() ? end + 1 : end;
    } else {
      std::size_t behind = at;
      for (std::size_t i = 0; i < path.size(); ++i) {
        if (!now[i]) continue;
        behind = at;
        if (match_one(pattern, behind, path[i])) next[i + 1] = 1;
      }
      if (behind == at) {  // nothing was left to try: step over it all the same
        match_one(pattern, behind, 'x');
      }
      at = behind;
    }
    now.swap(next);
    if (std::ranges::none_of(now, [](char c) { return c != 0; })) return false;
  }
  return now[path.size()] != 0;
}

template <typename Take>
void each_line(std::string_view text, Take&& take) {
  for (std::size_t count = 0; !text.empty() && count < most_lines; ++count) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line);
  }
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return out;
}

}  // namespace

bool pattern_matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty() || pattern.size() > longest_pattern || path.size() > 4096) return false;
  const bool for_folder = pattern.ends_with('/');
  if (for_folder) pattern.remove_suffix(1);
  const bool anchored = pattern.contains('/');
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  const auto whole = [&](std::string_view candidate) {
    if (anchored) return wildmatch(pattern, candidate);
    const auto slash = candidate.rfind('/');
    return wildmatch(pattern, slash == std::string_view::npos ? candidate : candidate.substr(slash + 1));
  };
  return !for_folder && whole(path);
}

Attributes Attributes::parse(std::string_view text) {
  Attributes out;
  each_line(text, [&](std::string_view line) {
    std::string pattern;
    if (line.starts_with('"')) {  // C-quoted
      std::size_t at = 1;
      for (; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\' && at + 1 < line.size()) ++at;
        pattern += line[at];
      }
      line.remove_prefix(std::min(at + 1, line.size()));
    } else {
      const auto words = words_of(line);
      if (words.empty() || words[0].starts_with('#') || words[0].starts_with('[')) return;
      pattern = words[0];
      line.remove_prefix(static_cast<std::size_t>(words[0].data() - line.data()) + words[0].size());
    }
    for (std::string_view word : words_of(line)) {
      if (word == "filter=lfs") {
        out.lines_.push_back({pattern, true});
      } else if (word == "-filter" || word == "filter" || word.starts_with("filter=")) {
        out.lines_.push_back({pattern, false});
      } else if (word == "!filter") {
        out.lines_.push_back({pattern, {}});
      }
    }
  });
  return out;
}

std::optional<bool> Attributes::in_lfs(std::string_view path) const {
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line)
    if (pattern_matches(line->pattern, path)) return line->lfs;
  return {};
}

std::string lfs_line(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    // Blanks end a pattern, and git-lfs and older Gits know no quotes here: a class stands for them.
    if (c == ' ') {
      pattern += "[[:space:]]";
    } else if (c == '*' || c == '?' || c == '[' || c == '\\') {
      pattern += '\\';
      pattern += c;
    } else {
      pattern += c;
    }
  }
  if (pattern.starts_with('#') || pattern.starts_with('!') || pattern.starts_with('"') || !path.contains('/'))
    pattern.insert(0, "/");
  return pattern + " filter=lfs diff=lfs merge=lfs -text\n";
}

std::string with_lfs_lines(std::string_view text, const std::vector<std::string>& paths) {
  std::string out(text);
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  for (const std::string& path : paths) out += lfs_line(path);
  return out;
}

IgnoreList IgnoreList::parse(std::string_view text) {
  IgnoreList out;
  each_line(text, [&](std::string_view line) {
    while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) return;
    const bool negated = line.starts_with('!');
    if (negated) line.remove_prefix(1);
    out.lines_.push_back({std::string(line), negated});
  });
  return out;
}

bool IgnoreList::ignores(std::string_view path) const {
  // A folder that is ignored takes everything in it along, whatever later lines say.
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const bool folder = end != std::string_view::npos;
    const std::string_view candidate = path.substr(0, end);
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
      std::string_view pattern = line->pattern;
      if (folder && pattern.size() > 1 && pattern.ends_with('/')) {
        // "build/" has no slash before its end and matches at any depth; pattern_matches() sees the folder itself.
        pattern.remove_suffix(1);
      }
      if (!pattern_matches(pattern, candidate)) continue;
      if (!line->negated) return true;
      break;
    }
    if (!folder) return false;
  }
}

}  // namespace stackgate::datastore::lfs
