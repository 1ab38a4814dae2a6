// Addresses of other services, beyond the grammar that check_endpoint() holds.
#pragma once
#include <string_view>

#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// The base URL of a service that the workload calls: grammar, no query, not the pod itself, not its own Service.
/// `object` is the whole resource.
void check_service_endpoint(Context& context, Field object, Field endpoint);

/// The same for a vector database, which may also be PostgreSQL's.
void check_vector_database_endpoint(Context& context, Field object, Field endpoint);

/// `spec.datastore.endpoint` of a kind that calls the datastore's root.
void check_datastore_root(Context& context, Field endpoint);

/// `spec.datastore.endpoint` and `spec.entitystore.endpoint` are two addresses.
void check_endpoints_differ(Context& context, Field datastore, Field entitystore);

/// The URL's path ends in `suffix` ("/v1"), without a '/' behind it. `what` begins the problem: "the base URL".
void check_endpoint_suffix(Context& context, const Rule& rule, Field endpoint, std::string_view suffix,
                           std::string_view what);

}  // namespace stackgate::validate
