// Whether a claim that exists can become as large as the resource now says.
#pragma once
#include "crds/kinds.hpp"
#include "validators/rules/context.hpp"
#include "validators/rules/references_ask.hpp"

namespace stackgate::validate {

/// The sub-object of a resource's spec that may ask for a claim; nothing is written there for a kind that has none.
Field own_claim(crds::Kind kind, const Field& spec);

/// On an update that touches the claim. The cluster's own claim counts, not what the stored resource says of it.
void check_claim_growth(Context& context, Asker& asker, const Field& object);

}  // namespace stackgate::validate
