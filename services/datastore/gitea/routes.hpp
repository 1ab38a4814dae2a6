// The part of Gitea's API (https://docs.gitea.com/api) that scripts use around repositories: /api/v1, and NeMo's
// /v1/datastore/namespaces.
#pragma once
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::datastore::gitea {

/// `backend` must outlive the routes.
std::vector<web::Route> routes(Backend& backend);

}  // namespace stackgate::datastore::gitea
