#include "services/kit/web/openapi.hpp"

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::web {
namespace {

constexpr Operation operations[] = {
    {"GET", "/v1/things/{name}/parts/{number}", "One part"},
    {"POST", "/v1/things", "Make a thing", "Thing", "201", "application/json", "dry_run,force"},
    {"DELETE", "/v1/things", "All of them", "", "204"},
};
constexpr NamedSchema schemas[] = {{"Thing", R"({"type":"object"})"}};

std::vector<std::string> parameters(const json::Value& operation) {
  std::vector<std::string> out;
  for (const json::Value& each : json::items(&operation, {"parameters"}))
    out.push_back(std::string(json::text(&each, {"in"})) + " " + std::string(json::text(&each, {"name"})) +
                  (json::flag(&each, {"required"}) ? "!" : ""));
  return out;
}

TEST(OpenApi, says_what_the_table_says) {
  json::Document document;
  const std::string text = openapi_document("things", operations, schemas);
  const auto root = json::parse(text, document);
  ASSERT_TRUE(root) << text;
  EXPECT_EQ(json::text(&*root, {"openapi"}), "3.1.0");
  EXPECT_EQ(json::text(&*root, {"info", "title"}), "things");
  const json::Value part = json::value_at(&*root, {"paths", "/v1/things/{name}/parts/{number}", "get"});
  EXPECT_EQ(json::text(&part, {"summary"}), "One part");
  EXPECT_THAT(parameters(part), testing::ElementsAre("path name!", "path number!"));
  EXPECT_EQ(part.find("requestBody"), nullptr);
  EXPECT_EQ(json::text(&part, {"responses", "default", "content", "application/json", "schema", "$ref"}),
            "#/components/schemas/Error");
  const json::Value made = json::value_at(&*root, {"paths", "/v1/things", "post"});
  EXPECT_THAT(parameters(made), testing::ElementsAre("query dry_run", "query force"));
  EXPECT_EQ(json::text(&made, {"requestBody", "content", "application/json", "schema", "$ref"}),
            "#/components/schemas/Thing");
  EXPECT_NE(json::at(&made, {"responses", "201", "content", "application/json"}), nullptr);
  EXPECT_EQ(json::at(&*root, {"paths", "/v1/things", "delete", "responses", "204", "content"}), nullptr);
  EXPECT_EQ(json::text(&*root, {"components", "schemas", "Thing", "type"}), "object");
  EXPECT_NE(json::at(&*root, {"components", "schemas", "Error", "properties", "detail"}), nullptr);
}

}  // namespace
}  // namespace stackgate::web
