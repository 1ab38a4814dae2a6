// Whether a claim can serve all the pods that mount it.
#pragma once
#include <span>
#include <string>

#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// The claim that the operator creates, by its `volumeAccessMode`; also one that exists, when the cluster cannot be
/// asked for its modes. `spec` is the whole resource's: how a claim is used depends on the kind, the replicas and more.
void check_volumes(Context& context, Field spec);

/// A claim with `create: false` that was found in the cluster; `name` is the field that names it.
void check_existing_claim(Context& context, Field spec, Field name, std::span<const std::string> access_modes);

}  // namespace stackgate::validate
