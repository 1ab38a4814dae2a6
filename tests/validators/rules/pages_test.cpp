// Every rule's page is true: its bad examples break the rule and no other, its good ones break none.
#include <algorithm>

#include <gtest/gtest.h>

#include "services/kit/schema/findings.hpp"
#include "tests/support/table_lookup.hpp"
#include "tests/validators/rules/samples.hpp"

namespace stackgate::validate::tests {
namespace {

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

INSTANTIATE_TEST_SUITE_P(All, RulePages, testing::Range<std::size_t>(0, rule_pages().size()), [](const auto& each) {
  std::string name(rule_pages()[each.param].rule.id);
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

TEST(RulePagesOfTheSchema, ExistForEveryFault) {
  using schema::Fault;
  for (const Fault fault :
       {Fault::type, Fault::null_value, Fault::required, Fault::unknown, Fault::enumeration, Fault::range,
        Fault::length, Fault::pattern, Fault::format, Fault::duplicate, Fault::combination}) {
    const RulePage* page = rule_page(schema::rule_id(fault));
    ASSERT_NE(page, nullptr) << schema::rule_id(fault);
    EXPECT_EQ(page->rule.severity, Severity::error) << page->rule.id;
  }
}

}  // namespace
}  // namespace stackgate::validate::tests
