// The entitystore's routing table.
#pragma once
#include <vector>

#include "services/entitystore/api/api.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::entitystore {

/// `api` must outlive the routes.
std::vector<web::Route> routes(const Api& api);

}  // namespace stackgate::entitystore
