#include "services/datastore/smart_http/routes.hpp"

#include <memory>
#include <type_traits>

#include "services/datastore/smart_http/handlers.hpp"

namespace stackgate::datastore::smart_http {
namespace {

using SharedHandler = web::Answer (*)(Shared&, web::Call&);

/// git prints the body of a failure to its user when it is text/plain.
web::Handler as_text(const std::shared_ptr<Shared>& shared, SharedHandler handler) {
  return [shared, handler](web::Call& call) -> web::Answer {
    web::Answer answer = handler(*shared, call);
    const auto* failure = std::get_if<web::Failure>(&answer);
    if (failure == nullptr) return answer;
    http::Response response;
    response.status = failure->status;
    response.content_type = "text/plain; charset=utf-8";
    response.headers = failure->headers;
    response.headers.emplace_back("Cache-Control", "no-cache, max-age=0, must-revalidate");
    response.body = failure->message + "\n";
    return response;
  };
}

}  // namespace

std::vector<web::Route> routes(Backend& backend, Options options) {
  const auto shared = std::make_shared<Shared>(backend, options);
  // A client that counts and compresses between two bytes may be silent for minutes.
  const web::RouteOptions streamed{.streams_body = true, .body_bytes = 0, .pause = std::chrono::minutes(5)};
  return {
      {"GET", "/{owner}/{repo}.git/info/refs", as_text(shared, info_refs)},
      {"POST", "/{owner}/{repo}.git/git-upload-pack", as_text(shared, upload_pack), streamed},
      {"POST", "/{owner}/{repo}.git/git-receive-pack", as_text(shared, receive_pack), streamed},
      {"GET", "/{owner}/{repo}/info/refs", as_text(shared, info_refs)},
      {"POST", "/{owner}/{repo}/git-upload-pack", as_text(shared, upload_pack), streamed},
      {"POST", "/{owner}/{repo}/git-receive-pack", as_text(shared, receive_pack), streamed},
      {"GET", "/{owner}/{repo}.git/HEAD", as_text(shared, dumb)},
      {"GET", "/{owner}/{repo}.git/objects/{path...}", as_text(shared, dumb)},
  };
}

}  // namespace stackgate::datastore::smart_http
