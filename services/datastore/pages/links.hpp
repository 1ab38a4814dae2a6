// Addresses of the pages. Pure. Owner, name, revision and path may hold any bytes: each is escaped for its place.
//
//   /                                     repositories            /{owner}          those of one account
//   /-/sign-in /-/sign-out /-/new /-/tokens /-/assets/…           nothing that an account could be called
//   /{owner}/{repo}                       home
//   /{owner}/{repo}/tree|blob|raw|commits|upload/{revision}/{path}      a revision with slashes is one segment (%2F)
//   /{owner}/{repo}/commit/{id}  /{owner}/{repo}/refs  /{owner}/{repo}/settings
#pragma once
#include <string>
#include <string_view>

#include "services/datastore/repositories/record.hpp"
#include "services/kit/html/html.hpp"

namespace stackgate::datastore::pages {

html::Link link_to_account(std::string_view owner);
html::Link link_to(const Repository& repository);
/// `page`: "tree", "blob" …; without a revision the page of the repository itself ("settings").
html::Link link_to(const Repository& repository, std::string_view page, std::string_view revision = {},
                   std::string_view path = {});
/// The same with a query; name and value are escaped.
html::Link with_query(html::Link link, std::string_view name, std::string_view value);

/// One of several pages to choose from. `current`: the value of aria-current; empty: it is another that is shown.
html::Html menu_link(const html::Link& link, std::string_view label, std::string_view current);

/// Where to go after signing in: a path of this server, or "/" for anything that could lead elsewhere ("//host",
/// "/\host", "https:…").
std::string safe_return_path(std::string_view wanted);

/// `target` as written in a document at `document` (a path in the repository): the path that it names, normalised, and
/// its fragment. Nothing when it leads out of the repository.
struct Target {
  std::string path;
  std::string fragment;
};
bool resolve_target(std::string_view document, std::string_view target, Target& out);

}  // namespace stackgate::datastore::pages
