// A folder, and the home of a repository.
#include <algorithm>
#include <chrono>
#include <map>

#include "services/datastore/pages/content.hpp"
#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/datastore/pages/previews.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace tree_detail {

constexpr std::size_t entries_per_page = 150, look_back = 2'000, count_up_to = 1'000;

html::Html clone_field(const Visit& visit, const Repository& repository) {
  return html::piece(
      R"(<div class="clone"><label class="away" for="clone">Clone with Git</label><input id="clone" readonly value="{}"><button type="button" data-copy="clone" hidden>Copy</button></div>)",
      visit.base_url + link_to(repository).text + ".git");
}

html::Html file_cell(const Place& place, const git::Entry& entry) {
  const std::string_view name = file_name(entry.path);
  switch (entry.kind) {
    case git::EntryKind::folder:
      return html::piece(R"(<td class="file folder"><a href="{}">{}</a></td>)",
                         link_to(place.repository, "tree", place.revision, entry.path), name);
    case git::EntryKind::submodule:
      return html::piece(R"(<td class="file">{} <span class="badge">submodule at {}</span></td>)", name,
                         short_id(entry.oid));
    case git::EntryKind::symlink:
      return html::piece(R"(<td class="file"><a href="{}">{}</a> <span class="badge">link</span></td>)",
                         link_to(place.repository, "blob", place.revision, entry.path), name);
    case git::EntryKind::file:
    case git::EntryKind::executable:
      break;
  }
  html::Html badge;
  if (entry.lfs) badge.put(R"( <span class="badge lfs">LFS</span>)");
  return html::piece(R"(<td class="file"><a href="{}">{}</a>{}</td>)",
                     link_to(place.repository, "blob", place.revision, entry.path), name, badge);
}

html::Html size_cell(const git::Entry& entry) {
  if (entry.kind == git::EntryKind::folder || entry.kind == git::EntryKind::submodule)
    return html::piece(R"(<td class="size"></td>)");
  return html::piece(R"(<td class="size">{}</td>)", html::size_words(entry.lfs ? entry.lfs->size : entry.size));
}

html::Html last_commit_bar(const Visit& visit, const Place& place) {
  const auto latest = place.git->log(place.commit, place.path, 0, 1);
  if (!latest || latest->empty()) return {};
  const git::Commit& commit = latest->front();
  html::Html count;
  if (place.path.empty()) {
    const auto counted_commits = place.git->count_commits(place.commit, count_up_to);
    if (place.git->out_of_time())
      count.put(R"(<a href="{}">History</a>)", link_to(place.repository, "commits", place.revision));
    else if (counted_commits)
      count.put(R"(<a href="{}">{}{}</a>)", link_to(place.repository, "commits", place.revision),
                *counted_commits == count_up_to ? "more than " : "", html::counted(*counted_commits, "commit"));
  } else {
    count.put(R"(<a href="{}">History</a>)", link_to(place.repository, "commits", place.revision, place.path));
  }
  return html::piece(
      R"(<div class="box-head"><b>{}</b><span class="cut">{}</span><span class="spring"></span><a class="oid" href="{}">{}</a><span class="quiet">{}</span>{}</div>)",
      commit.author.name, commit.title(), link_to(place.repository, "commit", commit.oid), short_id(commit.oid),
      html::time_tag(commit.committer.seconds, visit.now), count);
}

html::Html rows(const Visit& visit, const Place& place, const std::vector<git::Entry>& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const git::Entry& each : entries) names.emplace_back(file_name(each.path));
  std::map<std::string, git::Commit, std::less<>> last;
  if (auto found = place.git->last_commits(place.commit, place.path, names, look_back))
    for (auto& [name, commit] : *found) last.emplace(name, std::move(commit));
  html::Html out;
  if (!place.path.empty()) {
    const auto slash = place.path.rfind('/');
    out.put(R"(<tr><td class="file" colspan="4"><a href="{}" aria-label="The folder above">..</a></td></tr>)",
            link_to(place.repository, "tree", place.revision,
                    slash == std::string::npos ? std::string_view{} : std::string_view(place.path).substr(0, slash)));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    html::Html what, when;
    if (const auto commit = last.find(names[i]); commit != last.end()) {
      what.put(R"(<a href="{}">{}</a>)", link_to(place.repository, "commit", commit->second.oid),
               commit->second.title());
      when.put("{}", html::time_tag(commit->second.committer.seconds, visit.now));
    }
    out.put(R"(<tr>{}<td class="what">{}</td>{}<td class="when">{}</td></tr>)", file_cell(place, entries[i]), what,
            size_cell(entries[i]), when);
  }
  return out;
}

web::Answer empty_repository(Visit& visit, const Place& place) {
  html::Html body, steps;
  const std::string url = visit.base_url + link_to(place.repository).text + ".git";
  if (place.may_write)
    steps.put(
        R"(<p><a class="button primary" href="{}">Upload files</a></p><div class="form pad"><h2>From the command line</h2><pre class="code">git clone {}
cd {}
git lfs track "*.safetensors"
git add .
git commit -m "First files"
git push -u origin {}</pre></div>)",
        link_to(place.repository, "upload", place.revision), url, place.repository.name, place.revision);
  body.put(
      R"({}{}<div class="bar">{}</div><div class="box"><div class="empty"><h2>Nothing has been committed yet</h2>{}</div></div>)",
      done_notice(visit), repository_head(place, Tab::files), clone_field(visit, place.repository), steps);
  return page(visit, {.title = place.repository.full_name()}, body);
}

}  // namespace tree_detail

web::Answer get_tree(Visit& visit) {
  using namespace tree_detail;
  auto place = TRY(enter_revision(visit));
  if (place.commit.empty()) return empty_repository(visit, place);
  // What is not found by then is left blank.
  place.git->set_deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(500));
  git::TreeOptions options{.lfs = true, .limit = entries_per_page + 1};
  options.after = visit.call.query().get("after").value_or("");
  auto entries = place.git->tree(place.commit, place.path, options);
  if (!entries) {
    const auto file = place.git->entry(place.commit, place.path);
    if (file && file->kind != git::EntryKind::folder)
      return go_to(visit, link_to(place.repository, "blob", place.revision, place.path));
    return to_failure(entries.error());
  }
  html::Html more;
  if (entries->size() > entries_per_page) {
    entries->pop_back();
    more.put(R"(<div class="pages"><span></span><a class="button" rel="next" href="{}">More files</a></div>)",
             with_query(link_to(place.repository, "tree", place.revision, place.path), "after", entries->back().path));
  }
  std::ranges::stable_partition(*entries, [](const git::Entry& each) { return each.kind == git::EntryKind::folder; });
  html::Html body, buttons;
  if (place.may_write && place.is_branch)
    buttons.put(R"(<a class="button" href="{}">Upload files</a>)",
                link_to(place.repository, "upload", place.revision, place.path));
  body.put(
      R"({}{}<div class="bar">{}{}<span class="spring"></span>{}{}</div><div class="box">{}<table class="files"><thead class="away"><tr><th scope="col">Name</th><th scope="col">Last change</th><th scope="col">Size</th><th scope="col">When</th></tr></thead><tbody>{}</tbody></table></div>{}{})",
      done_notice(visit), repository_head(place, Tab::files), revision_switcher(place, "tree"), crumbs(place, false),
      buttons, place.path.empty() ? clone_field(visit, place.repository) : html::Html{}, last_commit_bar(visit, place),
      rows(visit, place, *entries), more, readme_of(visit, place, *entries));
  return page(
      visit,
      {.title = place.path.empty() ? place.repository.full_name() : place.path + " · " + place.repository.full_name()},
      body);
}

web::Answer redirect_git_address(Visit& visit) {
  auto place = TRY(enter_repository(visit, Action::read));
  return go_to(visit, link_to(place.repository));
}

}  // namespace stackgate::datastore::pages
