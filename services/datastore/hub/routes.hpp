// The Hugging Face API below /v1/hf, as the JavaScript and the Python client call it.
#pragma once
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::datastore::hub {

/// `backend` must outlive the routes.
std::vector<web::Route> routes(const Backend& backend);

}  // namespace stackgate::datastore::hub
