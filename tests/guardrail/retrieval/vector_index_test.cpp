#include "services/guardrail/retrieval/vector_index.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace stackgate::guardrail {
namespace {

std::string shown_hits(const std::vector<Nearest>& hits) {
  std::string out;
  for (const Nearest& hit : hits)
    out += std::to_string(hit.index) + ":" + std::to_string(std::lround(hit.similarity * 100)) + " ";
  return out;
}

TEST(VectorIndex, gives_the_nearest_first_and_equals_in_order) {
  VectorIndex index(2);
  for (const std::vector<float>& each : {std::vector<float>{0, 2}, {3, 0}, {1, 1}, {5, 0}, {-1, 0}, {0, 0}})
    EXPECT_TRUE(index.add(each));
  const std::vector<float> query = {10, 0};
  EXPECT_EQ(shown_hits(index.nearest(query, 9)), "1:100 3:100 2:71 0:0 5:0 4:-100 ");
  EXPECT_EQ(shown_hits(index.nearest(query, 2)), "1:100 3:100 ");
  EXPECT_EQ(shown_hits(index.nearest(query, 9, 0.5F)), "1:100 3:100 2:71 ");
  EXPECT_EQ(shown_hits(index.nearest(query, 0)), "");
}

TEST(VectorIndex, refuses_vectors_that_do_not_fit) {
  VectorIndex index(2), none(0);
  EXPECT_FALSE(index.add(std::vector<float>{1}));
  EXPECT_FALSE(index.add(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_FALSE(index.add(std::vector<float>{1, std::numeric_limits<float>::infinity()}));
  EXPECT_FALSE(none.add({}));
  EXPECT_EQ(index.size() + none.size(), 0U);
  EXPECT_TRUE(index.add(std::vector<float>{1, 0}));
  EXPECT_EQ(shown_hits(index.nearest(std::vector<float>{1}, 1)), "");
  EXPECT_EQ(shown_hits(index.nearest(std::vector<float>{0, 0}, 1)), "0:0 ");
}

}  // namespace
}  // namespace stackgate::guardrail
