// A page of a repository: which one, at which revision, and the head that all of them share.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "services/datastore/guard/revision.hpp"
#include "services/datastore/pages/links.hpp"
#include "services/datastore/pages/visit.hpp"

namespace stackgate::datastore::pages {

struct Place : RepositoryAtRevision {  // filled by enter_revision
  Repository repository{};
  bool may_write = false, may_administer = false;
  bool is_branch = false;
};

/// "{owner}" and "{repo}". A former name or another spelling leads to the right address.
std::expected<Place, web::Answer> enter_repository(Visit& visit, Action action);
/// The same, opened at "{revision}" (the default branch without one). Slashes of a revision may stand unescaped in
/// "{path...}".
std::expected<Place, web::Answer> enter_revision(Visit& visit, Action action = Action::read);

/// "Model"
std::string_view type_words(RepositoryType type);

enum class Tab : std::uint8_t { files, commits, refs, settings };
/// Name, badges, description, tabs.
html::Html repository_head(const Place& place, Tab tab);
/// Branches and tags to choose from; `page` is what they lead to ("tree", "commits", "blob").
html::Html revision_switcher(const Place& place, std::string_view page);
/// "name / folder / file", each a link; raw bytes made visible.
html::Html crumbs(const Place& place, bool last_is_file);

struct References {
  std::vector<std::string> branches, tags;
};
std::expected<References, ServiceError> references_of(const Place& place);

/// "0123456789"
std::string_view short_id(std::string_view oid);

}  // namespace stackgate::datastore::pages
