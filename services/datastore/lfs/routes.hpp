// Git LFS over HTTP (https://github.com/git-lfs/git-lfs/tree/main/docs/api): batch, basic transfer, locks.
#pragma once
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::datastore::lfs {

/// "/{owner}/{repo}.git/info/lfs/…", and the same without ".git". `backend` must outlive the routes.
std::vector<web::Route> routes(const Backend& backend);

}  // namespace stackgate::datastore::lfs
