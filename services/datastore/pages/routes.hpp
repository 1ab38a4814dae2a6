// The web interface: pages for people, at "/". What an account could be called is never a page of ours.
#pragma once
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::datastore::pages {

/// `backend` must outlive the routes.
std::vector<web::Route> routes(Backend& backend);

}  // namespace stackgate::datastore::pages
