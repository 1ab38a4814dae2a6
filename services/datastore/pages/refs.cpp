#include <algorithm>

#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace refs_detail {

constexpr std::size_t most_shown = 500;

html::Html list_of(const Visit& visit, const Place& place, std::string_view prefix,
                   const std::vector<std::string>& names) {
  html::Html out, rows;
  for (std::size_t i = 0; i < std::min(names.size(), most_shown); ++i) {
    const auto oid = place.git->resolve(std::string(prefix) + names[i]);
    if (!oid) continue;  // a tag of something else than a commit
    const auto commit = place.git->commit(*oid);
    if (!commit) continue;
    html::Html badge;
    if (prefix == "refs/heads/" && names[i] == place.repository.default_branch)
      badge.put(R"( <span class="badge">default</span>)");
    rows.put(
        R"(<li><div class="text"><a class="mono" href="{}">{}</a>{}<div class="by cut">{}, {}</div></div><a class="oid" href="{}">{}</a></li>)",
        link_to(place.repository, "tree", names[i]), names[i], badge, commit->title(),
        html::time_tag(commit->committer.seconds, visit.now), link_to(place.repository, "commit", commit->oid),
        short_id(commit->oid));
  }
  if (rows.empty()) return out.put(R"(<div class="box"><p class="empty">None yet.</p></div>)");
  out.put(R"(<div class="box"><ol class="commits">{}</ol></div>)", rows);
  if (names.size() > most_shown) out.put(R"(<p class="quiet">The first {} are shown.</p>)", most_shown);
  return out;
}

}  // namespace refs_detail

web::Answer get_refs(Visit& visit) {
  auto place = TRY(enter_revision(visit));
  const auto references = TRY(references_of(place));
  html::Html body;
  body.put("{}<h2>Branches</h2>{}<h2>Tags</h2>{}", repository_head(place, Tab::refs),
           refs_detail::list_of(visit, place, "refs/heads/", references.branches),
           refs_detail::list_of(visit, place, "refs/tags/", references.tags));
  return page(visit, {.title = "Branches and tags · " + place.repository.full_name()}, body);
}

}  // namespace stackgate::datastore::pages
