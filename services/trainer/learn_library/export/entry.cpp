// The one symbol of libstackgate-learner.so.
#include "services/trainer/learn_library/entry.hpp"

#include "services/kit/shared_object/shared_object.hpp"

namespace {

const std::string build = stackgate::shared_object::build();

}  // namespace

extern "C" {
extern const stackgate::trainer::LearnerEntry stackgate_learner_entry __attribute__((visibility("default")));
const stackgate::trainer::LearnerEntry stackgate_learner_entry = {
    .build = build, .open = &stackgate::trainer::Learner::open, .open_group = &stackgate::trainer::Group::open};
}
