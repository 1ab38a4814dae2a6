#include "services/datastore/pages/place.hpp"

namespace stackgate::datastore::pages {
namespace head_detail {

constexpr std::size_t most_in_menu = 30;

Html type_badge(const Repository& repository) {
  Html out;
  if (!repository.type) return out;
  switch (*repository.type) {
    case RepositoryType::model:
      return out.put(R"(<span class="badge">Model</span>)");
    case RepositoryType::dataset:
      return out.put(R"(<span class="badge">Dataset</span>)");
    case RepositoryType::space:
      return out.put(R"(<span class="badge">Space</span>)");
  }
  return out;
}

void tab(Html& out, const Link& link, std::string_view label, bool current) {
  if (current)
    out.put(R"(<a href="{}" aria-current="page">{}</a>)", link, label);
  else
    out.put(R"(<a href="{}">{}</a>)", link, label);
}

void menu_part(Html& out, const Place& place, std::string_view page, std::string_view heading,
               const std::vector<std::string>& names) {
  if (names.empty()) return;
  out.put("<h3>{}</h3>", heading);
  for (std::size_t i = 0; i < std::min(names.size(), most_in_menu); ++i) {
    const Link link = link_to(place.repository, page, names[i], place.path);
    if (names[i] == place.revision)
      out.put(R"(<a href="{}" aria-current="true">{}</a>)", link, names[i]);
    else
      out.put(R"(<a href="{}">{}</a>)", link, names[i]);
  }
}

}  // namespace head_detail

Html repository_head(const Place& place, Tab tab) {
  const Repository& repository = place.repository;
  Html out, badges, tabs;
  badges.put("{}", head_detail::type_badge(repository));
  if (repository.is_private) badges.put(R"(<span class="badge">Private</span>)");
  if (repository.archived) badges.put(R"(<span class="badge">Archived</span>)");
  out.put(
      R"(<h1 class="repo-name"><span><a class="owner" href="{}">{}</a> <span class="owner">/</span> <a href="{}">{}</a></span>{}</h1>)",
      link_to_account(repository.owner), repository.owner, link_to(repository), repository.name, badges);
  if (!repository.description.empty()) out.put(R"(<p class="lead">{}</p>)", repository.description);
  const std::string_view revision = place.commit.empty() ? std::string_view{} : std::string_view(place.revision);
  const bool at_default = revision.empty() || revision == repository.default_branch;
  head_detail::tab(tabs, at_default ? link_to(repository) : link_to(repository, "tree", revision), "Files",
                   tab == Tab::files);
  head_detail::tab(tabs, link_to(repository, "commits", at_default ? repository.default_branch : revision), "History",
                   tab == Tab::commits);
  head_detail::tab(tabs, link_to(repository, "refs"), "Branches", tab == Tab::refs);
  if (place.may_administer) head_detail::tab(tabs, link_to(repository, "settings"), "Settings", tab == Tab::settings);
  out.put(R"(<nav class="tabs" aria-label="Repository">{}</nav>)", tabs);
  return out;
}

Html revision_switcher(const Place& place, std::string_view page) {
  Html out, inside;
  const auto references = references_of(place);
  if (references) {
    head_detail::menu_part(inside, place, page, "Branches", references->branches);
    head_detail::menu_part(inside, place, page, "Tags", references->tags);
  }
  const std::string shown(git::Oid(place.revision).size() == 40 ? short_id(place.revision)
                                                                : std::string_view(place.revision));
  out.put(R"(<details class="menu switcher"><summary aria-label="Branch or tag: {}">{}</summary>
<div class="menu-box">{}<h3></h3><a href="{}">All branches and tags</a></div></details>)",
          shown, shown, inside, link_to(place.repository, "refs"));
  return out;
}

Html crumbs(const Place& place, bool last_is_file) {
  Html out, inside;
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
  if (!last_is_file && path.empty()) return Html{};
  out.put(R"(<nav class="crumbs" aria-label="Path">{}</nav>)", inside);
  return out;
}

}  // namespace stackgate::datastore::pages
