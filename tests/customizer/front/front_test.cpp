#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "services/customizer/front/authorize.hpp"
#include "services/customizer/front/report_limit.hpp"
#include "services/customizer/front/route_table.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::customizer {
namespace {

TEST(OpenApi, has_the_routes_and_the_trainers_bounds) {
  json::Document document;
  const auto root = json::parse(openapi_document(), document);
  ASSERT_TRUE(root) << root.error().message;
  std::set<std::pair<std::string, std::string>> served, described;
  for (const RouteRow& each : route_table()) {
    std::string method(each.method);
    for (char& c : method) c = static_cast<char>(c | 0x20);
    EXPECT_TRUE(served.emplace(each.pattern, method).second) << each.pattern;
  }
  for (const json::Member& path : json::members(&*root, {"paths"}))
    for (const json::Member& method : path.value.members()) described.emplace(path.key, method.key);
  EXPECT_EQ(described, served);
  const json::Value rank = json::value_at(
      &*root, {"components", "schemas", "Customization", "properties", "hyperparameters", "properties", "lora_rank"});
  EXPECT_EQ(json::text(&rank, {"type"}), "integer");
  EXPECT_EQ(json::integer(&rank, {"minimum"}), 1);
}

/// Names that the sources ask requests for, but Authorization and what OpenAPI has no parameters for.
std::set<std::string> headers_read() {
  std::set<std::string> out;
  const auto read = [&](const std::filesystem::path& file) {
    std::ifstream in(file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    EXPECT_NE(text, "") << file;
    constexpr std::string_view call = ".header(\"";
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1))
      out.insert(text.substr(at + call.size(), text.find('"', at + call.size()) - at - call.size()));
  };
  for (const auto& each : std::filesystem::directory_iterator(test::source_dir() / "services/customizer/front"))
    if (each.path().extension() == ".cpp") read(each.path());
  read(test::source_dir() / "services/kit/web/follow.cpp");
  out.erase("Authorization");
  out.erase("Accept");
  return out;
}

TEST(OpenApi, has_the_headers_that_are_read) {
  json::Document document;
  const auto root = json::parse(openapi_document(), document);
  ASSERT_TRUE(root) << root.error().message;
  std::map<std::string, std::set<std::string>> of_routes;
  std::set<std::string> all;
  for (const json::Member& path : json::members(&*root, {"paths"}))
    for (const json::Member& method : path.value.members())
      for (const json::Value& each : json::items(&method.value, {"parameters"}))
        if (json::text(&each, {"in"}) == "header") {
          of_routes[std::string(method.key) + " " + std::string(path.key)].emplace(json::text(&each, {"name"}));
          all.emplace(json::text(&each, {"name"}));
        }
  EXPECT_EQ(all, headers_read());
  const std::set<std::string> create{"Idempotency-Key", "wandb-api-key"}, events{"Last-Event-ID"};
  EXPECT_EQ(of_routes,
            (std::map<std::string, std::set<std::string>>{{"post /v1/customizations", create},
                                                          {"post /v1/customization/jobs", create},
                                                          {"get /v1/customizations/{name}/events", events},
                                                          {"get /v1/customization/jobs/{name}/events", events}}));
}

TEST(BearerTokens, are_whole_lines_of_their_file) {
  constexpr std::string_view file = "# people\none\ntwo \r\n\n";
  EXPECT_TRUE(has_token(file, "one"));
  EXPECT_TRUE(has_token(file, "two"));
  for (const std::string_view wrong : {"", "on", "one\ntwo", "# people", "three"}) EXPECT_FALSE(has_token(file, wrong));
}

TEST(BearerTokens, are_the_password_of_a_browsers_user) {
  const test::TempDir folder;
  const std::string file = folder / "tokens";
  std::ofstream(file) << "one\n";
  const auto page = [](web::Call&) -> web::Answer { return http::Response{.status = 200}; };
  const auto app =
      web::test::start({{"GET", "/page", page_with_tokens(file, page)}, {"GET", "/api", with_tokens(file, page)}});
  const auto status = [&](const std::string& path, const std::string& authorization) {
    return web::test::ask(*app, "GET " + path, "", "Authorization: " + authorization + "\r\n").status;
  };
  for (const std::string path : {"/page", "/api"}) {
    EXPECT_EQ(status(path, "Bearer one"), 200) << path;
    EXPECT_EQ(status(path, "Basic YW55Om9uZQ=="), 200) << path;  // any:one
    EXPECT_EQ(status(path, "Basic b25lOmFueQ=="), 401) << path;  // one:any
    EXPECT_EQ(status(path, "Basic b25lOg=="), 401) << path;      // one:
    EXPECT_EQ(status(path, ""), 401) << path;
  }
  EXPECT_THAT(web::test::ask(*app, "GET /page").header("WWW-Authenticate"), testing::StartsWith("Basic realm="));
  EXPECT_EQ(web::test::ask(*app, "GET /api").header("WWW-Authenticate"), "Bearer");
}

TEST(ReportLimits, count_by_customization_token_and_second) {
  ReportLimit limit(2);
  const std::chrono::steady_clock::time_point now{std::chrono::seconds(7)};
  EXPECT_TRUE(limit.allows("a", "guess", now));
  EXPECT_TRUE(limit.allows("a", "guess", now));
  EXPECT_FALSE(limit.allows("a", "guess", now));
  EXPECT_TRUE(limit.allows("a", "token", now)) << "guesses do not slow it";
  EXPECT_TRUE(limit.allows("b", "guess", now));
  EXPECT_TRUE(limit.allows("a", "guess", now + std::chrono::seconds(1)));
}

}  // namespace
}  // namespace stackgate::customizer
