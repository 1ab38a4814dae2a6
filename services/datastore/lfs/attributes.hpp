// .gitattributes and .gitignore (gitattributes(5), gitignore(5)), as far as an upload asks: is a path kept in LFS, is
// it ignored. The file at the root counts. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::datastore::lfs {

/// gitignore(5)'s patterns: "*" within a segment, "**" across them, "?", "[a-z]"; without a slash before its end a
/// pattern matches the name at any depth. A trailing slash is for folders (and what is in them).
bool pattern_matches(std::string_view pattern, std::string_view path);

class Attributes {
 public:
  static Attributes parse(std::string_view text);
  /// true: filter=lfs; false: another filter or none by name; nothing: no line speaks of it. The last line wins.
  std::optional<bool> in_lfs(std::string_view path) const;

 private:
  struct Line {
    std::string pattern;
    std::optional<bool> lfs;  // nothing: "!filter"
  };
  std::vector<Line> lines_;
};

/// "dir/a\ b.bin filter=lfs diff=lfs merge=lfs -text" with the path so written that it stands for itself.
std::string lfs_line(std::string_view path);
/// `text` with a line for each path, after a line break.
std::string with_lfs_lines(std::string_view text, const std::vector<std::string>& paths);

class IgnoreList {
 public:
  static IgnoreList parse(std::string_view text);
  bool ignores(std::string_view path) const;

 private:
  struct Line {
    std::string pattern;
    bool negated = false;
  };
  std::vector<Line> lines_;
};

}  // namespace stackgate::datastore::lfs
