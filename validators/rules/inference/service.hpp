// An InferenceService's spec, which a pipeline embeds for each of its entries.
#pragma once
#include <string_view>

#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// Everything but the name. `name` is that of the InferenceService, empty when unknown.
void check_inference_spec(Context& context, const Field& spec, std::string_view name);

void check_adapters(Context& context, const Field& env);  // INF_* variables
void check_probes(Context& context, const Field& spec);
void check_scale(Context& context, const Field& spec);
void check_multi_node(Context& context, const Field& spec, std::string_view name);

/// The name of an InferenceService: that of its Service, and the children's.
void check_service_name(Context& context, const Field& name);

}  // namespace stackgate::validate
