// A container's parts as the spec has them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/plan/plan.hpp"
#include "services/kit/pods/pod.hpp"
#include "validators/field.hpp"

namespace stackgate::reconcile::parts {

using validate::Field;

/// The user's variables as they stand.
std::vector<pods::EnvVar> read_env(const Field& env);

/// A variable with the field's text (or its default), when there is one.
void put_text(pods::Container& container, std::string_view variable, const Field& field);

/// `defaults` with what `field` (a probe's settings) says instead.
pods::Probe read_probe(const Field& field, pods::Probe defaults);

/// spec.resources as JSON, quantities rewritten; empty when there are none.
std::string read_resources(const Field& resources);

/// repository:tag of an image object. Where no repository is written `fallback` stands in, with the tag if that is.
std::string read_image(const Field& image, std::string_view fallback = {});

// --- GPUs: extended resources whose name ends in "/gpu", or which the operator was configured with ---

/// Whether `resources` (with limits and requests) asks for more than zero of one.
bool asks_for_gpus(const validate::Field& resources, const Settings& settings);
/// How many of all kinds together; 0 when none.
std::int64_t gpu_count(const validate::Field& resources, const Settings& settings);

}  // namespace stackgate::reconcile::parts
