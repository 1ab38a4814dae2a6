// A quantity in the form in which the API server gives it back: "1000m" → "1", "0.5" → "500m", "1024Mi" → "1Gi".
// Source: k8s.io/apimachinery/pkg/api/resource, ParseQuantity() and CanonicalizeBytes() of Quantity.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::validate::grammar {

/// Nothing when `text` is no quantity. The result is its own canonical form. Pure and thread-safe.
std::optional<std::string> canonical_quantity(std::string_view text);

/// The same for requests and limits of containers and claims, which the API server also rounds up to 1m.
/// Source: SetDefaults_ResourceList() in k8s.io/kubernetes/pkg/apis/core/v1.
std::optional<std::string> canonical_resource_amount(std::string_view text);

}  // namespace stackgate::validate::grammar
