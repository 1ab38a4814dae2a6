// What libstackgate-learner.so gives: an entry of services/kit/shared_object.
#pragma once
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "services/trainer/learn/group.hpp"
#include "services/trainer/learn/learner.hpp"

namespace stackgate::trainer {

struct LearnerEntry {
  static constexpr const char* symbol = "stackgate_learner_entry";
  std::string_view build;
  std::expected<std::unique_ptr<Learner>, std::string> (*open)(const model::ModelDirectory& model,
                                                               const model::Weights& weights,
                                                               const LearnerSettings& settings) = nullptr;
  std::expected<std::unique_ptr<Group>, std::string> (*open_group)(const GroupSettings& settings) = nullptr;
};

}  // namespace stackgate::trainer
