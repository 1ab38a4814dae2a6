#include "cluster_state/facts.hpp"

#include <gtest/gtest.h>

namespace stackgate::cluster {
namespace {

using crds::Kind;
using validate::NeighbourFilter;

Kept kept_with(Children children, std::string cache = {}) {
  Kept out;
  out.cache = std::move(cache);
  out.children = std::make_shared<const Children>(std::move(children));
  return out;
}

TEST(WantedNeighbours, are_those_of_the_kind_of_a_name_or_with_a_child_of_a_name) {
  const Kept kept = kept_with({{"Deployment", ""}, {"ConfigMap", "tuner-jobs"}});
  const struct {
    NeighbourFilter wanted;
    bool is_wanted;
  } table[] = {
      {{}, false},
      {{.names = {"other"}}, false},
      {{.names = {""}}, false},  // an empty child name is the resource's own, and no name
      {{.names = {"other", "tuner"}}, true},
      {{.names = {"tuner-jobs"}}, true},
      {{.kind = Kind::stack_customizer}, true},
      {{.kind = Kind::stack_entitystore}, false},
      {{.users_of = "tuner"}, false},
      {{.names = {"tuner"}, .itself = Kind::stack_customizer}, false},
      {{.names = {"tuner"}, .itself = Kind::stack_entitystore}, true},
      {{.names = {"other", "tuner"}, .itself = Kind::stack_customizer}, true},
  };
  for (const auto& each : table)
    EXPECT_EQ(is_wanted(each.wanted, Kind::stack_customizer, "tuner", kept), each.is_wanted) << &each - table;
}

TEST(WantedNeighbours, are_the_services_that_use_a_cache) {
  const NeighbourFilter users{.users_of = "llama"};
  EXPECT_TRUE(is_wanted(users, Kind::inference_service, "a", kept_with({}, "llama")));
  EXPECT_FALSE(is_wanted(users, Kind::inference_service, "a", kept_with({}, "mistral")));
  EXPECT_FALSE(is_wanted(users, Kind::inference_service, "a", kept_with({})));
  EXPECT_FALSE(is_wanted(users, Kind::inference_cache, "llama", kept_with({}, "llama")));
}

}  // namespace
}  // namespace stackgate::cluster
