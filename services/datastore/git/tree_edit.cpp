#include "services/datastore/git/tree_edit.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"

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

bool TreeEdit::puts_below() const {
  return std::ranges::any_of(
      children_, [](const auto& child) { return child.second.what_ == What::put || child.second.puts_below(); });
}

Expected<TreeEdit*> TreeEdit::at(std::string_view path, bool for_put) {
  TreeEdit* node = this;
  for (std::size_t from = 0;;) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    node = &node->children_[std::string(path.substr(from, end - from))];
    if (end == path.size()) return node;
    if (for_put && node->what_ == What::put)
      return edit_error(Fault::invalid, fmt::format("\"{}\" is a file in this commit, so \"{}\" cannot be below it",
                                                    path.substr(0, end), path));
    from = end + 1;
  }
}

Expected<void> TreeEdit::put(std::string_view path, Oid blob) {
  const auto node = TRY(at(path, true));
  if (node->puts_below())
    return edit_error(Fault::invalid, fmt::format("\"{}\" is both a file and a folder in this commit", path));
  node->instead_of_folder_ = node->instead_of_folder_ || node->what_ == What::remove_folder;
  node->what_ = What::put;
  node->blob_ = std::move(blob);
  return {};
}

Expected<void> TreeEdit::remove(std::string_view path, bool folder) {
  const auto node = TRY(at(path, false));
  if (folder && node->what_ == What::put) {
    node->instead_of_folder_ = true;
    return {};
  }
  // What is put below it, before or after, stays: a folder is emptied first, then filled; a file makes room for one.
  node->what_ = folder ? What::remove_folder : What::remove;
  return {};
}

Expected<void> TreeEdit::fits(const TreeLine& line, const std::string& here, const ReadTree& read,
                              const WriteTree& write) const {
  const bool is_folder = line.mode == mode_folder;
  if (what_ == What::put && is_folder && !instead_of_folder_) {
    // Its files may be deleted one by one.
    auto left = TRY(children_.empty() ? Expected<Oid>(line.oid) : apply(line.oid, here + "/", read, write));
    if (!left.empty())
      return edit_error(Fault::invalid, fmt::format("\"{}\" is a folder and would become a file; choose another name, "
                                                    "or delete the folder in the same commit",
                                                    here));
  }
  if (what_ == What::inner && !is_folder && puts_below())
    return edit_error(
        Fault::invalid,
        fmt::format(
            "\"{}\" is a file and would become a folder; choose another name, or delete the file in the same commit",
            here));
  return {};
}

Expected<Oid> TreeEdit::apply(const Oid& base, const std::string& path, const ReadTree& read,
                              const WriteTree& write) const {
  std::vector<TreeLine> lines;
  if (!base.empty()) {
    lines = TRY(read(base));
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
    if (line != nullptr) TRY(edit.fits(*line, here, read, write));
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
    Oid below{};
    if (edit.what_ == What::inner || !edit.children_.empty()) {
      const Oid start = is_folder && edit.what_ == What::inner ? line->oid : Oid{};
      below = TRY(edit.apply(start, here + "/", read, write));
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
