#include "services/customizer/job/words.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "services/customizer/job/customization.hpp"

namespace stackgate::customizer {
namespace {

TEST(DurationText, has_two_units) {
  for (const auto& [seconds, text] : std::vector<std::pair<std::int64_t, std::string>>{{0, "0 s"},
                                                                                       {59, "59 s"},
                                                                                       {60, "1 min"},
                                                                                       {90, "1 min 30 s"},
                                                                                       {3600, "1 h"},
                                                                                       {5400, "1 h 30 min"},
                                                                                       {90'000, "1 d 1 h"}})
    EXPECT_EQ(duration_text(seconds), text);
}

TEST(States, have_NeMos_names) {
  for (const std::string_view name : state_names) EXPECT_EQ(to_string(*state_named(name)), name);
  EXPECT_FALSE(state_named("ready"));
  EXPECT_EQ(to_string(Stage::upload), "model-upload");
}

}  // namespace
}  // namespace stackgate::customizer
