#include <gtest/gtest.h>

#include "reconcile/compare/plan_hash.hpp"
#include "reconcile/compare/verdict.hpp"
#include "reconcile/ownership.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::reconcile {
namespace {

struct Parsed {
  explicit Parsed(std::string json) : text(std::move(json)) {
    EXPECT_TRUE(json::parse(text, document).has_value()) << text;
  }
  const json::Value& root() const { return document.root; }
  std::string text;
  json::Document document;
};

struct DifferenceCase {
  const char* name;
  const char* desired;
  const char* live;
  const char* place;  // nullptr: none
};

class Difference : public ::testing::TestWithParam<DifferenceCase> {};

TEST_P(Difference, is_found_where_it_is) {
  const auto& [name, desired, live, place] = GetParam();
  const auto found = first_difference(Parsed(desired).root(), Parsed(live).root());
  EXPECT_EQ(found.value_or("(none)"), place == nullptr ? "(none)" : place);
}

INSTANTIATE_TEST_SUITE_P(
    All, Difference,
    ::testing::Values(
        DifferenceCase{"what_the_server_added_does_not_matter", R"({"spec":{"a":1}})",
                       R"({"spec":{"a":1,"clusterIP":"10.0.0.1"},"status":{}})", nullptr},
        DifferenceCase{"items_of_a_list_do_not_say_what_they_are",
                       R"({"apiVersion":"v1","kind":"Secret","roleRef":{"kind":"Role"}})",
                       R"({"roleRef":{"kind":"Role"}})", nullptr},
        DifferenceCase{"a_kind_further_in_is_compared", R"({"roleRef":{"kind":"Role"}})",
                       R"({"roleRef":{"kind":"ClusterRole"}})", "roleRef.kind"},
        DifferenceCase{"another_value", R"({"spec":{"replicas":2}})", R"({"spec":{"replicas":3}})", "spec.replicas"},
        DifferenceCase{"a_missing_field", R"({"spec":{"type":"NodePort"}})", R"({"spec":{}})", "spec.type"},
        DifferenceCase{"zero_values_are_not_stored", R"({"a":0,"b":"","c":false,"d":[],"e":{},"f":null,"g":{"h":""}})",
                       "{}", nullptr},
        DifferenceCase{"a_stored_value_where_zero_is_wanted", R"({"replicas":0})", R"({"replicas":1})", "replicas"},
        DifferenceCase{"a_container_by_name", R"({"containers":[{"name":"server","image":"a:2"}]})",
                       R"({"containers":[{"name":"sidecar"},{"name":"server","image":"a:1"}]})",
                       "containers[server].image"},
        DifferenceCase{"more_named_items_are_other_peoples", R"({"env":[{"name":"A","value":"1"}]})",
                       R"({"env":[{"name":"B","value":"2"},{"name":"A","value":"1"}]})", nullptr},
        DifferenceCase{"a_missing_named_item", R"({"env":[{"name":"A","value":"1"}]})", R"({"env":[]})", "env[A]"},
        DifferenceCase{"mounts_go_by_their_path", R"({"volumeMounts":[{"mountPath":"/b","name":"v"}]})",
                       R"({"volumeMounts":[{"mountPath":"/a","name":"w"},{"mountPath":"/b","name":"v"}]})", nullptr},
        DifferenceCase{"other_lists_are_whole", R"({"rules":[{"verbs":["get"]}]})",
                       R"({"rules":[{"verbs":["get"]},{"verbs":["*"]}]})", "rules"},
        DifferenceCase{"inside_of_a_whole_list", R"({"rules":[{"verbs":["get"]}]})", R"({"rules":[{"verbs":["*"]}]})",
                       "rules[0].verbs[0]"},
        DifferenceCase{"another_type", R"({"port":8000})", R"({"port":"8000"})", "port"},
        DifferenceCase{"an_empty_volume_source_is_kept", R"({"volumes":[{"name":"t","emptyDir":{}}]})",
                       R"({"volumes":[{"name":"t","emptyDir":{}}]})", nullptr}),
    [](const auto& each) { return std::string(each.param.name); });

const char* const body =
    R"({"kind":"Deployment","metadata":{"name":"a","annotations":{"x":"y"}},"spec":{"replicas":2,"p":1}})";

TEST(Stamp, stands_among_the_annotations) {
  const Parsed parsed(body);
  const std::string out = with_plan_hash(parsed.root(), "00ff");
  EXPECT_EQ(
      out,
      R"({"kind":"Deployment","metadata":{"name":"a","annotations":{"x":"y","stackgate.dev/plan":"00ff"}},"spec":{"replicas":2,"p":1}})");
  EXPECT_EQ(plan_hash_of(Parsed(out).root()), "00ff");
  EXPECT_EQ(plan_hash_of(parsed.root()), "");
}

TEST(Stamp, replaces_an_older_one) {
  const Parsed once(with_plan_hash(Parsed(body).root(), "1"));
  EXPECT_EQ(plan_hash_of(Parsed(with_plan_hash(once.root(), "2")).root()), "2");
}

TEST(PlanHash, changes_with_every_field_but_followed_replicas) {
  const Parsed two(body);
  const Parsed three(
      R"({"kind":"Deployment","metadata":{"name":"a","annotations":{"x":"y"}},"spec":{"replicas":3,"p":1}})");
  EXPECT_NE(plan_hash(two.root(), false), plan_hash(three.root(), false));
  EXPECT_EQ(plan_hash(two.root(), true), plan_hash(three.root(), true));
  EXPECT_EQ(plan_hash(two.root(), false).size(), 33U);
}

struct ShapeCase {
  const char* name;
  const char* one;
  const char* other;
  bool same;
};

class Shape : public ::testing::TestWithParam<ShapeCase> {};

TEST_P(Shape, changes_with_fields_and_named_items) {
  const auto& [name, one, other, same] = GetParam();
  EXPECT_EQ(same_shape(plan_hash(Parsed(one).root(), false), plan_hash(Parsed(other).root(), false)), same);
}

INSTANTIATE_TEST_SUITE_P(
    All, Shape,
    ::testing::Values(ShapeCase{"another_value", R"({"image":"a:1"})", R"({"image":"a:2"})", true},
                      ShapeCase{"a_field_less", R"({"image":"a","x":1})", R"({"image":"a"})", false},
                      ShapeCase{"a_label_renamed", R"({"labels":{"a":"1"}})", R"({"labels":{"b":"1"}})", false},
                      ShapeCase{"an_item_less", R"({"args":["a","b"]})", R"({"args":["a"]})", false},
                      ShapeCase{"a_variable_renamed", R"({"env":[{"name":"A"}]})", R"({"env":[{"name":"B"}]})", false},
                      ShapeCase{"a_mount_moved", R"({"m":[{"mountPath":"/a"}]})", R"({"m":[{"mountPath":"/b"}]})",
                                false},
                      ShapeCase{"another_port", R"({"ports":[{"port":80}]})", R"({"ports":[{"port":81}]})", false},
                      ShapeCase{"another_type", R"({"target":80})", R"({"target":"http"})", false},
                      ShapeCase{"a_level_deeper", R"({"a":{"b":1},"c":1})", R"({"a":{"b":1,"c":1}})", false}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(SameShape, is_not_told_from_stamps_of_another_kind) {
  EXPECT_FALSE(same_shape("", ""));
  EXPECT_FALSE(same_shape("00ff", "00ff"));
}

struct VerdictCase {
  const char* name;
  const char* found;  // nullptr: none
  Ownership ownership;
  bool ours;
  bool keep, owned;
  Need need;
  const char* why;
};

constexpr Ownership own = Ownership::own, orphan = Ownership::orphan, left_over = Ownership::left_over,
                    foreign = Ownership::foreign;

class Judged : public ::testing::TestWithParam<VerdictCase> {};

TEST_P(Judged, child_gets_its_verdict) {
  const VerdictCase& each = GetParam();
  const Parsed wanted(R"({"metadata":{"name":"a"},"spec":{"replicas":1}})");
  const Parsed found(each.found == nullptr ? "{}" : each.found);
  const Verdict verdict = judge(
      {.body = wanted.root(), .hash = "aa", .keep = each.keep, .owned = each.owned, .adopts = !each.keep},
      {.object = each.found == nullptr ? nullptr : &found.root(), .ownership = each.ownership, .ours = each.ours});
  EXPECT_EQ(verdict.need, each.need);
  EXPECT_EQ(verdict.why, each.why);
  EXPECT_EQ(verdict.drift, std::string_view(each.why).ends_with(" was changed"));
}

constexpr const char* settled =
    R"({"metadata":{"name":"a","annotations":{"stackgate.dev/plan":"aa"}},"spec":{"replicas":1}})";
INSTANTIATE_TEST_SUITE_P(
    All, Judged,
    ::testing::Values(
        VerdictCase{"missing", nullptr, foreign, false, false, true, Need::create, "missing"},
        VerdictCase{"settled", settled, own, true, false, true, Need::nothing, ""},
        VerdictCase{"planned_anew", R"({"metadata":{"annotations":{"stackgate.dev/plan":"bb"}},"spec":{"replicas":1}})",
                    own, true, false, true, Need::update, "new plan"},
        VerdictCase{"drifted",
                    R"({"metadata":{"name":"a","annotations":{"stackgate.dev/plan":"aa"}},"spec":{"replicas":5}})", own,
                    true, false, true, Need::update, "spec.replicas was changed"},
        VerdictCase{"kept", R"({"metadata":{"name":"a"},"spec":{"replicas":5}})", own, true, true, true, Need::nothing,
                    ""},
        VerdictCase{"foreign", settled, foreign, false, false, true, Need::taken, "not ours"},
        VerdictCase{"foreign_even_if_kept", settled, foreign, false, true, true, Need::taken, "not ours"},
        VerdictCase{"of_another_resource_of_the_operators", settled, foreign, true, false, true, Need::taken,
                    "not ours"},
        VerdictCase{"of_a_former_namesake", settled, left_over, true, false, true, Need::wait,
                    "its former owner is gone"},
        VerdictCase{"without_an_owner", settled, orphan, true, false, true, Need::adopt, "it has no owner"},
        VerdictCase{"without_an_owner_where_data_is_at_stake", settled, orphan, true, true, true, Need::taken,
                    "not ours"},
        VerdictCase{"ownerless_claim_of_ours", settled, orphan, true, true, false, Need::nothing, ""},
        VerdictCase{"ownerless_claim_of_others", settled, foreign, false, true, false, Need::taken, "not ours"},
        VerdictCase{"being_deleted", R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}})", own,
                    true, false, true, Need::wait, "it is being deleted"},
        VerdictCase{"without_an_owner_and_being_deleted",
                    R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}})", orphan, true, false,
                    true, Need::wait, "it is being deleted"}),
    [](const auto& each) { return std::string(each.param.name); });

struct OwnershipCase {
  const char* name;
  const char* references;  // items of metadata.ownerReferences
  const char* labels;      // nullptr: the operator's, for InferenceService llm
  bool with_plan_hash;
  Ownership whose;
};

class OwnershipOf : public ::testing::TestWithParam<OwnershipCase> {};

TEST_P(OwnershipOf, a_child_by_owners_labels_and_mark) {
  const OwnershipCase& each = GetParam();
  constexpr const char* operators = R"("app.kubernetes.io/managed-by":"stackgate","app.kubernetes.io/instance":"llm",)"
                                    R"("app.kubernetes.io/component":"inference")";
  const Parsed object(std::string(R"({"metadata":{"ownerReferences":[)") + each.references + R"(],"labels":{)" +
                      (each.labels == nullptr ? operators : each.labels) + "}" +
                      (each.with_plan_hash ? R"(,"annotations":{"stackgate.dev/plan":"aa"})" : "") + "}}");
  EXPECT_EQ(ownership_of(object.root(), crds::Kind::inference_service, "llm", "uid-1"), each.whose);
}

INSTANTIATE_TEST_SUITE_P(
    All, OwnershipOf,
    ::testing::Values(
        OwnershipCase{"owned", R"({"uid":"uid-1","controller":true})", nullptr, true, own},
        OwnershipCase{"owned_though_its_labels_were_changed", R"({"uid":"uid-1","controller":true})", "", false, own},
        OwnershipCase{"owned_beside_another", R"({"uid":"x"},{"uid":"uid-1","controller":true})", nullptr, true, own},
        OwnershipCase{"no_owner", "", nullptr, true, orphan},
        OwnershipCase{"an_owner_that_lost_its_control", R"({"uid":"uid-1"})", nullptr, true, orphan},
        OwnershipCase{"no_owner_nor_mark", "", nullptr, false, foreign},
        OwnershipCase{"no_owner_nor_labels", "", "", true, foreign},
        OwnershipCase{"of_another_name", "",
                      R"("app.kubernetes.io/managed-by":"stackgate","app.kubernetes.io/instance":"other",)"
                      R"("app.kubernetes.io/component":"inference")",
                      true, foreign},
        OwnershipCase{"of_another_kind", "",
                      R"("app.kubernetes.io/managed-by":"stackgate","app.kubernetes.io/instance":"llm",)"
                      R"("app.kubernetes.io/component":"guardrail")",
                      true, foreign},
        OwnershipCase{"managed_by_another", "",
                      R"("app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/instance":"llm",)"
                      R"("app.kubernetes.io/component":"inference")",
                      true, foreign},
        OwnershipCase{"of_a_namesake_that_is_gone",
                      R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","name":"llm","uid":"uid-0",)"
                      R"("controller":true})",
                      nullptr, true, left_over},
        OwnershipCase{"a_stranger_owns_it", R"({"apiVersion":"v1","kind":"ConfigMap","name":"keep","uid":"uid-0"})",
                      nullptr, true, foreign}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace stackgate::reconcile
