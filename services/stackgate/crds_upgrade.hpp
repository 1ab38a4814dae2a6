// What an upgrade of a CustomResourceDefinition means, decided on the objects alone: no I/O. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::crds_upgrade {

/// Why `stored` (as the API server has it) must not be replaced by `wanted`: what to do comes with it.
std::optional<std::string> refusal(const json::Value& stored, const json::Value& wanted);

/// What differs between two definitions as the API server has them, a line each: "+ spec.expose.httpRoute" for a new
/// field, "- …" for one that is gone, "~ spec.replicas: maximum 10 -> 20" for a change.
std::vector<std::string> changes(const json::Value& before, const json::Value& after);

/// Whether resources of the definition are served. If not, `why` says what the API server says, as far as it does.
bool established(const json::Value& definition, std::string& why);

/// From the answer to GET /version: servers before 1.23 refuse a server-side apply that has x-kubernetes-validations.
bool knows_validation_rules(const json::Value& version);

/// The definition as JSON without x-kubernetes-validations.
std::string without_validation_rules(const json::Value& definition);

}  // namespace stackgate::crds_upgrade
