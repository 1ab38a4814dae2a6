#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/health.hpp"
#include "services/kit/web/request_record.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::web {
namespace {

using test::ask;
using testing::HasSubstr;

TEST(Health, SpeaksInFiveSpellings) {
  const auto readiness = std::make_shared<run::Readiness>();
  const auto board = CheckBoard::make(std::chrono::seconds(5));
  board->add("database", *readiness);
  const auto app = test::start(health_routes(readiness));
  const auto statuses = [&] {
    std::vector<int> out;
    for (const std::string path : {"/v1/health/live", "/v1/health/ready", "/health", "/healthz", "/v1/health"})
      out.push_back(ask(*app, "GET " + path).status);
    return out;
  };
  EXPECT_EQ(statuses(), (std::vector{200, 503, 503, 503, 503})) << "nothing has been heard of the database";
  board->answered("database", {});
  EXPECT_EQ(statuses(), (std::vector{200, 200, 200, 200, 200}));
  EXPECT_EQ(ask(*app, "GET /v1/health").body, R"({"status":"pass"})");
  EXPECT_EQ(ask(*app, "GET /v1/health").header("Content-Type"), "application/health+json");
  board->answered("database", std::unexpected(Error{"connection refused"}));
  EXPECT_EQ(statuses(), (std::vector{200, 503, 200, 200, 200})) << "a probe for liveness must not see it";
  EXPECT_EQ(ask(*app, "GET /health").body,
            R"({"status":"warn","checks":{"database":{"status":"fail","output":"connection refused"}}})");
  readiness->begin_shutdown();
  EXPECT_EQ(statuses(), (std::vector{200, 503, 503, 503, 503}));
}

TEST(Health, ShowsWhatLimpsAndStaysReady) {
  const auto readiness = std::make_shared<run::Readiness>();
  const auto board = CheckBoard::make(std::chrono::seconds(5));
  board->add("database", *readiness);
  board->add("neighbour", *readiness, false);
  const auto app = test::start(health_routes(readiness));
  board->answered("database", {});
  board->answered("neighbour", std::unexpected(Error{"it hangs"}));
  const auto ready = ask(*app, "GET /v1/health/ready");
  EXPECT_EQ(ready.status, 200);
  EXPECT_THAT(ready.body, HasSubstr(R"("status":"warn","checks":{"database":{"status":"pass"})"));
  EXPECT_THAT(ready.body, HasSubstr(R"("neighbour":{"status":"warn","output":"it hangs"})"));
  board->answered("neighbour", {});
  EXPECT_EQ(ask(*app, "GET /v1/health/ready").body, R"({"status":"pass"})");
}

TEST(Health, TakesSilenceForAFailure) {
  const auto readiness = std::make_shared<run::Readiness>();
  const auto board = CheckBoard::make(std::chrono::milliseconds(20));
  board->add("database", *readiness);
  board->answered("database", {});
  EXPECT_TRUE(readiness->report().ready);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_THAT(readiness->report().text, HasSubstr("[-]database failed: has not answered for"));
}

TEST(BodySchema, FindsEveryFaultAndNamesItsPlace) {
  const auto schema = std::make_shared<BodySchema>(R"({
    "type": "object", "required": ["name"], "additionalProperties": false,
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}})");
  const auto app =
      test::start({{"POST",
                    "/",
                    [schema](Call& call) -> Answer {
                      const auto body = schema->read(call);
                      if (!body) return body.error();
                      return http::Response{200, "text/plain", {}, std::string((*body)->root.find("name")->string())};
                    },
                    {.body_bytes = 200}}});
  EXPECT_EQ(ask(*app, "POST /", R"({"name":"x"})").body, "x");
  EXPECT_EQ(ask(*app, "POST /", R"({"name":"x"})", "Content-Type: application/vnd.x+json; charset=utf-8\r\n").body,
            "x");
  const auto wrong = ask(*app, "POST /", R"({"tags":["a",1],"more":true})");
  EXPECT_EQ(wrong.status, 422);
  EXPECT_THAT(wrong.body, HasSubstr(R"("path":"name")"));
  EXPECT_THAT(wrong.body, HasSubstr(R"("path":"tags[1]")"));
  EXPECT_THAT(wrong.body, HasSubstr(R"("path":"more")"));
  EXPECT_THAT(wrong.body, HasSubstr("the body has 3 faults"));
  const auto broken = ask(*app, "POST /", "{\n \"name\": ]");
  EXPECT_EQ(broken.status, 400);
  EXPECT_THAT(broken.body, HasSubstr("line 2, column 10"));
  EXPECT_EQ(ask(*app, "POST /").status, 400);
  EXPECT_EQ(ask(*app, "POST /", "{}", "Content-Type: text/plain\r\n").status, 415);
  EXPECT_EQ(ask(*app, "POST /", std::string(201, ' ')).status, 413);
  EXPECT_THROW(BodySchema("{"), std::logic_error);
}

TEST(BodySchema, NamesWhatIsAllowedFromTheSchema) {
  const BodySchema schema(R"({
    "type": "object", "required": ["kind"], "additionalProperties": false, "definitions": {"count": {"type": "integer", "minimum": 1, "maximum": 9}},
    "properties": {
      "kind": {"type": "string", "enum": ["small", "large"]},
      "count": {"$ref": "#/definitions/count"},
      "text": {"type": ["string", "null"], "minLength": 2, "maxLength": 4},
      "list": {"type": "array", "maxItems": 1, "items": {"type": "object", "additionalProperties": false, "properties": {"a": {"type": "boolean"}}}}}})");
  const auto lines = [&](std::string_view text) {
    json::Document document;
    std::string out;
    const auto root = json::parse(text, document);
    for (const auto& finding : schema.check(*root))
      out += finding.path + ": " + finding.problem + "; " + finding.fix + "\n";
    return out;
  };
  EXPECT_EQ(lines("{}"), "kind: is required, but missing; add \"kind\", one of small or large\n");
  EXPECT_EQ(lines(R"({"kind":"xsmall"})"), "kind: must be one of small or large; write small\n");
  EXPECT_EQ(lines(R"({"kind":"small","count":"3"})"),
            "count: must be an integer, but is a string; write an integer that is at least 1 and at most 9\n");
  EXPECT_EQ(lines(R"({"kind":"small","count":10})"),
            "count: must be at least 1 and at most 9; write a number that is at least 1 and at most 9\n");
  EXPECT_EQ(lines(R"({"kind":"small","text":"12345"})"),
            "text: must have at most 4 characters, but has 5; write a shorter text\n");
  EXPECT_EQ(lines(R"({"kind":"small","text":7})"),
            "text: must be a string or null, but is an integer; write a string or null\n");
  EXPECT_EQ(lines(R"({"kind":"small","knid":1,"zzz":2,"list":[{"b":1,"a":true,"c":2}]})"),
            "knid: unknown field; did you mean \"kind\"?; write kind, or remove the field\n"
            "zzz: unknown field; remove it; the fields here are kind, count, list and text\n"
            "list[0].b: unknown field; remove it; the fields here are a\n"
            "list[0].c: unknown field; remove it; the fields here are a\n");
}

TEST(AccessLog, LeavesSecretsOut) {
  EXPECT_EQ(loggable_target("/a", ""), "/a");
  EXPECT_EQ(loggable_target("/a", "page=2&q=x"), "/a?page=2&q=x");
  EXPECT_EQ(loggable_target("/a", "access_token=s3&x=1&X-Amz-Signature=abc&Password=p&to%6ben=y"),
            "/a?access_token=...&x=1&X-Amz-Signature=...&Password=...&to%6ben=...");
  EXPECT_EQ(loggable_target(std::string(5000, 'a'), "x=1").size(), 1024U);
  EXPECT_TRUE(is_request_id("abc-123_x.y:z/w+v="));
  EXPECT_FALSE(is_request_id(std::string(129, 'a')));
  EXPECT_FALSE(is_request_id("a b"));
}

}  // namespace
}  // namespace stackgate::web
