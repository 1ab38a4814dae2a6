// Commits and references.

#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/shapes.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/paging.hpp"

namespace stackgate::datastore::hub {

namespace {
constexpr std::size_t commits_counted = 100'000;
}

web::Answer get_commits(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = TRY(enter(backend, call, type, Action::read));
  const auto opened = TRY(open_at(backend, place, call.parameter("revision"), call.parameter("path")));
  const auto limit = TRY(web::read_limit(call.query(), 50, 1000));
  const auto page = to_number<std::size_t>(call.query().get("p").value_or("0"));
  if (!page || *page > commits_counted) return bad_request("\"p\" must be a page number, from 0");
  if (opened.commit.empty()) return json_answer("[]", {{"X-Total-Count", "0"}});
  const auto commits = TRY(opened.git->log(opened.commit, "", *page * limit, limit));
  const auto total = TRY(opened.git->count_commits(opened.commit, commits_counted));
  web::Headers headers{{"X-Total-Count", std::to_string(total)}};
  if (commits.size() == limit && (*page + 1) * limit < total)
    web::add_next_link(headers, place.base + std::string(call.request().path), call.query(), "p",
                       std::to_string(*page + 1));
  return json_answer(
      [&](json::Writer& w) {
        w.array([&] {
          for (const git::Commit& commit : commits) write_commit(w, commit);
        });
      },
      std::move(headers));
}

web::Answer get_refs(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = TRY(enter(backend, call, type, Action::read));
  const auto git = TRY(open_git(backend, place.repository));
  const auto all = TRY(git->refs());
  const auto pulls = call.query().get("include_prs");
  return json_answer(refs(all, pulls && *pulls != "0" && *pulls != "false"));
}

}  // namespace stackgate::datastore::hub
