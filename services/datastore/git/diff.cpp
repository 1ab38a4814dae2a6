#include <algorithm>

#include <fmt/format.h>

#include "services/datastore/git/repository_impl.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {
namespace {

/// One file's hunks, as long as there is room.
Expected<DiffFile> to_diff_file(git_diff* diff, std::size_t index, const DiffLimits& limits, std::size_t& bytes) {
  const git_diff_delta* delta = git_diff_get_delta(diff, index);
  DiffFile out;
  if (delta->status != GIT_DELTA_ADDED) out.old_path = delta->old_file.path;
  if (delta->status != GIT_DELTA_DELETED) out.new_path = delta->new_file.path;
  git_patch* raw = nullptr;
  if (const int code = git_patch_from_diff(&raw, diff, index); code != 0)
    return library_error(code, fmt::format("the change of {}", out.new_path));
  const PatchHandle patch(raw);
  out.binary = raw == nullptr || (git_patch_get_delta(raw)->flags & GIT_DIFF_FLAG_BINARY) != 0;
  if (raw == nullptr || out.binary) return out;
  std::size_t context = 0, added = 0, removed = 0, lines = 0;
  git_patch_line_stats(&context, &added, &removed, raw);
  out.added = added;
  out.removed = removed;
  for (std::size_t h = 0; h < git_patch_num_hunks(raw) && !out.truncated; ++h) {
    const git_diff_hunk* from = nullptr;
    std::size_t count = 0;
    if (git_patch_get_hunk(&from, &count, raw, h) != 0) break;
    DiffHunk hunk{std::string(from->header, from->header_len), {}};
    while (hunk.header.ends_with('\n')) hunk.header.pop_back();
    for (std::size_t l = 0; l < count; ++l) {
      const git_diff_line* line = nullptr;
      if (git_patch_get_line_in_hunk(&line, raw, h, l) != 0) break;
      if (line->origin != '+' && line->origin != '-' && line->origin != ' ') continue;  // "no newline at end of file"
      if (lines == limits.lines_per_file || bytes + line->content_len > limits.bytes) {
        out.truncated = true;
        break;
      }
      ++lines;
      bytes += line->content_len;
      std::string_view text(line->content, line->content_len);
      if (text.ends_with('\n')) text.remove_suffix(1);
      hunk.lines.push_back({line->origin, line->old_lineno, line->new_lineno, std::string(text)});
    }
    out.hunks.push_back(std::move(hunk));
  }
  return out;
}

}  // namespace

Expected<std::vector<DiffFile>> Repository::diff(const Oid& from, const Oid& to, const DiffLimits& limits) {
  TreeHandle before;
  if (!from.empty()) {
    before = TRY(impl_->folder_at(from, {}));
  }
  const auto after = TRY(impl_->folder_at(to, {}));
  git_diff_options options;
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.max_size = 1 << 20;  // larger files count as binary
  git_diff* raw = nullptr;
  if (const int code = git_diff_tree_to_tree(&raw, impl_->handle.get(), before.get(), after.get(), &options); code != 0)
    return library_error(code, "the change cannot be computed");
  const DiffHandle diff(raw);
  if (git_diff_num_deltas(raw) <= limits.files) {
    git_diff_find_options renames;
    git_diff_find_options_init(&renames, GIT_DIFF_FIND_OPTIONS_VERSION);
    renames.flags = GIT_DIFF_FIND_RENAMES;
    renames.rename_limit = 100;
    git_diff_find_similar(raw, &renames);
  }
  std::vector<DiffFile> out;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < std::min(git_diff_num_deltas(raw), limits.files); ++i) {
    out.push_back(TRY(to_diff_file(raw, i, limits, bytes)));
  }
  return out;
}

}  // namespace stackgate::datastore::git
