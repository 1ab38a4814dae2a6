// What counts as a GPU: an extended resource whose name ends in "/gpu", or one that the operator was configured with.
#pragma once
#include "reconcile/plan/plan.hpp"
#include "validators/field.hpp"

namespace stackgate::reconcile::parts {

/// Whether `resources` (with limits and requests) asks for more than zero of one.
bool asks_for_gpus(const validate::Field& resources, const Settings& settings);
/// How many of all kinds together; 0 when none.
std::int64_t gpu_count(const validate::Field& resources, const Settings& settings);

}  // namespace stackgate::reconcile::parts
