#include <array>

#include "services/datastore/pages/place.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace head_detail {

constexpr std::size_t most_in_menu = 30;

void menu_part(html::Html& out, const Place& place, std::string_view page, std::string_view heading,
               const std::vector<std::string>& names) {
  if (names.empty()) return;
  out.put("<h3>{}</h3>", heading);
  for (std::size_t i = 0; i < std::min(names.size(), most_in_menu); ++i) {
    const html::Link link = link_to(place.repository, page, names[i], place.path);
    out.put("{}", menu_link(link, names[i], names[i] == place.revision ? "true" : ""));
  }
}

}  // namespace head_detail

std::string_view type_words(RepositoryType type) {
  static constexpr std::array<std::string_view, 3> words = {"Model", "Dataset", "Space"};
  return words[static_cast<std::size_t>(type)];
}

html::Html repository_head(const Place& place, Tab tab) {
  const Repository& repository = place.repository;
  html::Html out, badges, tabs;
  if (repository.type) badges.put(R"(<span class="badge">{}</span>)", type_words(*repository.type));
  if (repository.is_private) badges.put(R"(<span class="badge">Private</span>)");
  if (repository.archived) badges.put(R"(<span class="badge">Archived</span>)");
  out.put(
      R"(<h1 class="repo-name"><span><a class="owner" href="{}">{}</a> <span class="owner">/</span> <a href="{}">{}</a></span>{}</h1>)",
      link_to_account(repository.owner), repository.owner, link_to(repository), repository.name, badges);
  if (!repository.description.empty()) out.put(R"(<p class="lead">{}</p>)", repository.description);
  const std::string_view revision = place.commit.empty() ? std::string_view{} : std::string_view(place.revision);
  const bool at_default = revision.empty() || revision == repository.default_branch;
  const auto add = [&](const html::Link& link, std::string_view label, Tab of) {
    tabs.put("{}", menu_link(link, label, tab == of ? "page" : ""));
  };
  add(at_default ? link_to(repository) : link_to(repository, "tree", revision), "Files", Tab::files);
  add(link_to(repository, "commits", at_default ? repository.default_branch : revision), "History", Tab::commits);
  add(link_to(repository, "refs"), "Branches", Tab::refs);
  if (place.may_administer) add(link_to(repository, "settings"), "Settings", Tab::settings);
  return out.put(R"(<nav class="tabs" aria-label="Repository">{}</nav>)", tabs);
}

html::Html revision_switcher(const Place& place, std::string_view page) {
  html::Html inside;
  const auto references = references_of(place);
  if (references) {
    head_detail::menu_part(inside, place, page, "Branches", references->branches);
    head_detail::menu_part(inside, place, page, "Tags", references->tags);
  }
  const std::string shown(git::Oid(place.revision).size() == 40 ? short_id(place.revision)
                                                                : std::string_view(place.revision));
  return html::piece(R"(<details class="menu switcher"><summary aria-label="Branch or tag: {}">{}</summary>
<div class="menu-box">{}<h3></h3><a href="{}">All branches and tags</a></div></details>)",
                     shown, shown, inside, link_to(place.repository, "refs"));
}

html::Html crumbs(const Place& place, bool last_is_file) {
  html::Html inside;
  inside.put(R"(<a href="{}">{}</a>)", link_to(place.repository, "tree", place.revision), place.repository.name);
  const std::string_view path = place.path;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (end == path.size())
      inside.put(" / <b>{}</b>", name);
    else
      inside.put(R"( / <a href="{}">{}</a>)", link_to(place.repository, "tree", place.revision, path.substr(0, end)),
                 name);
    at = end + 1;
  }
  if (!last_is_file && path.empty()) return html::Html{};
  return html::piece(R"(<nav class="crumbs" aria-label="Path">{}</nav>)", inside);
}

}  // namespace stackgate::datastore::pages
