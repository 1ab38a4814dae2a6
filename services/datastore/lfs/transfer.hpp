// The basic transfer (https://github.com/git-lfs/git-lfs/blob/main/docs/api/basic-transfers.md).
#pragma once
#include "services/datastore/backend.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::lfs {

web::Answer put_object(const Backend& backend, web::Call& call);     // PUT  …/objects/{oid}
web::Answer get_object(const Backend& backend, web::Call& call);     // GET  …/objects/{oid}
web::Answer verify_object(const Backend& backend, web::Call& call);  // POST …/verify

}  // namespace stackgate::datastore::lfs
