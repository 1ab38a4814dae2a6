#include "services/kit/web/errors.hpp"

#include <gtest/gtest.h>

namespace stackgate::web {
namespace {

Failure not_found() { return {404, "there is no file a.txt", "EntryNotFound"}; }

Failure two_faults() {
  return {422,
          "the body has 2 faults",
          {},
          {{"schema-required", validate::Severity::error, "items[2].name", {}, "is required, but missing", "add it"},
           {"schema-type", validate::Severity::error, "labels[a.b/c]", "1", "has the wrong type", {}}}};
}

std::string header(const http::Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

TEST(Errors, HaveTheBodyOfEachDialect) {
  const ErrorContext context{"r-1", "https://docs/x"};
  const struct {
    Dialect dialect;
    std::string_view type, one, many;
  } cases[] = {
      {Dialect::plain, "application/json",
       R"~({"error":{"code":"EntryNotFound","message":"there is no file a.txt","request_id":"r-1"}})~",
       R"~({"error":{"code":"UnprocessableContent","message":"the body has 2 faults","findings":[)~"
       R"~({"rule":"schema-required","severity":"error","path":"items[2].name","message":"is required, but missing","fix":"add it"},)~"
       R"~({"rule":"schema-type","severity":"error","path":"labels[a.b/c]","message":"has the wrong type (value: 1)","fix":""}],)~"
       R"~("request_id":"r-1"}})~"},
      {Dialect::gitea, "application/json", R"~({"message":"there is no file a.txt","url":"https://docs/x"})~",
       R"~({"message":"the body has 2 faults\nitems[2].name: is required, but missing; add it [schema-required]\n)~"
       R"~(labels[a.b/c]: has the wrong type (value: 1) [schema-type]","url":"https://docs/x"})~"},
      {Dialect::lfs, "application/vnd.git-lfs+json",
       R"~({"message":"there is no file a.txt","request_id":"r-1","documentation_url":"https://docs/x"})~", ""},
      {Dialect::hub, "application/json", R"~({"error":"there is no file a.txt"})~", ""},
      {Dialect::openai, "application/json",
       R"~({"error":{"message":"there is no file a.txt","type":"not_found_error","param":null,"code":"EntryNotFound"}})~",
       R"~({"error":{"message":"the body has 2 faults\nitems[2].name: is required, but missing; add it [schema-required]\n)~"
       R"~(labels[a.b/c]: has the wrong type (value: 1) [schema-type]","type":"invalid_request_error",)~"
       R"~("param":"items[2].name","code":422}})~"},
      {Dialect::nemo, "application/json", R"~({"detail":"there is no file a.txt"})~",
       R"~({"detail":[{"loc":["body","items",2,"name"],"msg":"is required, but missing; add it","type":"schema-required","severity":"error"},)~"
       R"~({"loc":["body","labels","a.b/c"],"msg":"has the wrong type (value: 1)","type":"schema-type","severity":"error"}]})~"},
  };
  for (const auto& each : cases) {
    const auto one = render(not_found(), each.dialect, context);
    EXPECT_EQ(one.status, 404);
    EXPECT_EQ(one.content_type, each.type);
    EXPECT_EQ(one.body, each.one);
    if (!each.many.empty()) {
      EXPECT_EQ(render(two_faults(), each.dialect, context).body, each.many);
    }
  }
}

TEST(Errors, SayWhichFindingsAreWarningsAndWhichAreOfTheQuery) {
  const Failure failure{422,
                        "m",
                        {},
                        {{"query-parameter", validate::Severity::error, "query.page", "0", "is no number", "count"},
                         {"odd", validate::Severity::warning, "a", {}, "is odd", {}}}};
  EXPECT_EQ(
      render(failure, Dialect::nemo).body,
      R"~({"detail":[{"loc":["query","page"],"msg":"is no number (value: 0); count","type":"query-parameter",)~"
      R"~("severity":"error"},{"loc":["body","a"],"msg":"warning: is odd","type":"odd","severity":"warning"}]})~");
  EXPECT_EQ(message_with_findings(failure),
            "m\nquery.page: is no number (value: 0); count [query-parameter]\na: warning: is odd [odd]");
}

TEST(Errors, OfTheHubStandInHeaders) {
  Failure failure = not_found();
  failure.message = "no \xc3\xa9ntry\r\nX: y";
  const auto response = render(failure, Dialect::hub);
  EXPECT_EQ(header(response, "X-Error-Code"), "EntryNotFound");
  EXPECT_EQ(header(response, "X-Error-Message"), "no   ntry  X: y");
  failure.code.clear();
  EXPECT_EQ(header(render(failure, Dialect::hub), "X-Error-Code"), "");
}

TEST(Errors, LeaveOutWhatIsNotKnown) {
  EXPECT_EQ(render({507, "full"}, Dialect::lfs).body, R"~({"message":"full"})~");
  EXPECT_EQ(render({401, "who?"}, Dialect::plain).body, R"~({"error":{"code":"Unauthorized","message":"who?"}})~");
  EXPECT_EQ(render({401, "who?"}, Dialect::openai).body,
            R"~({"error":{"message":"who?","type":"authentication_error","param":null,"code":401}})~");
}

TEST(Errors, KeepTheFailuresHeadersAndAStatusThatIsAnError) {
  const auto response = render({401, "sign in", {}, {}, {{"WWW-Authenticate", "Basic realm=\"x\""}}}, Dialect::gitea);
  EXPECT_EQ(header(response, "WWW-Authenticate"), "Basic realm=\"x\"");
  EXPECT_EQ(render({200, "no"}, Dialect::plain).status, 500);
  EXPECT_EQ(render({0, "no"}, Dialect::plain).status, 500);
}

TEST(Errors, AsPagesAreEscaped) {
  const auto response = render({404, "<script>alert('x')</script> & \"y\""}, Dialect::html, {"<i>", {}});
  EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
  EXPECT_NE(response.body.find("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;"),
            std::string::npos);
  EXPECT_EQ(response.body.find("<script"), std::string::npos);
  EXPECT_EQ(response.body.find("<i>"), std::string::npos);
  EXPECT_EQ(header(response, "Content-Security-Policy"), "default-src 'none'");
  EXPECT_NE(render(two_faults(), Dialect::html).body.find("<li>items[2].name: is required"), std::string::npos);
}

}  // namespace
}  // namespace stackgate::web
