// What a commit changes, as a tree of edits, and how edited trees look as Git objects. Pure but for the two functions
// that read and store trees.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

struct TreeLine {
  std::string name;
  std::uint32_t mode = 0;  // 040000 folder, 0100644, 0100755, 0120000 symlink, 0160000 submodule
  Oid oid;
};
inline constexpr std::uint32_t mode_folder = 0040000, mode_file = 0100644, mode_executable = 0100755;

/// The content of a tree object; sorts as Git does (folders as if a '/' followed).
std::string format_tree(std::vector<TreeLine> lines);

class TreeEdit {
 public:
  /// Paths are checked before (names.hpp). An error when the same commit makes a path both file and folder.
  Expected<void> put(std::string_view path, Oid blob);
  Expected<void> remove(std::string_view path, bool folder);
  bool empty() const { return children_.empty(); }

  /// Lines of the tree that is there; called only for folders with edits in them.
  using ReadTree = std::function<Expected<std::vector<TreeLine>>(const Oid&)>;
  using WriteTree = std::function<Expected<Oid>(std::string content)>;
  /// The edited tree's id; empty when nothing is left in it. `base` empty: there was none. Fault::missing names what
  /// should be removed and is not there; Fault::invalid a file in the way of a folder or a folder in the way of a file,
  /// unless this commit removes what is in the way.
  Expected<Oid> apply(const Oid& base, const ReadTree& read, const WriteTree& write) const {
    return apply(base, {}, read, write);
  }

 private:
  Expected<Oid> apply(const Oid& base, const std::string& path, const ReadTree& read, const WriteTree& write) const;
  Expected<TreeEdit*> at(std::string_view path, bool for_put);
  bool puts_below() const;
  Expected<void> fits(const TreeLine& line, const std::string& here, const ReadTree& read,
                      const WriteTree& write) const;

  enum class What : std::uint8_t { inner, put, remove, remove_folder };
  What what_ = What::inner;
  bool instead_of_folder_ = false;  // put, and the folder of that name is removed
  Oid blob_;
  std::map<std::string, TreeEdit, std::less<>> children_;  // below a put only removals
};

}  // namespace stackgate::datastore::git
