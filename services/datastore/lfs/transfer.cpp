#include "services/datastore/lfs/handlers.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/serve.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::lfs {

namespace {

web::Failure not_here(std::string_view oid) {
  return {.status = 404, .message = "the repository does not have large file " + std::string(oid)};
}

}  // namespace

web::Answer put_object(const Backend& backend, web::Call& call) {
  const std::string_view oid = call.parameter("oid");
  if (!is_oid(oid)) return web::Failure{.status = 404, .message = "a large file's id is 64 lower-case hex digits"};
  auto may = TRY(permit(backend, call, Operation::upload, oid));
  http::BodyReader& body = call.stream();
  const std::optional<std::uint64_t> length = body.length();
  if (!may.grant && !length)
    return web::Failure{.status = 411, .message = "send Content-Length, or upload as the batch call says"};
  const std::uint64_t size = may.grant ? may.grant->size : *length;
  if (length && *length != size)
    return web::Failure{.status = 422,
                        .message = "Content-Length is " + std::to_string(*length) + "; " + std::to_string(size) +
                                   " bytes were announced"};
  TRY(backend.large_files.receive(may.repository.id, oid, size, from(body)));
  return answer(200, "{}");
}

web::Answer get_object(const Backend& backend, web::Call& call) {
  const std::string_view oid = call.parameter("oid");
  if (!is_oid(oid)) return not_here(oid);
  auto may = TRY(permit(backend, call, Operation::download, oid));
  auto file = TRY(backend.large_files.stat(may.repository.id, oid));
  if (!file) return not_here(oid);
  web::Content head;
  head.validators.etag = web::make_etag(oid);
  head.headers = {{"X-Content-Type-Options", "nosniff"}, {"Content-Disposition", "attachment"}};
  return serve(backend, call, *file, std::move(head));
}

web::Answer verify_object(const Backend& backend, web::Call& call) {
  const auto body = TRY(read_body(call));
  const json::Value* oid = body->find("oid");
  const json::Value* size = body->find("size");
  if (oid == nullptr || !is_oid(oid->string()) || size == nullptr || !size->is_integer() || size->integer() < 0)
    return web::Failure{.status = 422, .message = "the body must be {\"oid\": \"<SHA-256>\", \"size\": <bytes>}"};
  auto may = TRY(permit(backend, call, Operation::upload, oid->string()));
  TRY(backend.large_files.confirm(may.repository.id, oid->string(), static_cast<std::uint64_t>(size->integer())));
  return answer(200, "{}");
}

}  // namespace stackgate::datastore::lfs
