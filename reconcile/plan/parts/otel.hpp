// The variables by which OpenTelemetry is set up.
// Source: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ and, for the two of Python,
// https://opentelemetry.io/docs/zero-code/python/configuration/
#pragma once
#include <vector>

#include "reconcile/plan/parts/container.hpp"

namespace stackgate::reconcile::parts {

/// What spec.otel says. Switched off: OTEL_SDK_DISABLED alone, so that no SDK looks for a collector by itself.
std::vector<pods::EnvVar> otel_env(const Scope& scope);

}  // namespace stackgate::reconcile::parts
