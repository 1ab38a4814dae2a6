// Calls around the edges.
#include "services/datastore/hub/card.hpp"
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::datastore::hub {

web::Answer post_validate_yaml(const Backend& backend, web::Call& call) {
  if (auto identity = identify(backend, call); !identity) return identity.error();
  const json::Value* content = TRY(web::read_object(call))->find("content");
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

namespace {

std::string page_of(const Place& place) {
  return "/" + percent_encode(place.repository.owner) + "/" + percent_encode(place.repository.name);
}

web::Answer moved_to(std::string to) {
  return http::Response{.status = 302, .content_type = "text/plain", .headers = {{"Location", std::move(to)}}};
}

/// Our pages want a revision with slashes as one segment; addresses made by hand have it in several.
web::Answer go_into(const Backend& backend, web::Call& call, RepositoryType type, std::string_view page) {
  const auto place = TRY(enter(backend, call, type, Action::read));
  const auto opened = TRY(open_at(backend, place, call.parameter("revision"), call.parameter("path")));
  std::string to = page_of(place).append("/").append(page).append("/").append(percent_encode(opened.revision));
  if (!opened.path.empty()) to.append("/").append(percent_encode(opened.path, "/"));
  return moved_to(std::move(to));
}

}  // namespace

web::Answer go_to_page(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = TRY(enter(backend, call, type, Action::read));
  std::string to = page_of(place);
  if (const std::string_view commit = call.parameter("commit"); !commit.empty())
    to += "/commit/" + percent_encode(commit);
  return moved_to(std::move(to));
}

web::Answer go_to_tree(const Backend& backend, web::Call& call, RepositoryType type) {
  return go_into(backend, call, type, "tree");
}

web::Answer go_to_blob(const Backend& backend, web::Call& call, RepositoryType type) {
  return go_into(backend, call, type, "blob");
}

}  // namespace stackgate::datastore::hub
