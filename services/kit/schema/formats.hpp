// The formats of strings.
#pragma once
#include <optional>
#include <string_view>

#include "services/kit/json/value.hpp"
#include "services/kit/schema/schema.hpp"

namespace stackgate::validate::schema {

/// By the word in the schema and the type beside it ("" for none). Nothing for one that the API server would enforce
/// and this checker does not know.
std::optional<Format> format_named(std::string_view word, std::string_view type);

/// Whether a string has the format; true for formats of numbers.
/// Source: go-openapi/strfmt in Kubernetes 1.20 and k8s.io/kube-openapi/pkg/validation/strfmt in later releases; where
/// they differ the stricter counts.
bool has_format(Format format, std::string_view text);

/// What to write: "write a time such as \"2025-01-31T08:00:00Z\"".
std::string_view format_example(Format format);
/// "a time (RFC 3339)".
std::string_view format_name(Format format);

}  // namespace stackgate::validate::schema
