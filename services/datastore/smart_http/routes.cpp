#include "services/datastore/routes.hpp"

#include <memory>
#include <type_traits>

#include "services/datastore/smart_http/handlers.hpp"

namespace stackgate::datastore::smart_http {
namespace {

/// Failures that no proxy keeps.
web::Handler uncached(const std::shared_ptr<Shared>& shared, SharedHandler* handler) {
  return [shared, handler](web::Call& call) -> web::Answer {
    web::Answer answer = handler(*shared, call);
    if (auto* failure = std::get_if<web::Failure>(&answer))
      failure->headers.emplace_back("Cache-Control", "no-cache, max-age=0, must-revalidate");
    return answer;
  };
}

}  // namespace

std::vector<web::Route> routes(Backend& backend, Options options) {
  const auto shared = std::make_shared<Shared>(backend, options);
  constexpr auto dialect = web::Dialect::text;  // git prints the body of a failure to its user when it is text/plain
  const web::RouteOptions small{.dialect = dialect};
  // What is wanted and what is there, before a thread is taken: half a million references fit.
  const web::RouteOptions fetch{.dialect = dialect, .transfer = true, .body_bytes = 16 * 1024 * 1024};
  // A client that counts and compresses between two bytes may be silent for minutes.
  const web::RouteOptions push{
      .dialect = dialect, .streams_body = true, .body_bytes = 0, .pause = std::chrono::minutes(5)};
  return {
      {"GET", "/{owner}/{repo}.git/info/refs", uncached(shared, info_refs), small},
      {"POST", "/{owner}/{repo}.git/git-upload-pack", uncached(shared, upload_pack), fetch},
      {"POST", "/{owner}/{repo}.git/git-receive-pack", uncached(shared, receive_pack), push},
      {"GET", "/{owner}/{repo}/info/refs", uncached(shared, info_refs), small},
      {"POST", "/{owner}/{repo}/git-upload-pack", uncached(shared, upload_pack), fetch},
      {"POST", "/{owner}/{repo}/git-receive-pack", uncached(shared, receive_pack), push},
      // No repository can be called "info", so nothing else is meant.
      {"GET", "/{repo}.git/info/refs", uncached(shared, without_owner), small},
      {"GET", "/{repo}/info/refs", uncached(shared, without_owner), small},
      {"POST", "/{repo}.git/git-upload-pack", uncached(shared, without_owner), small},
      {"POST", "/{repo}.git/git-receive-pack", uncached(shared, without_owner), small},
      {"POST", "/{repo}/git-upload-pack", uncached(shared, without_owner), small},
      {"POST", "/{repo}/git-receive-pack", uncached(shared, without_owner), small},
      {"GET", "/{owner}/{repo}.git/HEAD", uncached(shared, dumb), small},
      {"GET", "/{owner}/{repo}.git/objects/{path...}", uncached(shared, dumb), small},
  };
  // The analyzer loses sight of what std::function owns in so long a list.
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace stackgate::datastore::smart_http
