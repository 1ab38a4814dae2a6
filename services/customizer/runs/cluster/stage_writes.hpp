// What is written for a stage, and deleted at the end. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/runs/cluster/object_store.hpp"
#include "services/customizer/runs/executor.hpp"
#include "services/kit/kube/api_error.hpp"

namespace stackgate::customizer {

/// In the order in which they are made: what shows that there is something to clean up first, what shows that the stage
/// was begun last. `own`: what is there of it.
std::vector<PlannedObject> objects_of_stage(const Work& work, Stage stage, const JobSetup& setup,
                                            const ContainerDefaults& defaults, const Addresses& addresses,
                                            const ObjectStore::Objects& own);

struct NamedObject {
  kube::ResourceType type;
  std::string name{};
  KeptPtr kept{};  // where it is watched
};

/// All that was made of a customization, what is there or may be: the claim last, which shows that there is more.
std::vector<NamedObject> objects_to_delete(const Work& work, const JobSetup& setup, const ObjectStore::Objects& own);

/// The namespace's quota has no room for it now: the sentence to show; empty: that is not it.
std::string quota_refusal(const PlannedObject& object, const kube::ApiError& error);
/// An answer that is the same to the same question: the sentence to show; empty: asking again may do.
std::string lasting_refusal(const PlannedObject& object, const kube::ApiError& error);

}  // namespace stackgate::customizer
