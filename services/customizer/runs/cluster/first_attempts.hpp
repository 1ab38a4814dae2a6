// What the first attempts of all stages make: the namespace's ResourceQuotas and LimitRanges are held against it before
// a customization is stored. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/customizer/objects/plan.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::customizer {

struct FirstObject {
  std::string_view stage{};  // empty: of all stages
  PlannedObject planned{};
  kube::Object body{};  // of `planned`, read
};
std::vector<FirstObject> first_attempts(const TrainingJob& job, const JobSetup& setup,
                                        const ContainerDefaults& defaults);

/// The pods of one Job, all alike.
struct PodTemplate {
  json::Value spec{};
  std::int64_t count = 1;
};
/// Of a Job or a Volcano Job; other objects have none. The specs are views into `object`.
std::vector<PodTemplate> pod_templates(const FirstObject& object);

}  // namespace stackgate::customizer
