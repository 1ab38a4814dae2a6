#include "services/inference/adapters/catalogue/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference {
namespace {

using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Catalogue::Time start{std::chrono::hours(1)};

AdapterRecord record(std::string id, std::string name, std::string version = "1.0.0", std::string created = "") {
  return {
      .id = std::move(id), .name = std::move(name), .version = std::move(version), .created_at = std::move(created)};
}

std::vector<std::string> ids(const std::vector<CatalogueEntry>& entries) {
  std::vector<std::string> out;
  for (const CatalogueEntry& each : entries) out.push_back(each.record.id);
  return out;
}

class Adapters : public ::testing::Test {
 protected:
  /// Lists these, and all that is due comes to be fit.
  void serve(const std::vector<AdapterRecord>& records) {
    catalogue.take(records, true);
    for (const std::string& id : catalogue.begin_due(start, 100)) catalogue.succeeded(id, 8);
  }
  std::string who(std::string_view name) const {
    const CatalogueEntry* const found = catalogue.find(name);
    return found == nullptr ? "" : found->fitness == Fitness::fit ? found->record.id : "(" + found->record.id + ")";
  }

  Catalogue catalogue{{"base", "base@2.0.0"}, {"meta/llama-3.1-8b-instruct"}};
};

TEST_F(Adapters, the_highest_version_answers_to_the_name_and_each_to_its_own) {
  serve({record("a", "x", "1.2.0"), record("b", "x", "1.10.0"), record("c", "x", "1.10.0-rc.1")});
  EXPECT_EQ(who("x"), "b");
  EXPECT_EQ(who("x@1.2.0"), "a");
  EXPECT_EQ(who("x@1.10.0"), "b");
  EXPECT_EQ(who("x@1.10.0-rc.1"), "c");
  EXPECT_EQ(who("x@9.0.0"), "");
  EXPECT_EQ(who("y"), "");
}

TEST_F(Adapters, what_is_not_fit_yet_answers_only_when_nobody_else_does) {
  serve({record("a", "x", "1.0.0")});
  catalogue.take(std::vector{record("a", "x", "1.0.0"), record("b", "x", "2.0.0")}, true);
  EXPECT_EQ(who("x"), "a");
  EXPECT_EQ(who("x@2.0.0"), "(b)");
  EXPECT_THAT(catalogue.begin_due(start, 9), ElementsAre("b"));
  EXPECT_THAT(catalogue.begin_due(start, 9), IsEmpty()) << "it is under way";
  catalogue.failed("b", "does not fit", start);
  EXPECT_EQ(who("x"), "a");
  EXPECT_EQ(catalogue.find("x@2.0.0")->reason, "does not fit");
}

TEST_F(Adapters, only_a_whole_list_removes) {
  serve({record("a", "x"), record("b", "y")});
  EXPECT_THAT(catalogue.take({}, false), IsEmpty());
  EXPECT_EQ(who("x"), "a");
  EXPECT_THAT(ids(catalogue.take(std::vector{record("b", "y")}, true)), ElementsAre("a"));
  EXPECT_EQ(who("x"), "");
  EXPECT_EQ(who("y"), "b");
}

TEST_F(Adapters, a_record_that_comes_back_has_another_key) {
  serve({record("a", "x")});
  const std::uint64_t before = catalogue.of("a")->key;
  EXPECT_NE(before, 0);
  serve({});
  serve({record("a", "x")});
  EXPECT_GT(catalogue.of("a")->key, before);
}

TEST_F(Adapters, a_folder_that_is_written_anew_serves_until_the_new_files_are_fit) {
  serve({record("old", "x", "")});
  EXPECT_THAT(catalogue.take(std::vector{record("half", "x", "")}, true), IsEmpty());
  catalogue.begin_due(start, 9);
  catalogue.failed("half", "is cut", start);
  EXPECT_EQ(who("x"), "old");
  EXPECT_THAT(ids(catalogue.take(std::vector{record("new", "x", "")}, true)), ElementsAre("half"));
  EXPECT_EQ(who("x"), "old");
  catalogue.begin_due(start, 9);
  EXPECT_THAT(ids(catalogue.succeeded("new", 4)), ElementsAre("old"));
  EXPECT_EQ(who("x"), "new");
  EXPECT_EQ(catalogue.find("x")->rank, 4);
}

TEST_F(Adapters, a_version_that_fails_rests_longer_and_longer) {
  catalogue.take(std::vector{record("a", "x")}, true);
  Catalogue::Time now = start;
  for (const int rest : {1, 2, 4, 8, 16, 32, 60, 60}) {
    EXPECT_THAT(catalogue.begin_due(now, 9), ElementsAre("a"));
    catalogue.failed("a", "is broken", now);
    EXPECT_EQ(catalogue.next_due(), now + minutes(rest));
    EXPECT_THAT(catalogue.begin_due(now + minutes(rest) - std::chrono::seconds(1), 9), IsEmpty());
    now += minutes(rest);
  }
  catalogue.take(std::vector{record("a", "x")}, true);
  catalogue.begin_due(now, 9);
  catalogue.failed("a", "is broken", now);
  EXPECT_THAT(catalogue.begin_due(now, 9), IsEmpty());
  catalogue.retry_now();
  EXPECT_THAT(catalogue.begin_due(now, 9), ElementsAre("a"));
}

TEST_F(Adapters, what_may_pass_is_tried_within_seconds) {
  catalogue.take(std::vector{record("a", "x")}, true);
  for (const int rest : {2, 4, 8, 16, 32, 60, 60}) {
    catalogue.retry_now();
    EXPECT_THAT(catalogue.begin_due(start, 9), ElementsAre("a"));
    catalogue.failed("a", "no answer", start, true);
    EXPECT_EQ(catalogue.next_due(), start + std::chrono::seconds(rest));
  }
}

TEST_F(Adapters, a_changed_record_is_tried_at_once) {
  catalogue.take(std::vector{record("a", "x")}, true);
  catalogue.begin_due(start, 9);
  catalogue.failed("a", "is broken", start);
  catalogue.take(std::vector{record("a", "x", "1.0.0")}, true);
  EXPECT_THAT(catalogue.begin_due(start, 9), IsEmpty()) << "the same as before";
  catalogue.take(std::vector{record("a", "x", "1.0.1")}, true);
  EXPECT_THAT(catalogue.begin_due(start, 9), ElementsAre("a"));
  EXPECT_EQ(catalogue.of("a")->failures, 0);
}

TEST_F(Adapters, what_goes_while_it_is_got_has_no_effect) {
  catalogue.take(std::vector{record("a", "x")}, true);
  catalogue.begin_due(start, 9);
  catalogue.take({}, true);
  EXPECT_THAT(catalogue.succeeded("a", 8), IsEmpty());
  catalogue.failed("a", "is broken", start);
  EXPECT_EQ(who("x"), "");
}

TEST_F(Adapters, names_of_the_base_are_refused) {
  serve({record("a", "base", "3.0.0"), record("b", "base", "2.0.0")});
  EXPECT_EQ(who("base"), "");
  EXPECT_EQ(catalogue.of("a")->fitness, Fitness::refused);
  EXPECT_THAT(catalogue.of("a")->reason, HasSubstr("the base model is called \"base\""));
}

TEST_F(Adapters, who_was_registered_first_keeps_name_and_version) {
  serve({record("late", "x", "1.0.0", "2026-02-01T00:00:00Z"), record("zearly", "x", "1.0.0", "2026-01-01T00:00:00Z")});
  EXPECT_EQ(who("x"), "zearly");
  EXPECT_EQ(catalogue.of("late")->fitness, Fitness::refused);
  EXPECT_THAT(catalogue.of("late")->reason, HasSubstr("zearly"));
  serve({record("late", "x", "1.0.0", "2026-02-01T00:00:00Z")});
  EXPECT_EQ(who("x"), "late") << "the name is free now";
}

TEST_F(Adapters, those_of_another_base_are_left_out) {
  AdapterRecord other = record("a", "x"), same = record("b", "y"), unsaid = record("c", "z"), path = record("d", "w");
  other.base_model = "mistralai/mistral-7b";
  same.base_model = "meta-llama/Llama-3.1-8B-Instruct";
  path.base_model = "/models/llama";
  serve({other, same, unsaid, path});
  EXPECT_EQ(catalogue.left_out(), 1);
  EXPECT_EQ(who("x"), "");
  EXPECT_EQ(who("y"), "b");
  EXPECT_EQ(who("z"), "c");
  EXPECT_EQ(who("w"), "d");
}

TEST_F(Adapters, those_loaded_at_run_time_stay_whatever_is_listed) {
  EXPECT_THAT(catalogue.add_at_run_time(record("r", "x", ""), 8), IsEmpty());
  EXPECT_THAT(catalogue.begin_due(start, 9), IsEmpty());
  serve({});
  EXPECT_EQ(who("x"), "r");
  EXPECT_THAT(ids(catalogue.add_at_run_time(record("s", "x", ""), 8)), ElementsAre("r"));
  EXPECT_EQ(who("x"), "s");
  EXPECT_TRUE(catalogue.remove("s"));
  EXPECT_EQ(who("x"), "");
  EXPECT_FALSE(catalogue.remove("s"));
}

TEST_F(Adapters, what_is_on_the_disk_serves_before_the_first_list) {
  catalogue.add_fit(record("a", "x"), 8);
  EXPECT_EQ(who("x"), "a");
  EXPECT_THAT(catalogue.begin_due(start, 9), IsEmpty());
  EXPECT_THAT(catalogue.take(std::vector{record("a", "x")}, true), IsEmpty());
  EXPECT_EQ(who("x"), "a");
}

}  // namespace
}  // namespace stackgate::inference
