// What a client of the datastore gets from its plan beside the address. Pure.
#pragma once
#include <string_view>

#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile {

/// The Service of namespace `ns` that the URL's host names: "datastore", "datastore.team", "datastore.team.svc" and
/// that with any cluster domain behind it. Empty when it names none. A view into `url`.
std::string_view service_named(std::string_view url, std::string_view ns);

/// DATASTORE_USERNAME and DATASTORE_PASSWORD by reference to the administrator's Secret of the StackDatastore that
/// `datastore.endpoint` names (Observed::datastore_admin), unless that is unknown or the user's `env` has one of them.
void sign_in_to_datastore(const parts::Scope& scope, parts::Workload& workload);

}  // namespace stackgate::reconcile
