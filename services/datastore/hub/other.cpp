// Calls around the edges.
#include "services/datastore/hub/card.hpp"
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::datastore::hub {

web::Answer post_validate_yaml(const Backend& backend, web::Call& call) {
  if (auto identity = identify(backend, call); !identity) return identity.error();
  const auto body = call.json();
  if (!body) return body.error();
  const json::Value* content = (*body)->root.find("content");
  if (content == nullptr || !content->is_string()) return bad_request("\"content\" must be the text of README.md");
  return json_answer(validation(content->string()));
}

web::Answer refuse_xet(const Backend& backend, web::Call& call, RepositoryType type) {
  if (auto place = enter(backend, call, type, Action::read); !place) return place.error();
  return web::Failure{.status = 404,
                      .message =
                          "this server does not speak xet: set HF_HUB_DISABLE_XET=1 and try again; files then go "
                          "by Git LFS"};
}

web::Answer go_to_page(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = enter(backend, call, type, Action::read);
  if (!place) return place.error();
  std::string to =
      "/" + web::percent_encode(place->repository.owner) + "/" + web::percent_encode(place->repository.name);
  if (const std::string_view commit = call.parameter("commit"); !commit.empty())
    to += "/commit/" + web::percent_encode(commit);
  return http::Response{.status = 302, .content_type = "text/plain", .headers = {{"Location", to}}};
}

}  // namespace stackgate::datastore::hub
