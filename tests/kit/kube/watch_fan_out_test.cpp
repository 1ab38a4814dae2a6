#include "services/kit/kube/watch_fan_out.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/kube/cache.hpp"
#include "services/kit/kube/crd_names.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Writes down what it is told.
class Diary final : public WatchSink {
 public:
  void relist_began() override { lines.emplace_back("began"); }
  void upsert(const json::Value& object) override { note("+", object); }
  void remove(const json::Value& object) override { note("-", object); }
  void relist_ended() override { lines.emplace_back("ended"); }
  std::vector<std::string> take() { return std::exchange(lines, {}); }

  std::vector<std::string> lines;

 private:
  void note(const char* sign, const json::Value& object) {
    lines.push_back(sign + std::string(metadata(object, "namespace")) + "/" + std::string(metadata(object, "name")));
  }
};

Object object(const std::string& ns, const std::string& name, const std::string& uid = "", int version = 1) {
  bool valid = false;
  Object out = Object::parse(R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"(","uid":")" + uid +
                                 R"(","resourceVersion":")" + std::to_string(version) + R"("}})",
                             valid);
  EXPECT_TRUE(valid);
  return out;
}

TEST(FanOut, tells_every_sink_everything_in_order) {
  FanOut fan_out;
  const auto a = std::make_shared<Diary>(), b = std::make_shared<Diary>();
  fan_out.add(a);
  fan_out.add(b);
  fan_out.relist_began();
  fan_out.upsert(object("x", "1").root());
  fan_out.relist_ended();
  fan_out.remove(object("x", "1").root());
  EXPECT_THAT(a->take(), ElementsAre("began", "+x/1", "ended", "-x/1"));
  EXPECT_THAT(b->take(), ElementsAre("began", "+x/1", "ended", "-x/1"));
  fan_out.clear();
  EXPECT_THAT(b->take(), ElementsAre("began", "ended"));
}

struct Merge : testing::Test {
  Diary diary;
  NamespaceMerge merge{diary, {"x", "y"}};
  std::shared_ptr<WatchSink> x = merge.part(0), y = merge.part(1);
};

TEST_F(Merge, makes_one_first_list_of_all_namespaces) {
  x->relist_began();
  x->upsert(object("x", "1").root());
  y->relist_began();
  x->relist_ended();
  EXPECT_THAT(diary.take(), ElementsAre("began", "+x/1"));
  y->upsert(object("y", "1").root());
  y->relist_ended();
  EXPECT_THAT(diary.take(), ElementsAre("+y/1", "ended"));
}

TEST_F(Merge, removes_one_by_one_what_a_later_list_of_one_namespace_does_not_hold) {
  for (const auto& [ns, part] : {std::pair{"x", x}, std::pair{"y", y}}) {
    part->relist_began();
    part->upsert(object(ns, "1").root());
    part->upsert(object(ns, "2").root());
    part->relist_ended();
  }
  diary.take();
  x->upsert(object("x", "3").root());
  x->remove(object("x", "2").root());
  EXPECT_THAT(diary.take(), ElementsAre("+x/3", "-x/2"));
  x->relist_began();
  x->upsert(object("x", "1").root());
  x->relist_ended();
  EXPECT_THAT(diary.take(), ElementsAre("+x/1", "-x/3")) << "nothing is said of y";
}

TEST_F(Merge, forgets_what_a_list_told_that_broke_off) {
  x->relist_began();
  x->upsert(object("x", "1").root());
  x->relist_began();
  x->upsert(object("x", "2").root());
  x->relist_ended();
  EXPECT_THAT(diary.take(), ElementsAre("began", "+x/1", "+x/2", "-x/1"));
}

TEST_F(Merge, keeps_a_cache_true_while_namespaces_are_listed_again) {
  Cache<int> cache([](const json::Value&) { return 1; });
  NamespaceMerge merged(cache, {"x", "y"});
  for (const auto& [ns, part] : {std::pair{"x", merged.part(0)}, std::pair{"y", merged.part(1)}}) {
    part->relist_began();
    part->upsert(object(ns, "1").root());
    part->relist_ended();
  }
  merged.part(0)->relist_began();
  merged.part(0)->relist_ended();
  EXPECT_FALSE(cache.find("x", "1"));
  EXPECT_TRUE(cache.find("y", "1"));
}

TEST_F(Merge, begins_anew_after_a_reset) {
  for (const auto& part : {x, y}) {
    part->relist_began();
    part->relist_ended();
  }
  diary.take();
  merge.reset();
  x->relist_began();
  x->relist_ended();
  y->relist_began();
  EXPECT_THAT(diary.take(), ElementsAre("began"));
  y->relist_ended();
  EXPECT_THAT(diary.take(), ElementsAre("ended"));
}

struct Definitions : testing::Test {
  std::vector<std::string> told;
  CrdNames names{[this](std::string_view name, CrdChange change) {
                   constexpr const char* words[] = {"appeared", "touched", "replaced", "vanished"};
                   told.push_back(std::string(name) + " " + words[static_cast<int>(change)]);
                 },
                 [this] { told.emplace_back("listed"); }};
  std::vector<std::string> take() { return std::exchange(told, {}); }
  void SetUp() override {
    names.want("a");
    names.relist_began();
    names.relist_ended();
    take();
  }
};

TEST_F(Definitions, come_change_and_go) {
  EXPECT_FALSE(names.exists("a"));
  names.upsert(object("", "a", "u1", 1).root());
  EXPECT_TRUE(names.exists("a"));
  names.upsert(object("", "a", "u1", 2).root());
  names.remove(object("", "a", "u1", 3).root());
  EXPECT_FALSE(names.exists("a"));
  names.remove(object("", "a", "u1", 3).root());
  EXPECT_THAT(take(), ElementsAre("a appeared", "a touched", "a vanished"));
}

TEST_F(Definitions, that_nobody_wants_are_passed_over) {
  names.upsert(object("", "b", "u1", 1).root());
  names.remove(object("", "b", "u1", 1).root());
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(Definitions, that_a_new_list_does_not_hold_have_vanished) {
  names.upsert(object("", "a", "u1", 1).root());
  take();
  names.relist_began();
  names.relist_ended();
  EXPECT_THAT(take(), ElementsAre("a vanished", "listed"));
}

TEST_F(Definitions, that_are_listed_again_unchanged_are_no_news) {
  names.upsert(object("", "a", "u1", 1).root());
  take();
  names.relist_began();
  names.upsert(object("", "a", "u1", 1).root());
  names.relist_ended();
  EXPECT_THAT(take(), ElementsAre("listed"));
}

TEST_F(Definitions, that_were_made_anew_unseen_are_others) {
  names.upsert(object("", "a", "u1", 1).root());
  take();
  names.relist_began();
  names.upsert(object("", "a", "u2", 9).root());
  names.relist_ended();
  EXPECT_THAT(take(), ElementsAre("a replaced", "listed"));
}

}  // namespace
}  // namespace stackgate::kube
