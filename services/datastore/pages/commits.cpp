#include <chrono>

#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace commits_detail {

constexpr std::size_t page_size = 30, most_pages = 1'000;

html::Html row(const Visit& visit, const Place& place, const git::Commit& commit) {
  const std::string title = commit.title();
  return html::piece(
      R"(<li><div class="text"><a href="{}">{}</a><div class="by">{}, {}</div></div><a class="oid" href="{}" aria-label="Files at {}">{}</a></li>)",
      link_to(place.repository, "commit", commit.oid), title.empty() ? "(no message)" : title, commit.author.name,
      html::time_tag(commit.committer.seconds, visit.now), link_to(place.repository, "tree", commit.oid),
      short_id(commit.oid), short_id(commit.oid));
}

}  // namespace commits_detail

web::Answer get_commits(Visit& visit) {
  using namespace commits_detail;
  auto place = TRY(enter_revision(visit));
  std::vector<git::Commit> commits;
  const std::size_t number = page_number(visit, most_pages);
  if (!place.commit.empty()) {
    place.git->set_deadline(std::chrono::steady_clock::now() + std::chrono::seconds(3));
    commits = TRY(place.git->log(place.commit, place.path, (number - 1) * page_size, page_size + 1));
  }
  const bool more = commits.size() > page_size;
  if (more) commits.pop_back();
  const html::Link here = link_to(place.repository, "commits", place.revision, place.path);
  html::Html body, list, before, after;
  std::string day;
  for (const git::Commit& commit : commits) {
    std::string of = html::date_words(commit.committer.seconds).substr(0, 10);
    if (of != day) {
      if (!day.empty()) list.put("</ol></div>");
      list.put(R"(<h2 class="day">{}</h2><div class="box"><ol class="commits">)", of);
      day = std::move(of);
    }
    list.put("{}", row(visit, place, commit));
  }
  if (!day.empty()) list.put("</ol></div>");
  if (place.git->out_of_time())
    list.put(R"(<p class="notice bad">This history is long: older commits were not looked at in time.</p>)");
  else if (commits.empty())
    list.put(R"(<div class="box"><p class="empty">There are no commits here.</p></div>)");
  if (number > 1)
    before.put(R"(<a class="button" rel="prev" href="{}">Newer</a>)",
               with_query(here, "page", std::to_string(number - 1)));
  if (more && number < most_pages)
    after.put(R"(<a class="button" rel="next" href="{}">Older</a>)",
              with_query(here, "page", std::to_string(number + 1)));
  body.put(
      R"({}<div class="bar">{}{}</div>{}<nav class="pages" aria-label="Pages"><span>{}</span><span>{}</span></nav>)",
      repository_head(place, Tab::commits), revision_switcher(place, "commits"), crumbs(place, false), list, before,
      after);
  return page(visit, {.title = "History · " + place.repository.full_name()}, body);
}

}  // namespace stackgate::datastore::pages
