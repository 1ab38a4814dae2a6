#include "services/datastore/git/tree_edit.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stackgate::datastore::git {
namespace {

void append_raw_oid(std::string& out, std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>((digit(hex[i]) << 4) | digit(hex[i + 1])));
}

std::unexpected<GitError> edit_error(Fault fault, std::string message) {
  return std::unexpected(GitError{fault, std::move(message)});
}

}  // namespace

std::string format_tree(std::vector<TreeLine> lines) {
  const auto before = [](const TreeLine& a, const TreeLine& b) {
    const std::size_t common = std::min(a.name.size(), b.name.size());
    if (const int order = a.name.compare(0, common, b.name, 0, common); order != 0) return order < 0;
    const auto next = [common](const TreeLine& line) -> unsigned char {
      if (line.name.size() > common) return static_cast<unsigned char>(line.name[common]);
      return line.mode == mode_folder ? '/' : '\0';
    };
    return next(a) < next(b);
  };
  if (!std::ranges::is_sorted(lines, before)) std::ranges::sort(lines, before);
  std::string out;
  out.reserve(lines.size() * 48);
  for (const TreeLine& line : lines) {
    fmt::format_to(std::back_inserter(out), "{:o} {}", line.mode, line.name);
    out.push_back('\0');
    append_raw_oid(out, line.oid);
  }
  return out;
}

Expected<TreeEdit*> TreeEdit::at(std::string_view path) {
  TreeEdit* node = this;
  for (std::size_t from = 0;;) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    node = &node->children_[std::string(path.substr(from, end - from))];
    if (end == path.size()) return node;
    if (node->what_ == What::put)
      return edit_error(Fault::invalid, fmt::format("\"{}\" is a file in this commit, so \"{}\" cannot be below it",
                                                    path.substr(0, end), path));
    from = end + 1;
  }
}

Expected<void> TreeEdit::put(std::string_view path, Oid blob) {
  const auto node = at(path);
  if (!node) return std::unexpected(node.error());
  const bool folder = std::ranges::any_of(
      (*node)->children_, [](const auto& c) { return c.second.what_ == What::put || c.second.what_ == What::inner; });
  if (folder) return edit_error(Fault::invalid, fmt::format("\"{}\" is both a file and a folder in this commit", path));
  (*node)->what_ = What::put;
  (*node)->blob_ = std::move(blob);
  (*node)->children_.clear();
  return {};
}

Expected<void> TreeEdit::remove(std::string_view path, bool folder) {
  const auto node = at(path);
  if (!node) return std::unexpected(node.error());
  if (!folder && !(*node)->children_.empty())
    return edit_error(Fault::invalid, fmt::format("\"{}\" is both a file and a folder in this commit", path));
  // Files put below it, before or after, stay: a folder is emptied first, then filled.
  (*node)->what_ = folder ? What::remove_folder : What::remove;
  return {};
}

Expected<Oid> TreeEdit::apply(const Oid& base, const std::string& path, const ReadTree& read,
                              const WriteTree& write) const {
  std::vector<TreeLine> lines;
  if (!base.empty()) {
    auto there = read(base);
    if (!there) return std::unexpected(there.error());
    lines = std::move(*there);
  }
  std::vector<TreeLine> added;
  bool changed = false;
  std::map<std::string_view, std::size_t> places;  // only of what is edited
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (children_.find(lines[i].name) != children_.end()) places.emplace(lines[i].name, i);

  for (const auto& [name, edit] : children_) {
    const auto place = places.find(name);
    TreeLine* line = place == places.end() ? nullptr : &lines[place->second];
    const std::string here = path + name;
    if (edit.what_ == What::put) {
      const std::uint32_t mode = line != nullptr && line->mode == mode_executable ? mode_executable : mode_file;
      if (line == nullptr) {
        added.push_back({name, mode, edit.blob_});
      } else {
        changed = changed || line->mode != mode || line->oid != edit.blob_;
        line->mode = mode;
        line->oid = edit.blob_;
      }
      continue;
    }
    const bool is_folder = line != nullptr && line->mode == mode_folder;
    if (edit.what_ == What::remove || edit.what_ == What::remove_folder) {
      const bool wants_folder = edit.what_ == What::remove_folder;
      if (line == nullptr || is_folder != wants_folder)
        return edit_error(Fault::missing,
                          fmt::format("there is no {} \"{}\" to delete", wants_folder ? "folder" : "file", here));
    }
    // A file in the way of a folder is replaced.
    Oid below{};
    if (edit.what_ == What::inner || !edit.children_.empty()) {
      const Oid start = is_folder && edit.what_ == What::inner ? line->oid : Oid{};
      auto made = edit.apply(start, here + "/", read, write);
      if (!made) return made;
      below = std::move(*made);
    }
    if (line == nullptr) {
      if (!below.empty()) added.push_back({name, mode_folder, below});
    } else if (below.empty()) {
      line->mode = 0;  // goes
      changed = true;
    } else {
      changed = changed || line->oid != below || line->mode != mode_folder;
      line->mode = mode_folder;
      line->oid = below;
    }
  }
  if (!changed && added.empty()) return base;
  std::erase_if(lines, [](const TreeLine& line) { return line.mode == 0; });
  lines.insert(lines.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  if (lines.empty()) return Oid{};
  return write(format_tree(std::move(lines)));
}

}  // namespace stackgate::datastore::git
