// Where an InferenceCache takes its model from.
#pragma once
#include "validators/rules/context.hpp"

namespace stackgate::validate {

void check_cache_source(Context& context, const Field& source);

}  // namespace stackgate::validate
