// The locks API over HTTP.
#pragma once
#include "services/datastore/backend.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::lfs {

web::Answer create_lock(const Backend& backend, web::Call& call);  // POST …/locks
web::Answer get_locks(const Backend& backend, web::Call& call);    // GET  …/locks
web::Answer verify_locks(const Backend& backend,
                         web::Call& call);  // POST …/locks/verify: once for every pushed reference
web::Answer remove_lock(const Backend& backend, web::Call& call);  // POST …/locks/{id}/unlock

}  // namespace stackgate::datastore::lfs
