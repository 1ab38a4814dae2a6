// A variable whose value is text from the spec.
// Source: https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
#pragma once
#include <string_view>

#include "reconcile/plan/parts/container.hpp"

namespace stackgate::reconcile::parts {

/// Every '$' is doubled: Kubernetes takes "$$" for '$', and would expand "$(NAME)". (What users write under spec.env is
/// theirs to expand.)
EnvVar env_text(std::string_view name, std::string_view text);

}  // namespace stackgate::reconcile::parts
