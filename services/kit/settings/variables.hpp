// Environment variables that are nearly settings. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/settings/settings.hpp"

namespace stackgate::settings {

struct Misspelt {
  std::string name;   // "STACKGATE_DATA_DRI"
  std::string meant;  // "STACKGATE_DATA_DIR"
};

/// Of `environment` ("NAME=VALUE" each) the STACKGATE_ variables that this program does not read although they look
/// like one that it does. Left out are those of the other programs (is_of_family()), the variables by which
/// Kubernetes tells each pod of the Services beside it (STACKGATE_DATASTORE_SERVICE_HOST,
/// STACKGATE_DATASTORE_PORT_8000_TCP …), and empty ones, which count as not set.
std::vector<Misspelt> misspelt_variables(const Program& program, std::span<const std::string_view> environment);

/// Whether a program of the stack reads it, this one or another: a pod may be given one environment for several.
bool is_of_family(std::string_view name);

}  // namespace stackgate::settings
