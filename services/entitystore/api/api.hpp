// What the handlers work on. Made by the program, shared by all threads, outlives every request.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "services/entitystore/adapters/access_log.hpp"
#include "services/entitystore/adapters/catalogue.hpp"
#include "services/entitystore/registration/registrar.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::entitystore {

/// How a pod gets at an archive with no credentials but its own.
enum class Downloads : std::uint8_t {
  direct,  // the datastore's URL: repositories are public, or the pod has the datastore's credentials
  proxy,   // a signed URL of this service, which fetches with its own: repositories are private. The default
};

struct Api {
  sql::Database& database;
  Catalogue& catalogue;
  Datastore& datastore;
  const Spool& spool;
  Registrar& registrar;
  AccessLog& access;
  peft::ServingLimits serving{};
  std::uint64_t archive_bytes = std::uint64_t{4} << 30U;  // the largest upload
  Downloads downloads = Downloads::proxy;
  std::string datastore_public_url;          // what download_url begins with
  bool trust_forwarded = false;              // X-Remote-User is who a proxy signed in
  std::chrono::seconds link_valid{3600};     // of signed URLs
  std::function<std::string()> signing_key;  // the same in every replica; empty while the database is away
  std::function<void()> wake_sweep;
};

/// Notes who did what; never waits.
void note_access(const Api& api, web::Call& call, std::string_view adapter, std::string_view action,
                 std::uint64_t bytes = 0);

/// Empty for an adapter whose files are not (or no longer) in the datastore.
std::string download_url(const Api& api, web::Call& call, const Record& record);

/// 503 before the catalogue was read for the first time.
std::expected<SnapshotPtr, web::Failure> catalogue_of(const Api& api);
/// The adapter of the path's {id}: 404, 503 as above.
std::expected<ListedPtr, web::Failure> find_adapter(const Api& api, web::Call& call);

/// Changes twice in the life of a signed link, so that a 304 confirms none that has less than half of it left. 0 where
/// links are not signed.
std::int64_t link_period(const Api& api);

/// 304 when the request's If-None-Match holds `etag`.
bool is_unchanged(web::Call& call, std::string_view etag);
http::Response not_modified(std::string_view etag);

/// The routing table (routes.cpp). `api` must outlive the routes.
std::vector<web::Route> routes(const Api& api);

}  // namespace stackgate::entitystore
