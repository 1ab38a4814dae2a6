// Vectors are what CPython 3.11 prints; oracle.sh compares many more.
#include "services/evaluator/suite/harness/python_random.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator::harness {
namespace {

using testing::ElementsAre;

TEST(PythonRandom, begins_as_cpython_does) {
  struct Row {
    std::uint64_t seed;
    std::uint32_t first, second, third;
    double then;
  };
  for (const Row& row : {Row{1234, 4150886329, 3342196574, 1892932127, 0.11685051774599753},
                         Row{0, 3626764237, 1654615998, 3255389356, 0.890243920837131},
                         Row{4294967295, 2728839433, 2661025012, 872737089, 0.21534345751528883},
                         Row{8589934597, 3185278367, 1209197118, 3089592080, 0.17033318853345125}}) {
    PythonRandom random(row.seed);
    EXPECT_EQ(random.next(), row.first) << row.seed;
    EXPECT_EQ(random.next(), row.second) << row.seed;
    EXPECT_EQ(random.next(), row.third) << row.seed;
    EXPECT_EQ(random.real(), row.then) << row.seed;
  }
}

TEST(PythonRandom, draws_the_same_samples_one_after_the_other) {
  PythonRandom small(1234);
  EXPECT_THAT(small.sample(10, 3), ElementsAre(7, 1, 0));
  EXPECT_THAT(small.sample(10, 3), ElementsAre(1, 0, 9));
  EXPECT_THAT(small.sample(10, 3), ElementsAre(1, 5, 3));
  PythonRandom large(1234);
  EXPECT_THAT(large.sample(1000, 6), ElementsAre(989, 796, 451, 119, 7, 92));
  EXPECT_THAT(large.sample(1000, 6), ElementsAre(932, 965, 961, 826, 596, 35));
}

TEST(PythonRandom, draws_by_the_other_way_from_the_same_bound_on) {
  EXPECT_THAT(PythonRandom(0).sample(21, 5), ElementsAre(12, 13, 1, 8, 16));
  EXPECT_THAT(PythonRandom(7).sample(85, 6), ElementsAre(41, 19, 50, 6, 9, 68));
  EXPECT_THAT(PythonRandom(7).sample(86, 6), ElementsAre(41, 19, 50, 83, 6, 9));
  EXPECT_THAT(PythonRandom(1).sample(1, 1), ElementsAre(0));
}

}  // namespace
}  // namespace stackgate::evaluator::harness
