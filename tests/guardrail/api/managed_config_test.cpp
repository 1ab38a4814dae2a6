// Configurations kept through the API: bodies, patches, answers.
#include "services/guardrail/api/managed_config.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/guardrail/api/body_support.hpp"

namespace stackgate::guardrail {
namespace {

using test::faults;

auto managed(std::string_view body) { return test::read_body(read_managed_config, body); }

TEST(ManagedConfig, is_read) {
  const auto got = managed(
      R"({"name":"strict","namespace":"team","description":"d","data":{"models":[],"colang_content":"define x"},"custom_fields":{"a":1}})");
  ASSERT_TRUE(got.has_value()) << faults(got);
  EXPECT_EQ(configuration_id(*got), "team.strict");
  EXPECT_EQ(configuration_id(*managed(R"({"name":"strict","data":{}})")), "strict");
  const auto files = files_of(*got);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].text + " " + files[1].text, R"({"models":[]} define x)");
}

TEST(ManagedConfig, faults) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"{}", "422 name: is missing\n data: is missing\n"},
      {R"({"name":"a/b","data":{}})", "422 name: is no name\n"},
      {R"({"name":"a..b","data":{}})", "422 name: is no name\n"},
      {R"({"name":"-a","namespace":"","data":{}})", "422 name: is no name\n namespace: is no name\n"},
      {R"({"name":"a","data":[]})", "422 data: must be an object\n"},
      {R"({"name":"a","data":{},"files_url":"hf://x"})", "422 files_url: is given beside \"data\"\n"},
      {"[]", "422 : must be an object\n"},
  };
  for (const auto& [body, why] : cases) EXPECT_EQ(faults(managed(body)), why) << body;
}

TEST(ManagedConfig, is_patched) {
  const auto old = managed(R"({"name":"a","description":"d","data":{"models":[1],"rails":{"input":1,"output":2}}})");
  ASSERT_TRUE(old.has_value());
  const auto patched = [&](std::string_view body) {
    return test::read_body([&](const json::Value& root) { return patch_managed_config(*old, root); }, body);
  };
  EXPECT_EQ(patched(R"({"description":null,"data":{"rails":{"output":null,"dialog":3}}})")->data,
            R"({"models":[1],"rails":{"dialog":3,"input":1}})");
  EXPECT_EQ(patched(R"({"description":null})")->description, "");
  EXPECT_EQ(patched("{}")->description, "d");
  EXPECT_EQ(faults(patched(R"({"name":"b"})")), "422 name: cannot change\n");
  EXPECT_EQ(faults(patched(R"({"data":null})")), "422 data: is missing\n");
  EXPECT_EQ(patched(R"({"data":null,"files_url":"hf://x"})")->files_url, "hf://x");
  EXPECT_EQ(faults(patched("7")), "422 : must be an object\n");
}

TEST(ManagedConfig, is_replaced) {
  auto old = managed(R"({"name":"a","namespace":"n","description":"d","data":{"models":[1]}})");
  ASSERT_TRUE(old.has_value());
  old->created_at = "2026-01-01T00:00:00Z";
  const auto replaced = [&](std::string_view body) {
    return test::read_body([&](const json::Value& root) { return replace_managed_config(*old, root); }, body);
  };
  const auto got = replaced(R"({"name":"a","data":{"rails":{}}})");
  ASSERT_TRUE(got.has_value()) << faults(got);
  EXPECT_EQ(got->data + got->description + configuration_id(*got), R"({"rails":{}}n.a)");
  EXPECT_EQ(got->created_at, old->created_at);
  EXPECT_EQ(faults(replaced(R"({"name":"b","data":{}})")), "422 name: cannot change\n");
  EXPECT_EQ(faults(replaced("{}")), "422 data: is missing\n");
  EXPECT_EQ(faults(replaced("7")), "422 : must be an object\n");
}

TEST(ManagedConfig, is_read_as_it_was_stored) {
  auto one = managed(R"({"name":"a","namespace":"n","project":"p","files_url":"hf://x","custom_fields":{"b":1}})");
  ASSERT_TRUE(one.has_value());
  one->created_at = "2026-01-01T00:00:00Z";
  one->updated_at = "2026-01-02T00:00:00Z";
  const auto again = test::read_body(stored_managed_config, managed_config_json(*one));
  ASSERT_TRUE(again.has_value()) << faults(again);
  EXPECT_EQ(managed_config_json(*again), managed_config_json(*one));
}

TEST(ManagedConfig, is_written) {
  auto one = managed(R"({"name":"a","data":{"models":[]}})");
  ASSERT_TRUE(one.has_value());
  one->created_at = one->updated_at = "2026-01-01T00:00:00Z";
  const std::string text =
      R"({"name":"a","namespace":"default","id":"a","description":null,"project":null,"data":{"models":[]},"files_url":null,)"
      R"("schema_version":"1.0","custom_fields":{},"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"})";
  EXPECT_EQ(managed_config_json(*one), text);
  const std::string list = managed_config_list({&*one, 1}, {.number = 1, .size = 10}, 1, "-created_at");
  EXPECT_TRUE(list.starts_with(R"({"object":"list","data":[)" + text + R"(],"pagination":{)")) << list;
  EXPECT_TRUE(list.ends_with(R"("sort":"-created_at","filter":null})")) << list;
}

}  // namespace
}  // namespace stackgate::guardrail
