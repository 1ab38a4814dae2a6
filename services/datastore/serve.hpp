// The service itself: routes, readiness and what runs in the background.
#pragma once
#include <expected>

#include "services/kit/service/service.hpp"

namespace stackgate::datastore {

/// For service::Service::build.
std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& registry);

}  // namespace stackgate::datastore
