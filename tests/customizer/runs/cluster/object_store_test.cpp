#include "services/customizer/runs/cluster/object_store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/kit/json/read.hpp"
#include "tests/support/parsed.hpp"

namespace stackgate::customizer {
namespace {

using test::Parsed;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Parsed object(const std::string& name, int version, const std::string& more = "", const std::string& status = "") {
  return Parsed(
      fmt::format(R"({{"metadata":{{"name":"{0}","uid":"u-{0}","resourceVersion":"{1}"{2}}},"status":{{{3}}}}})", name,
                  version, more, status));
}

TEST(Groups, are_read_from_names_of_ours_only) {
  for (const auto& [name, group] : {std::pair{"cust-1a2b", "cust-1a2b"},
                                    {"cust-1a2b-training-1-x7", "cust-1a2b"},
                                    {"model-0123456789abcdef-9b2xk", "model-0123456789abcdef"},
                                    {"custom-1a", ""},
                                    {"cust-", ""},
                                    {"cust-1a2bx-training-1", ""},
                                    {"model-server", ""},
                                    {"", ""}})
    EXPECT_EQ(group_of(name), group) << name;
}

TEST(Kept, belongs_to_whom_it_is_about) {
  const Parsed event(
      R"({"metadata":{"name":"x.17"},"involvedObject":{"name":"cust-1a-training-1-x7"},"reason":"FailedCreate","message":"m"})");
  const KeptPtr kept = keep(Kind::event, *event);
  EXPECT_EQ(kept->group, "cust-1a");
  EXPECT_EQ(kept->of, "cust-1a-training-1-x7");
  EXPECT_EQ(json::text(&kept->object->root(), {"reason"}), "FailedCreate");
  const Parsed workload(
      R"({"metadata":{"name":"job-cust-1a-9","ownerReferences":[{"kind":"Job","name":"cust-1a-training-1","uid":"j"}]}})");
  EXPECT_EQ(keep(Kind::workload, *workload)->of, "cust-1a-training-1");
  const Parsed older(R"({"metadata":{"name":"cust-1a-training-1"}})");
  EXPECT_EQ(keep(Kind::pod_group, *older)->of, "cust-1a-training-1");
  const Parsed foreign(R"({"metadata":{"name":"web-1"}})");
  EXPECT_EQ(keep(Kind::pod, *foreign), nullptr);
}

TEST(Kept, holds_what_states_are_read_from_and_no_templates) {
  const Parsed job(
      R"({"metadata":{"name":"cust-1a-training-1","labels":{"a":"b"},"managedFields":[1]},"spec":{"suspend":true,"template":{"spec":{}}},"status":{"active":1}})");
  EXPECT_EQ(
      json::to_json(keep(Kind::job, *job)->object->root()),
      R"({"metadata":{"name":"cust-1a-training-1","labels":{"a":"b"}},"spec":{"suspend":true},"status":{"active":1}})");
  const auto spec_of = [](const std::string& phase) {
    const Parsed pod(
        R"({"metadata":{"name":"cust-1a-x"},"spec":{"nodeName":"n","restartPolicy":"Never","volumes":[1]},"status":{"phase":")" +
        phase + "\"}}");
    return json::to_json(*keep(Kind::pod, *pod)->object->root().find("spec"));
  };
  EXPECT_EQ(spec_of("Running"), R"({"nodeName":"n","restartPolicy":"Never"})");
  EXPECT_EQ(spec_of("Pending"), R"({"nodeName":"n","restartPolicy":"Never","volumes":[1]})");
}

TEST(ObjectStore, keeps_the_newest_whoever_reports_it) {
  ObjectStore store;
  const auto sink = store.sink(Kind::job);
  store.wrote(Kind::job, *object("cust-1a-download-1", 5));
  sink->upsert(*object("cust-1a-download-1", 7, "", R"("active":1)"));
  store.wrote(Kind::job, *object("cust-1a-download-1", 6));
  ASSERT_THAT(store.of("cust-1a"), SizeIs(1));
  EXPECT_EQ(store.of("cust-1a")[0]->version, 7U);
  EXPECT_THAT(store.take_changed(), ElementsAre("cust-1a"));
  EXPECT_THAT(store.take_changed(), IsEmpty());
  // One that was made anew has another uid, whatever its version.
  const Parsed anew(R"({"metadata":{"name":"cust-1a-download-1","uid":"other","resourceVersion":"1"}})");
  store.wrote(Kind::job, *anew);
  EXPECT_EQ(store.of("cust-1a")[0]->uid, "other");
  sink->remove(*object("cust-1a-download-1", 8));
  EXPECT_THAT(store.of("cust-1a"), SizeIs(1)) << "it was another one that went";
  sink->remove(*anew);
  EXPECT_THAT(store.of("cust-1a"), IsEmpty());
}

TEST(ObjectStore, forgets_what_a_list_does_not_have) {
  ObjectStore store;
  const auto jobs = store.sink(Kind::job), pods = store.sink(Kind::pod);
  jobs->upsert(*object("cust-1a-download-1", 1));
  jobs->upsert(*object("cust-2b-download-1", 1));
  pods->upsert(*object("cust-1a-download-1-x", 1));
  (void)store.take_changed();
  jobs->relist_began();
  jobs->upsert(*object("cust-2b-download-1", 1));
  jobs->relist_ended();
  ASSERT_THAT(store.of("cust-1a"), SizeIs(1));
  EXPECT_EQ(store.of("cust-1a")[0]->kind, Kind::pod);
  EXPECT_THAT(store.of("cust-2b"), SizeIs(1));
  EXPECT_THAT(store.take_changed(), ElementsAre("cust-1a"));
}

TEST(ObjectStore, reports_changes_as_they_come) {
  ObjectStore store;
  int calls = 0;
  store.on_change([&] { ++calls; });
  store.sink(Kind::pod)->upsert(*object("cust-1a-x", 1));
  store.sink(Kind::pod)->upsert(*object("web-1", 1));
  EXPECT_EQ(calls, 1);
  store.on_change({});
  store.sink(Kind::pod)->upsert(*object("cust-1a-x", 2));
  EXPECT_EQ(calls, 1);
}

TEST(ObjectStore, knows_whose_customizations_are_there) {
  ObjectStore store;
  const std::string ours = R"(,"ownerReferences":[{"kind":"StackCustomizer","name":"c","uid":"ours"}])";
  const std::string others = R"(,"ownerReferences":[{"kind":"StackCustomizer","name":"d","uid":"others"}])";
  store.wrote(Kind::claim, *object("cust-1a", 1, ours));
  store.wrote(Kind::claim, *object("cust-2b", 1, others));
  store.wrote(Kind::pod, *object("cust-3c-x", 1, ours));
  store.wrote(Kind::claim, *object("cust-4d", 1, ours + R"(,"deletionTimestamp":"2026-11-26T21:00:00Z")"));
  store.wrote(Kind::job, *object("cust-5e-download-1", 1, ours));
  store.deleted(*store.of("cust-5e")[0]);
  EXPECT_THAT(store.groups_of_owner("ours"), ElementsAre("cust-1a"));
}

}  // namespace
}  // namespace stackgate::customizer
