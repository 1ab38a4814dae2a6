// Paths of volume mounts.
// Source: k8s.io/kubernetes/pkg/apis/core/validation, ValidateVolumeMounts, and the API documentation of VolumeMount.
#pragma once
#include <optional>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// subPath: relative, no part is "..", not empty. ("a//b" and "a/" are what "a/b" and "a" are.)
std::optional<Problem> check_relative_sub_path(std::string_view text);

/// mountPath: absolute, without ':' and without "..".
std::optional<Problem> check_mount_path(std::string_view text);

}  // namespace stackgate::validate::grammar
