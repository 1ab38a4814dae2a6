#include <algorithm>

#include "services/datastore/git/names.hpp"
#include "services/datastore/gitea/handlers.hpp"
#include "services/datastore/gitea/shapes.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::size_t most_counted = 100'000;  // commits; a longer history pages on without a total
constexpr std::uint64_t largest_tree_page = 1'000;

web::Answer commit_page(Backend& backend, web::Call& call) {
  auto opened = TRY(open_at(backend, call, call.query().get("sha").value_or("")));
  const auto page = TRY(web::read_page(call.query(), web::gitea_pages, default_page, largest_page));
  if (opened.commit.empty()) return web::Failure{.status = 409, .message = "the repository is empty"};  // as Gitea
  const std::string path(call.query().get("path").value_or(""));
  std::size_t total = 0;
  if (path.empty()) {
    total = TRY(opened.git->count_commits(opened.commit, most_counted));
  }
  auto commits = TRY(opened.git->log(opened.commit, path, page.offset(), page.size + 1));
  // Counting the commits of one path would walk the whole history: the page says whether there is another.
  if (!path.empty()) total = page.offset() + commits.size();
  if (commits.size() > page.size) commits.pop_back();
  return json_page(call, page, total, [&](json::Writer& w) {
    const Shape shape{w, call.base_url(), opened.allowed.identity};
    for (const git::Commit& commit : commits) shape.commit(opened.allowed.repository, commit);
  });
}

web::Answer one_commit(Backend& backend, web::Call& call) {
  auto opened = TRY(open_at(backend, call, call.parameter("sha")));
  auto commit = TRY(opened.git->commit(opened.commit));
  return json_response(200, [&](json::Writer& w) {
    Shape{w, call.base_url(), opened.allowed.identity}.commit(opened.allowed.repository, commit);
  });
}

web::Answer tree_page(Backend& backend, web::Call& call) {
  const std::string_view wanted = call.parameter("sha");
  auto opened = TRY(open_at(backend, call, ""));
  git::Oid tree;
  if (const auto at = opened.git->resolve(wanted)) {
    tree = TRY(opened.git->commit(*at)).tree;
  } else if (at.error().fault == git::Fault::missing && git::is_oid(wanted)) {
    tree = wanted;  // as the URLs of commits and folders name it
  } else {
    return to_failure(at.error());
  }
  const auto page = TRY(web::read_page(call.query(), {"page", "per_page"}, largest_tree_page, largest_tree_page));
  if (page.number > 1'000) return web::Failure{.status = 422, .message = "page must be at most 1000"};
  const std::string_view recursive = call.query().get("recursive").value_or("");
  const git::TreeOptions options{.recursive = recursive == "true" || recursive == "1",
                                 .limit = page.offset() + page.size + 1};
  auto entries = TRY(opened.git->tree(tree, "", options));
  const std::size_t begin = std::min<std::size_t>(page.offset(), entries.size());
  const std::size_t end = std::min<std::size_t>(begin + page.size, entries.size());
  return json_object(200, [&](json::Writer& w) {
    const Shape shape{w, call.base_url(), opened.allowed.identity};
    w.member("sha", tree);
    w.member("url", shape.api(opened.allowed.repository) + "/git/trees/" + tree);
    w.array("tree", [&] {
      for (std::size_t i = begin; i < end; ++i) shape.tree_entry(opened.allowed.repository, entries[i]);
    });
    w.member("truncated", entries.size() > end);
    w.member("page", page.number);
    w.member("total_count", static_cast<std::uint64_t>(entries.size()));
  });
}

}  // namespace

void add_commit_routes(Routes& routes, Backend& backend) {
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/commits", commit_page);
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/git/commits/{sha}", one_commit);
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/git/trees/{sha...}", tree_page);
}

}  // namespace stackgate::datastore::gitea
