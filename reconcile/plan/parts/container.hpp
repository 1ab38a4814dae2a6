// A container's parts as the spec has them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/pods/pod.hpp"
#include "validators/field.hpp"

namespace stackgate::reconcile::parts {

using validate::Field;

/// The user's variables as they stand.
std::vector<pods::EnvVar> read_env(const Field& env);

/// `defaults` with what `field` (a probe's settings) says instead.
pods::Probe read_probe(const Field& field, pods::Probe defaults);

/// spec.resources as JSON, quantities rewritten; empty when there are none.
std::string read_resources(const Field& resources);

/// repository:tag of an image object. Where no repository is written `fallback` stands in, with the tag if that is.
std::string read_image(const Field& image, std::string_view fallback = {});

}  // namespace stackgate::reconcile::parts
