#include "reconcile/observe/observation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reconcile/control/parsed.hpp"

namespace stackgate::reconcile {
namespace {

using tests::Parsed;

class SignsIn : public ::testing::TestWithParam<crds::Kind> {
 protected:
  cluster::State state{cluster::State::Contents::yes};
  Store store{state, [](const Key&) {}};

  void put(crds::Kind kind, std::string_view name, std::string_view spec) {
    state.sink(kind).upsert(
        Parsed(fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"ml","uid":"uid-{0}","resourceVersion":"1",)"
                           R"("generation":1}},"spec":{1}}})",
                           name, spec)));
  }
};

TEST_P(SignsIn, as_the_administrator_of_the_datastore_that_it_names) {
  const Key key{GetParam(), "ml", "mine"};
  put(key.kind, key.name, R"({"datastore":{"endpoint":"http://store:8000"}})");
  const Observation before(store, key);
  ASSERT_TRUE(before.is_there());
  EXPECT_EQ(before.observed({}, {}).datastore_admin, "");
  EXPECT_THAT(before.references(), ::testing::Contains(reference("stackdatastores", "ml", "store")));
  put(crds::Kind::stack_datastore, "store", R"({"secrets":{"gitAdminSecret":"root"}})");
  const Observation after(store, key);
  EXPECT_EQ(after.observed({}, {}).datastore_admin, "root");
  EXPECT_THAT(after.references(), ::testing::Contains(reference("secrets", "ml", "root")));
}

INSTANTIATE_TEST_SUITE_P(Observation, SignsIn,
                         ::testing::Values(crds::Kind::stack_entitystore, crds::Kind::stack_evaluator,
                                           crds::Kind::stack_customizer),
                         [](const auto& given) { return std::string(crds::info(given.param).name); });

}  // namespace
}  // namespace stackgate::reconcile
