#include <fmt/format.h>

#include "services/datastore/guard/guard.hpp"
#include "services/datastore/smart_http/exchange.hpp"
#include "services/datastore/smart_http/handlers.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::smart_http {
namespace {

constexpr std::string_view dumb_text =
    "this server speaks Git's smart HTTP only; clone with git 1.6.6 or later (or check that no proxy drops the query)";

}  // namespace

web::Answer info_refs(Shared& shared, web::Call& call) {
  const auto wanted = call.query().get("service");
  const bool push = wanted == "git-receive-pack";
  const auto allowed = TRY(authorize(shared.backend, call, call.parameter("owner"), call.parameter("repo"),
                                     push ? Action::write : Action::read));
  if (!wanted) return web::Failure{.status = 403, .message = std::string(dumb_text)};
  if (!push && wanted != "git-upload-pack")
    return web::Failure{.status = 403, .message = fmt::format("the service \"{}\" is not offered", *wanted)};
  const git::Service service = push ? git::Service::receive_pack : git::Service::upload_pack;
  const auto body = shared.references.info_refs(shared.backend.repositories.path(allowed.repository), service,
                                                git::protocol_version(call.request().header("Git-Protocol")));
  if (!body) return to_failure(body.error());
  http::Response response = protocol_response(fmt::format("application/x-{}-advertisement", git::to_string(service)));
  response.body = **body;
  return response;
}

web::Answer dumb(Shared& shared, web::Call& call) {
  const auto allowed =
      TRY(authorize(shared.backend, call, call.parameter("owner"), call.parameter("repo"), Action::read));
  return web::Failure{.status = 403, .message = std::string(dumb_text)};
}

web::Answer without_owner(Shared&, web::Call& call) {
  const auto name = call.parameter("repo");
  return web::Failure{.status = 404,
                      .message = fmt::format("no repository is called {}: an address here has an owner and a name, {}/"
                                             "OWNER/{}.git",
                                             name, call.base_url(), name)};
}

}  // namespace stackgate::datastore::smart_http
