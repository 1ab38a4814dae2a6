// Every rule's page is true: its bad examples break the rule and no other, its good ones break none.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/validators/rules/samples.hpp"
#include "validators/children.hpp"

namespace stackgate::validate::tests {
namespace {

/// The objects of an example's ```yaml cluster block.
class TableLookup : public Lookup {
 public:
  explicit TableLookup(std::string_view yaml) : text_(yaml), objects_(yaml::parse(text_)) {
    if (objects_.failed) throw std::runtime_error("cluster: " + objects_.error.message);
  }

  Referred find(Referent kind, std::string_view ns, std::string_view name) override {
    static const std::map<Referent, std::string_view> kinds{
        {Referent::secret, "Secret"},
        {Referent::config_map, "ConfigMap"},
        {Referent::persistent_volume_claim, "PersistentVolumeClaim"},
        {Referent::service_account, "ServiceAccount"},
        {Referent::inference_cache, "InferenceCache"},
        {Referent::storage_class, "StorageClass"},
        {Referent::priority_class, "PriorityClass"},
        {Referent::runtime_class, "RuntimeClass"}};
    for (const json::Document& each : objects_.documents) {
      const json::Value& object = each.root;
      if (text(object, {"kind"}) != kinds.at(kind) || text(object, {"metadata", "name"}) != name) continue;
      if (!ns.empty() && namespace_of(object) != ns) continue;
      return describe(object);
    }
    return {.presence = Presence::absent, .keys = {}, .type = {}, .state = {}, .access_modes = {}};
  }

  bool neighbours(std::string_view ns, std::vector<Neighbour>& out) override {
    for (const json::Document& each : objects_.documents) {
      const auto kind = crds::kind_named(text(each.root, {"kind"}));
      if (!kind || namespace_of(each.root) != ns) continue;
      out.push_back(describe_neighbour(*kind, each.root));
    }
    return true;
  }

 private:
  static std::string_view text(const json::Value& object, std::initializer_list<std::string_view> path) {
    const json::Value* at = &object;
    for (const std::string_view key : path) {
      at = at->find(key);
      if (at == nullptr) return {};
    }
    return at->string();
  }
  static std::string_view namespace_of(const json::Value& object) {
    const std::string_view written = text(object, {"metadata", "namespace"});
    return written.empty() ? "default" : written;
  }
  static Referred describe(const json::Value& object) {
    Referred out{.presence = Presence::present, .keys = {}, .type = {}, .state = {}, .access_modes = {}};
    for (const std::string_view field : {"data", "stringData", "binaryData"})
      if (const json::Value* data = object.find(field))
        for (const json::Member& member : data->members()) out.keys.emplace_back(member.key);
    out.type = text(object, {"type"});
    out.state = text(object, {"status", "state"});
    if (const json::Value* spec = object.find("spec"))
      if (const json::Value* modes = spec->find("accessModes"))
        for (const json::Value& mode : modes->items()) out.access_modes.emplace_back(mode.string());
    return out;
  }
  static Neighbour describe_neighbour(crds::Kind kind, const json::Value& object) { return neighbour_of(kind, object); }

  std::string text_;
  yaml::Stream objects_;
};

std::string described(const Findings& findings) {
  std::string out;
  for (const Finding& each : findings)
    out += (each.severity == Severity::error ? "\n  error " : "\n  warning ") + each.path + ": " + to_line(each);
  return out.empty() ? " nothing" : out;
}

std::string_view block(const RulePage& page, std::string_view label) {
  for (const Example& each : page.examples)
    if (each.label == label) return each.yaml;
  return {};
}

std::string kind_in(std::string_view yaml) {
  const Sample patch{std::string(yaml)};
  const json::Value* kind = patch.value().find("kind");
  return kind == nullptr ? "" : std::string(kind->string());
}

Findings run_example(const RulePage& page, const Example& example) {
  const auto kind = crds::kind_named(kind_in(example.yaml));
  if (!kind) throw std::runtime_error("the example names none of the eight kinds");
  const auto object = sample(*kind, example.yaml);
  const std::string_view stored_patch = block(page, "stored");
  const auto stored = stored_patch.empty() ? nullptr : sample(*kind, stored_patch);
  const std::string_view cluster = block(page, "cluster");
  TableLookup lookup(cluster);
  Lookup* const asked = cluster.empty() ? nullptr : &lookup;
  Request request{
      .kind = *kind, .object = &object->value(), .old = stored ? &stored->value() : nullptr, .ns = "default"};
  if (page.rule.id.ends_with("-deletion") || page.rule.id.starts_with("deletion-"))
    return review_deletion(request, asked);
  return review(request, asked);
}

class RulePages : public testing::TestWithParam<std::size_t> {};

TEST_P(RulePages, ExamplesDoWhatTheySay) {
  const RulePage& page = rule_pages()[GetParam()];
  for (const Example& example : page.examples) {
    if (example.label != "bad" && example.label != "good") continue;
    SCOPED_TRACE("validators/pages/" + std::string(page.rule.id) + ".md, " + std::string(example.label) + ":\n" +
                 std::string(example.yaml));
    Findings findings;
    ASSERT_NO_THROW(findings = run_example(page, example));
    const auto of_this_rule = [&](const Finding& each) { return each.rule == page.rule.id; };
    if (example.label == "good") {
      EXPECT_TRUE(std::ranges::none_of(findings, of_this_rule)) << described(findings);
      EXPECT_FALSE(has_errors(findings)) << described(findings);
      continue;
    }
    EXPECT_TRUE(std::ranges::any_of(
        findings, [&](const Finding& each) { return of_this_rule(each) && each.severity == page.rule.severity; }))
        << "the rule finds nothing of its severity; found:" << described(findings);
    EXPECT_TRUE(std::ranges::none_of(
        findings, [&](const Finding& each) { return !of_this_rule(each) && each.severity == Severity::error; }))
        << "errors of other rules:" << described(findings);
    for (const Finding& each : findings) {
      EXPECT_FALSE(each.problem.empty() || each.fix.empty()) << "a finding says what is wrong and what to write";
      EXPECT_FALSE(each.problem.ends_with('.') || each.fix.ends_with('.')) << to_line(each);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RulePages, testing::Range<std::size_t>(0, rule_pages().size()), [](const auto& info) {
  std::string name(rule_pages()[info.param].rule.id);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(RulePageList, IsSortedAndSaysWhy) {
  EXPECT_TRUE(std::ranges::is_sorted(rule_pages(), {}, [](const RulePage& page) { return page.rule.id; }));
  for (const RulePage& page : rule_pages()) {
    EXPECT_GT(page.why.size(), 60U) << page.rule.id << ": say what would happen in the cluster";
    EXPECT_FALSE(page.title.ends_with('.')) << page.rule.id;
  }
}

}  // namespace
}  // namespace stackgate::validate::tests
