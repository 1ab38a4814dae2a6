#include "services/datastore/routes.hpp"

#include "services/datastore/lfs/handlers.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/parts.hpp"

namespace stackgate::datastore::lfs {

std::vector<web::Route> routes(const Backend& backend) {
  constexpr auto dialect = web::Dialect::lfs;
  constexpr web::RouteOptions json{.dialect = dialect};
  // A list of 1,000 parts with their tags. What was sent to S3 directly is then read and hashed: that takes its time
  // too.
  constexpr web::RouteOptions parts{
      .dialect = dialect, .transfer = true, .body_bytes = 4 * 1024 * 1024, .body_deadline = std::chrono::minutes(1)};
  constexpr web::RouteOptions file{.dialect = dialect, .transfer = true};
  constexpr web::RouteOptions stream{.dialect = dialect, .streams_body = true, .body_bytes = 0};
  const auto to = [&backend](Handle* handler) -> web::Handler {
    return [&backend, handler](web::Call& call) { return challenged(handler(backend, call)); };
  };
  const web::Handler batch = [&backend](web::Call& call) {
    return answer_batch(backend, call, call.parameter("owner"), call.parameter("repo"), Proof::header);
  };
  return {
      {"POST", "/{owner}/{repo}.git/info/lfs/objects/batch", batch, json},
      {"POST", "/{owner}/{repo}/info/lfs/objects/batch", batch, json},
      {"PUT", "/{owner}/{repo}.git/info/lfs/objects/{oid}", to(put_object), stream},
      {"GET", "/{owner}/{repo}.git/info/lfs/objects/{oid}", to(get_object), file},
      {"PUT", "/{owner}/{repo}.git/info/lfs/objects/{oid}/parts/{number}", to(put_part), stream},
      {"POST", "/{owner}/{repo}.git/info/lfs/objects/{oid}/parts", to(finish_parts), parts},
      {"POST", "/{owner}/{repo}.git/info/lfs/verify", to(verify_object), json},
      {"POST", "/{owner}/{repo}.git/info/lfs/locks", to(create_lock), json},
      {"POST", "/{owner}/{repo}/info/lfs/locks", to(create_lock), json},
      {"GET", "/{owner}/{repo}.git/info/lfs/locks", to(get_locks), json},
      {"GET", "/{owner}/{repo}/info/lfs/locks", to(get_locks), json},
      {"POST", "/{owner}/{repo}.git/info/lfs/locks/verify", to(verify_locks), json},
      {"POST", "/{owner}/{repo}/info/lfs/locks/verify", to(verify_locks), json},
      {"POST", "/{owner}/{repo}.git/info/lfs/locks/{id}/unlock", to(remove_lock), json},
      {"POST", "/{owner}/{repo}/info/lfs/locks/{id}/unlock", to(remove_lock), json},
  };
}

}  // namespace stackgate::datastore::lfs
