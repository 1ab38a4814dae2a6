#include "services/inference/upstream/plan/sync.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference::upstream {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Action = Step::Action;

TEST(UpstreamSync, one_version_is_wanted_once_under_its_shortest_name) {
  const std::vector<OfferedAdapter> offered{{"support", 2, "/data/adapters/b~2"},
                                            {"support@1.0.0", 1, "/data/adapters/a~1"},
                                            {"support@2.0.0", 2, "/data/adapters/b~2"}};
  const auto wanted = wanted_adapters(offered, Kind::vllm, "/data/adapters/", "/mnt/adapters");
  ASSERT_THAT(wanted, SizeIs(2));
  EXPECT_EQ(wanted[0].name, "support");
  EXPECT_THAT(wanted[0].names, ElementsAre("support", "support@2.0.0"));
  EXPECT_EQ(wanted[0].path, "/mnt/adapters/b~2");
  EXPECT_EQ(wanted[1].name, "support@1.0.0");
  EXPECT_EQ(wanted[1].path, "/mnt/adapters/a~1");
}

TEST(UpstreamSync, paths_outside_our_directory_stay) {
  const std::vector<OfferedAdapter> offered{{"a", 1, "/data2/a"}, {"b", 2, "/data/b"}};
  const auto wanted = wanted_adapters(offered, Kind::vllm, "/data", "/mnt");
  EXPECT_EQ(wanted[0].path, "/data2/a");
  EXPECT_EQ(wanted[1].path, "/mnt/b");
  EXPECT_EQ(wanted_adapters(offered, Kind::vllm, "/data", "")[1].path, "/data/b");
}

TEST(UpstreamSync, what_cannot_be_handed_over_has_a_reason) {
  const std::vector<OfferedAdapter> offered{{"a", 1, "/data/a", true}, {"b", 2, "/data/b"}};
  const auto vllm = wanted_adapters(offered, Kind::vllm, "/data", "");
  EXPECT_THAT(vllm[0].hindrance, HasSubstr("alpha_pattern"));
  EXPECT_THAT(vllm[1].hindrance, IsEmpty());
  EXPECT_THAT(wanted_adapters(offered, Kind::sglang, "/data", "")[0].hindrance, HasSubstr("by SGLang"));
  EXPECT_THAT(wanted_adapters(offered, Kind::openai, "/data", "")[1].hindrance, HasSubstr("no calls"));
  EXPECT_THAT(steps(vllm, {}, {}, "/data"), ElementsAre(Step{Action::load, "b", "/data/b"}));
}

struct Row {
  const char* what;
  std::vector<ListedModel> listed;
  std::map<std::string, std::string, std::less<>> handed;
  std::vector<Step> steps;
};

TEST(UpstreamSync, lists_lead_to_steps) {
  const ListedModel base{.id = "llama"};
  const std::vector<OfferedAdapter> offered{{"a", 1, "/data/a~1"}, {"b", 2, "/data/b~2"}};
  const auto wanted = wanted_adapters(offered, Kind::vllm, "/data", "");
  const ListedModel a{.id = "a", .root = "/data/a~1", .parent = "llama"};
  const ListedModel b{.id = "b", .root = "/data/b~2", .parent = "llama"};
  const Step load_a{Action::load, "a", "/data/a~1"}, load_b{Action::load, "b", "/data/b~2"};
  const std::vector<Row> rows{
      {"it has all", {base, a, b}, {}, {}},
      {"it was started anew, whatever we have loaded",
       {base},
       {{"a", "/data/a~1"}, {"b", "/data/b~2"}},
       {load_a, load_b}},
      {"one is missing", {base, b}, {}, {load_a}},
      {"another version",
       {base, {.id = "a", .root = "/data/a~0", .parent = "llama"}, b},
       {},
       {{Action::replace, "a", "/data/a~1"}}},
      {"no directory said: ours", {base, {.id = "a", .parent = "llama"}, b}, {{"a", "/data/a~1"}}, {}},
      {"no directory said: ours, of another version",
       {base, {.id = "a", .parent = "llama"}, b},
       {{"a", "/data/a~0"}},
       {{Action::replace, "a", "/data/a~1"}}},
      {"no directory said: not by us",
       {base, {.id = "a", .parent = "llama"}, b},
       {},
       {{Action::replace, "a", "/data/a~1"}}},
      {"one that is gone, from our directory",
       {base, a, b, {.id = "old", .root = "/data/old~1", .parent = "llama"}},
       {},
       {{Action::unload, "old"}}},
      {"one that is gone, by us",
       {base, a, b, {.id = "old", .parent = "llama"}},
       {{"old", "x"}},
       {{Action::unload, "old"}}},
      {"one of somebody else", {base, a, b, {.id = "else", .root = "/data2/else", .parent = "llama"}}, {}, {}},
      {"a model of that name is no adapter", {base, {.id = "a"}, b}, {}, {load_a}},
      {"unloading first",
       {base, {.id = "old", .root = "/data/old", .parent = "llama"}},
       {},
       {{Action::unload, "old"}, load_a, load_b}}};
  for (const Row& row : rows) EXPECT_EQ(steps(wanted, row.listed, row.handed, "/data"), row.steps) << row.what;
}

TEST(UpstreamSync, of_a_list_only_what_others_have_loaded_is_passed_on_as_it_is) {
  const std::vector<OfferedAdapter> offered{{"a", 1, "/data/a~1"}, {"p", 2, "/data/p", true}};
  const auto others = of_others(wanted_adapters(offered, Kind::vllm, "/data", ""),
                                {{.id = "llama"},
                                 {.id = "a", .root = "/data/a~1", .parent = "llama"},
                                 {.id = "p", .root = "/data2/p", .parent = "llama"},
                                 {.id = "old", .root = "/data/old", .parent = "llama"},
                                 {.id = "handed", .parent = "llama"},
                                 {.id = "theirs", .root = "/data2/x", .parent = "llama"},
                                 {.id = "second"}},
                                {{"handed", "/data/handed"}}, "/data");
  std::vector<std::string> names;
  for (const ListedModel& each : others) names.push_back(each.id);
  EXPECT_THAT(names, ElementsAre("llama", "theirs", "second"));
}

TEST(UpstreamSync, answers_to_calls_lead_on) {
  EXPECT_EQ(after(Action::load, 200, "Success"), Next::done);
  EXPECT_EQ(after(Action::load, 400, "The lora adapter 'a' has already been loaded."), Next::unload_and_load);
  EXPECT_EQ(after(Action::replace, 400, "has already been loaded"), Next::unload_and_load);
  EXPECT_EQ(after(Action::load, 400, "rank 64 is greater than max_lora_rank 16"), Next::failed);
  EXPECT_EQ(after(Action::load, 404, ""), Next::failed);
  EXPECT_EQ(after(Action::load, 0, ""), Next::failed);
  EXPECT_EQ(after(Action::unload, 404, ""), Next::done);
  EXPECT_EQ(after(Action::unload, 400, "LoRA adapter a is not loaded"), Next::done) << "SGLang's";
  EXPECT_EQ(after(Action::unload, 400, "lora_name is missing"), Next::failed);
  EXPECT_EQ(after(Action::unload, 500, "already"), Next::failed);
}

}  // namespace
}  // namespace stackgate::inference::upstream
