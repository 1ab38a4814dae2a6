// A customization's pods and its workspace, as the namespace's LimitRanges let them be made. Pure and thread-safe.
// Source: https://kubernetes.io/docs/concepts/policy/limit-range/; its words are those of the admission plugin
// LimitRanger.
#pragma once
#include <span>

#include "services/customizer/runs/cluster/first_attempts.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::customizer {

/// `ranges` is a LimitRangeList. What a container does not state gets the defaults of the first LimitRange that has
/// one. Errors: an object that is never made. Warnings: the Job of a model, which may be there already.
validate::Findings judge_limit_ranges(const json::Value& ranges, std::span<const FirstObject> objects);

}  // namespace stackgate::customizer
