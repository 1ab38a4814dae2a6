// One commit and what it changed.
#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace commit_detail {

constexpr git::DiffLimits limits{.files = 100, .lines_per_file = 400, .bytes = 256 * 1024};

html::Html line_row(const git::DiffLine& line) {
  const std::string before = line.old_line > 0 ? std::to_string(line.old_line) : "";
  const std::string after = line.new_line > 0 ? std::to_string(line.new_line) : "";
  if (line.origin == '+')
    return html::piece(
        R"(<tr class="plus"><td class="no old"></td><td class="no">{}</td><td class="sign">+</td><td>{}</td></tr>)",
        after, line.text);
  if (line.origin == '-')
    return html::piece(
        R"(<tr class="minus"><td class="no old">{}</td><td class="no"></td><td class="sign">-</td><td>{}</td></tr>)",
        before, line.text);
  return html::piece(R"(<tr><td class="no old">{}</td><td class="no">{}</td><td class="sign"></td><td>{}</td></tr>)",
                     before, after, line.text);
}

html::Html file_box(const Place& place, const git::DiffFile& file, std::string_view commit, std::string_view parent) {
  html::Html out, head, badge, lines;
  const bool gone = file.new_path.empty();
  const std::string& path = gone ? file.old_path : file.new_path;
  if (file.old_path.empty()) badge.put(R"(<span class="badge">added</span>)");
  if (gone) badge.put(R"(<span class="badge">deleted</span>)");
  if (!gone && !file.old_path.empty() && file.old_path != file.new_path)
    badge.put(R"(<span class="badge">was {}</span>)", file.old_path);
  head.put(
      R"(<div class="box-head"><a class="mono" href="{}">{}</a>{}<span class="spring"></span><span class="plus-count">+{}</span><span class="minus-count">−{}</span></div>)",
      link_to(place.repository, "blob", gone ? parent : commit, path), path, badge, html::grouped(file.added),
      html::grouped(file.removed));
  for (const git::DiffHunk& hunk : file.hunks) {
    lines.put(R"(<tr class="hunk"><td colspan="4">{}</td></tr>)", hunk.header);
    for (const git::DiffLine& line : hunk.lines) lines.put("{}", line_row(line));
  }
  out.put(R"(<section class="box" aria-label="{}">{})", path, head);
  if (file.binary)
    out.put(R"(<p class="empty">Binary, or too large to compare.</p>)");
  else if (lines.empty() && file.truncated)
    out.put(R"(<p class="empty">Too much to show here.</p>)");
  else if (lines.empty())
    out.put(R"(<p class="empty">{}</p>)", file.old_path == file.new_path    ? "Its mode changed."
                                          : (gone || file.old_path.empty()) ? "The file is empty."
                                                                            : "Only its name changed.");
  else
    out.put(
        R"(<div class="wrap" tabindex="0" role="region" aria-label="Changes"><table class="diff"><tbody>{}</tbody></table></div>)",
        lines);
  if (file.truncated && !lines.empty()) out.put(R"(<p class="pad quiet">There is more; it is not shown.</p>)");
  return out.put("</section>");
}

html::Html commit_box(const Visit& visit, const Place& place, const git::Commit& commit) {
  html::Html parents, message;
  for (const git::Oid& parent : commit.parents)
    parents.put(R"(<a class="oid" href="{}">{}</a> )", link_to(place.repository, "commit", parent), short_id(parent));
  if (commit.parents.empty()) parents.put("none, the first commit");
  const std::string title = commit.title();
  std::string_view rest = std::string_view(commit.message).substr(std::min(title.size(), commit.message.size()));
  while (rest.starts_with('\n')) rest.remove_prefix(1);
  if (!rest.empty()) message.put(R"(<p class="message">{}</p>)", rest.substr(0, 20'000));
  return html::piece(
      R"(<div class="box"><div class="pad"><h2>{}</h2><p class="quiet">{}, {}</p>{}</div><dl class="facts-list"><dt>Commit</dt><dd class="mono">{}</dd><dt>Parents</dt><dd>{}</dd><dt>Files</dt><dd><a href="{}">Browse at this commit</a></dd></dl></div>)",
      title.empty() ? "(no message)" : title, commit.author.name, html::time_tag(commit.committer.seconds, visit.now),
      message, commit.oid, parents, link_to(place.repository, "tree", commit.oid));
}

}  // namespace commit_detail

web::Answer get_commit(Visit& visit) {
  using namespace commit_detail;
  auto place = TRY(enter_revision(visit));
  if (place.commit.empty()) return web::Failure{.status = 404, .message = "nothing has been committed yet"};
  const auto commit = TRY(place.git->commit(place.commit));
  const git::Oid parent = commit.parents.empty() ? git::Oid{} : commit.parents[0];
  const auto files = TRY(place.git->diff(parent, commit.oid, limits));
  std::uint64_t added = 0, removed = 0;
  html::Html body, boxes;
  for (const git::DiffFile& file : files) {
    added += file.added;
    removed += file.removed;
    boxes.put("{}", file_box(place, file, commit.oid, parent));
  }
  if (files.size() == limits.files) boxes.put(R"(<p class="quiet">At most {} files are shown.</p>)", limits.files);
  body.put(
      R"({}{}<p class="quiet">{} changed, <span class="plus-count">+{}</span> <span class="minus-count">−{}</span></p>{})",
      repository_head(place, Tab::commits), commit_box(visit, place, commit), html::counted(files.size(), "file"),
      html::grouped(added), html::grouped(removed), boxes);
  return page(visit, {.title = commit.title() + " · " + place.repository.full_name()}, body);
}

}  // namespace stackgate::datastore::pages
