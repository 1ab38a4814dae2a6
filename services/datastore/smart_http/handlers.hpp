// What the routes do. Failures become text/plain here: git shows that to its user, and nothing else.
#pragma once
#include "services/datastore/backend.hpp"
#include "services/datastore/git/references.hpp"
#include "services/datastore/smart_http/routes.hpp"
#include "services/datastore/smart_http/turnstile.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::smart_http {

/// What all requests share.
struct Shared {
  Shared(Backend& of, const Options& with) : backend(of), options(with), turnstile(with.children) {}
  Backend& backend;
  const Options options;
  git::References references{};
  Turnstile turnstile;
};

web::Answer info_refs(Shared& shared, web::Call& call);
web::Answer upload_pack(Shared& shared, web::Call& call);
web::Answer receive_pack(Shared& shared, web::Call& call);
/// Files of a repository, as clients from before smart HTTP read them.
web::Answer dumb(Shared& shared, web::Call& call);

/// An address of one segment, as somebody writes it who leaves the owner out: 404 in words, where a page would ask to
/// sign in, which git cannot.
web::Answer without_owner(Shared& shared, web::Call& call);

/// Nothing, or 415 when the request's Content-Type is another.
std::optional<web::Failure> check_type(const web::Call& call, git::Service service);
/// Reads more of the body behind `into`; how much came. 0 is the end.
std::expected<std::size_t, web::Failure> read_more(web::Call& call, std::string& into);

}  // namespace stackgate::datastore::smart_http
