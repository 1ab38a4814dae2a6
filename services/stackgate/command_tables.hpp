// The commands of `stackgate` and their settings, as tables for kit/settings. A command reads its own variables only.
#pragma once
#include "services/kit/settings/settings.hpp"

namespace stackgate {

settings::Program gate_table();
settings::Program operator_table();
settings::Program validate_table();
settings::Program plan_table();
settings::Program rules_table();
settings::Program explain_table();
settings::Program crds_table();
settings::Program version_table();

/// "--image-datastore" and so on; what follows "image-" is the service.
bool is_image(const settings::Setting& setting);

}  // namespace stackgate
