// The settings of stackgate-entitystore.
#pragma once
#include "services/entitystore/api/api.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::entitystore {

settings::Program program();
validate::Findings check_options(const settings::Values& values);

DatastoreOptions datastore_options(const settings::Values& values);
RegistrarOptions registrar_options(const settings::Values& values);

}  // namespace stackgate::entitystore
