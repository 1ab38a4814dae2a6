// The "multipart" transfer of Hugging Face clients: numbered part URLs in the action's header map, each PUT gives an
// ETag, a POST to the action's href puts the parts together. On S3 the parts go there directly; elsewhere they lie
// under "incoming/<repository>/<oid>.<upload>/<number>" until they are put together and hashed.
#pragma once
#include "services/datastore/backend.hpp"
#include "services/datastore/lfs/batch.hpp"
#include "services/datastore/lfs/grant.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::lfs {

bool can_presign(objects::Store& store);

/// At most 1,000 parts of 64 MiB or more; the last one may be smaller.
struct PartPlan {
  std::uint64_t chunk = 0;
  unsigned count = 0;
};
PartPlan plan_parts(std::uint64_t size);

Expected<Link> begin_parts(const Backend& backend, const Repository& repository, Grant grant, const std::string& base,
                           const std::string& path, std::chrono::system_clock::time_point now);

web::Answer put_part(const Backend& backend, web::Call& call);      // PUT  …/objects/{oid}/parts/{number}
web::Answer finish_parts(const Backend& backend, web::Call& call);  // POST …/objects/{oid}/parts

}  // namespace stackgate::datastore::lfs
