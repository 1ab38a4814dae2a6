#include "services/datastore/lfs/http.hpp"

#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/basic_auth.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/media_type.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::datastore::lfs {

http::Response answer(int status, std::string body) {
  http::Response out = web::json_answer(std::move(body), {}, status);
  out.content_type = media_type;
  return out;
}

web::Answer challenged(web::Answer answer) {
  if (auto* failure = std::get_if<web::Failure>(&answer); failure != nullptr && failure->status == 401)
    failure->headers.emplace_back("LFS-Authenticate", web::basic_challenge("stackgate"));
  return answer;
}

std::expected<void, web::Failure> check_accept(const web::Call& call) {
  if (web::accepts(call.request().header("accept"), media_type)) return {};
  return std::unexpected(web::Failure{
      .status = 406, .message = "answers here have the type " + std::string(media_type) + "; name it in Accept"});
}

std::expected<const json::Value*, web::Failure> read_body(web::Call& call) {
  TRY(check_accept(call));
  TRY(call.body());
  auto object = web::read_object(call);
  if (!object && object.error().status == 400) object.error().status = 422;  // as git-lfs has it
  return object;
}

namespace {

/// The repository that the path names, whoever asks: the grant says who may.
std::expected<Permitted, web::Failure> granted(const Backend& backend, web::Call& call, Grant grant,
                                               Operation operation, std::string_view oid) {
  auto repository = backend.repositories.find(call.parameter("owner"), call.parameter("repo"));
  if (!repository && repository.error().fault != ServiceFault::missing)
    return std::unexpected(to_failure(repository.error()));
  const bool allowed = repository && grant.allows(repository->id, operation, oid);
  if (repository && !allowed)
    log::warning("a token for large files was used for something else",
                 {{"repository", repository->id}, {"peer", call.request().peer}});
  if (!allowed) return std::unexpected(unauthorized("invalid or expired token"));
  call.set_actor("grant:" + std::to_string(grant.user));
  const std::int64_t user = grant.user;
  return Permitted{std::move(*repository), user, std::move(grant)};
}

}  // namespace

std::expected<Permitted, web::Failure> permit(const Backend& backend, web::Call& call, Operation operation,
                                              std::string_view oid) {
  const auto now = std::chrono::system_clock::now();
  const http::Request& request = call.request();
  if (call.query().get("signature")) {
    const std::string_view method = request.method == "HEAD" ? std::string_view("GET") : request.method;
    auto grant = read_url(backend.jwt_key, method, request.path, request.query, oid, now);
    if (!grant) return std::unexpected(unauthorized(grant.error()));
    return granted(backend, call, std::move(*grant), operation, oid);
  }
  if (const auto token = bearer_jwt(request.header("authorization"))) {
    auto grant = read_grant(backend.jwt_key, *token, now);
    if (grant) return granted(backend, call, std::move(*grant), operation, oid);
    log::info("a token for large files was refused", {{"problem", grant.error()}, {"peer", request.peer}});
    return std::unexpected(unauthorized("invalid or expired token"));
  }
  auto allowed = TRY(authorize(backend, call, call.parameter("owner"), call.parameter("repo"),
                               operation == Operation::upload ? Action::write : Action::read));
  return Permitted{std::move(allowed.repository), allowed.identity.account, {}};
}

std::string lfs_path(const Repository& repository) {
  return "/" + percent_encode(repository.owner) + "/" + percent_encode(repository.name) + ".git/info/lfs";
}

}  // namespace stackgate::datastore::lfs
