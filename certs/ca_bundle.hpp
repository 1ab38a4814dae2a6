// Keeps the caBundle of webhook configurations right. Pure.
#pragma once
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/base/error.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::certs {

/// The same certificates, in any order and with any text around them.
bool same_certificates(std::string_view pem_a, std::string_view pem_b);

/// A JSON patch that gives every webhook of `configuration` the bundle `wanted` (PEM), or nothing when all have it. It
/// holds only against the configuration's resourceVersion, so two writers cannot overwrite each other unseen. Fails for
/// a configuration that cert-manager looks after: two would fight over it.
std::expected<std::optional<std::string>, Error> bundle_patch(const json::Value& configuration,
                                                              std::string_view wanted);

}  // namespace stackgate::certs
