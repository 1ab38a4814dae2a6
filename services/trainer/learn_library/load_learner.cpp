#include "services/trainer/learn_library/load_learner.hpp"

#include "services/kit/base/try.hpp"
#include "services/kit/shared_object/shared_object.hpp"
#include "services/trainer/learn_library/entry.hpp"

namespace stackgate::trainer {

std::string default_learner_library() { return shared_object::default_path("libstackgate-learner.so"); }

OpenLearner learner_of_library(std::string path) {
  return [path = std::move(path)](
             const model::ModelDirectory& model, const model::Weights& weights,
             const LearnerSettings& settings) -> std::expected<std::unique_ptr<Learner>, std::string> {
    const LearnerEntry* entry = TRY(shared_object::open<LearnerEntry>(path));
    return entry->open(model, weights, settings);
  };
}

OpenGroup group_of_library(std::string path) {
  return [path = std::move(path)](const GroupSettings& settings) -> std::expected<std::unique_ptr<Group>, std::string> {
    const LearnerEntry* entry = TRY(shared_object::open<LearnerEntry>(path));
    return entry->open_group(settings);
  };
}

}  // namespace stackgate::trainer
