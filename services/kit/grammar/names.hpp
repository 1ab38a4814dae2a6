// Names of Kubernetes objects and of the things inside them. Each function answers nothing for a good name.
// Source: k8s.io/apimachinery/pkg/util/validation and k8s.io/kubernetes/pkg/apis/core/validation, Kubernetes 1.20
// (where later releases are laxer, the stricter rule holds: a pod must be admitted by both).
#pragma once
#include <optional>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// RFC 1123 label: Namespaces, container and volume names, parts of a domain name. 1 to 63 characters.
std::optional<Problem> check_dns_label(std::string_view text);

/// RFC 1035 label: Services. As above, and it begins with a letter.
std::optional<Problem> check_dns1035_label(std::string_view text);

/// RFC 1123 subdomain: most objects (Secrets, ConfigMaps, claims, classes, custom resources). 1 to 253 characters.
std::optional<Problem> check_dns_subdomain(std::string_view text);

/// Host of an Ingress: a subdomain, or one behind "*.".
std::optional<Problem> check_ingress_host(std::string_view text);

/// Qualified name, "[prefix/]name": keys of labels and node selectors.
std::optional<Problem> check_label_key(std::string_view text);

/// Up to 63 characters; empty is a good value.
std::optional<Problem> check_label_value(std::string_view text);

/// A qualified name in which capital letters are allowed in the prefix too.
std::optional<Problem> check_annotation_key(std::string_view text);

/// Key of a taint or a toleration: a qualified name. (Whether it may be empty depends on the operator.)
std::optional<Problem> check_taint_key(std::string_view text);

/// Environment variable of a container: letters, digits, '_', '-', '.', not beginning with a digit.
std::optional<Problem> check_env_name(std::string_view text);

/// Key in the data of a Secret or a ConfigMap.
std::optional<Problem> check_config_key(std::string_view text);

/// Resource of a container: cpu, memory, ephemeral-storage, hugepages-<size>, or an extended one ("nvidia.com/gpu").
std::optional<Problem> check_resource_name(std::string_view text);

}  // namespace stackgate::validate::grammar
