#include "services/kit/grammar/names.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::validate::grammar {
namespace {

using ::testing::HasSubstr;
using Check = std::optional<Problem> (*)(std::string_view);

struct Case {
  Check check;
  const char* name;
  std::vector<std::string> good, bad;
};

const std::string a63(63, 'a'), a64(64, 'a');
const std::string a253 = a63 + "." + a63 + "." + a63 + "." + std::string(61, 'a');

TEST(Names, FollowKubernetesRules) {
  const Case table[] = {
      {check_dns_label,
       "label",
       {"a", "0", "a-b", "a--b", a63, "9a"},
       {"", "A", "-a", "a-", "a.b", "a_b", a64, "a b", "é", "a\n"}},
      {check_dns1035_label, "1035", {"a", "a0", "a-b", a63}, {"", "0a", "-a", "a-", "a.b", a64, "A"}},
      {check_dns_subdomain,
       "subdomain",
       {"a", "a.b", "0.1", "a-b.c", a253, a64},
       {"", ".a", "a.", "a..b", "a.-b", "a-.b", "A.b", a253 + "a", "a_b", "*"}},
      {check_ingress_host, "host", {"a.b", "*.a.b"}, {"*", "*a", "*.", "a.*.b", "*.*.a", ""}},
      {check_label_key,
       "label key",
       {"a", "A", "a.b_c-d", "example.com/a", "a/B", a63, a253 + "/" + a63},
       {"", "/", "a/", "/a", "a/b/c", "A/b", "-a", "a-", a64, "a b", "example_com/a", a253 + "a/a", "a/" + a64}},
      {check_label_value, "label value", {"", "a", "A.b_c-9", a63}, {a64, "-a", "a-", "a/b", "a b", "é"}},
      {check_annotation_key, "annotation key", {"a", "Example.COM/A_b"}, {"", "a/b/c", "exa_mple/a", "/a"}},
      {check_taint_key, "taint key", {"nvidia.com/gpu", "gpu"}, {"", "a b"}},
      {check_env_name,
       "env",
       {"A", "_", "a.b", "-a", ".a", "a-b", std::string(500, 'A')},
       {"", "1A", "A B", "A=B", ".", "..", "..a", "A$", "é"}},
      {check_config_key,
       "config key",
       {"a", "0", ".a", "-", "A_b.c-d", std::string(253, 'a')},
       {"", ".", "..", "..a", "a/b", "a b", std::string(254, 'a')}},
      {check_resource_name,
       "resource",
       {"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu", "example.com/A_b", "kubernetes.io/x",
        std::string(244, 'a') + "/a"},
       {"", "gpu", "CPU", "storage", "hugepages-", "hugepages-x", "hugepages--2Mi", "requests.nvidia.com/gpu",
        "nvidia.com/", "/gpu", "a/b/c", std::string(245, 'a') + "/a"}},
  };
  for (const Case& each : table) {
    for (const std::string& text : each.good)
      EXPECT_FALSE(each.check(text)) << each.name << " " << text << ": " << each.check(text)->problem;
    for (const std::string& text : each.bad) {
      const auto problem = each.check(text);
      ASSERT_TRUE(problem) << each.name << " " << text;
      EXPECT_FALSE(problem->problem.empty() || problem->fix.empty()) << each.name << " " << text;
    }
  }
}

TEST(Names, ProblemsNameTheCharacterAndSuggestACorrection) {
  struct {
    Check check;
    std::string_view text, problem, fix;
  } const table[] = {
      {check_dns_label, "My_App", "'M' (character 1)", "write \"my-app\""},
      {check_dns_label, "-app", "must not begin with '-'", "write \"app\""},
      {check_dns_label, "app-", "must not end with '-'", "write \"app\""},
      {check_dns_label, "a.b", "'.' (character 2)", "write \"a-b\""},
      {check_dns_label, "größe", "'ö' (character 3)", "use lower-case letters"},
      {check_dns_label, "a\xff", "byte 0xff", "use lower-case"},
      {check_dns1035_label, "1st", "must not begin with '1'", "write \"st\""},
      {check_dns_subdomain, "My.Config_Map", "'M' (character 1)", "write \"my.config-map\""},
      {check_dns_subdomain, "a..b", "two dots", "write \"a.b\""},
      {check_dns_subdomain, "a.-b", "a part between dots", "write \"a.b\""},
      {check_label_key, "Example.com/a", "in the part before '/'", "write \"example.com/a\""},
      {check_label_key, "example.com/a b", "in the part behind '/'", "write \"example.com/a-b\""},
      {check_env_name, "MY VAR", "a space (character 3)", "write \"MY_VAR\""},
      {check_env_name, "1A", "must not begin with '1'", "write \"_1A\""},
      {check_config_key, "a/b", "'/' (character 2)", "write \"a-b\""},
      {check_resource_name, "gpu", "no resource", "nvidia.com/gpu"},
      {check_resource_name, "CPU", "no resource", "write \"cpu\""},
      {check_dns_label, "a\tb", "a tab", "use"},
  };
  for (const auto& each : table) {
    const auto problem = each.check(each.text);
    ASSERT_TRUE(problem) << each.text;
    EXPECT_THAT(problem->problem, HasSubstr(std::string(each.problem))) << each.text;
    EXPECT_THAT(problem->fix, HasSubstr(std::string(each.fix))) << each.text;
  }
}

}  // namespace
}  // namespace stackgate::validate::grammar
