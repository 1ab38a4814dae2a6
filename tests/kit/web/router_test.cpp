#include "services/kit/web/router.hpp"

#include <gtest/gtest.h>

namespace stackgate::web {
namespace {

Route route(std::string_view method, std::string_view pattern, RouteOptions options = {}) {
  return {method, pattern, [](Call&) { return http::Response{}; }, options};
}

Router made(std::vector<Route> routes) {
  auto router = Router::compile(std::move(routes));
  if (!router) throw std::runtime_error(router.error().message);
  return std::move(*router);
}

// "pattern name=raw name=raw", or "405 GET, HEAD", or "404".
std::string found(const Router& router, std::string_view method, std::string_view path) {
  const Match match = router.match(method, path);
  if (match.route == nullptr) return match.allowed.empty() ? "404" : "405 " + match.allowed;
  std::string out(match.route->pattern);
  for (const auto& [name, raw] : match.parameters.all()) out.append(" ").append(name).append("=").append(raw);
  return out;
}

Router storage_like() {
  return made({
      route("GET", "/"),
      route("GET", "/{owner}/{repo}"),
      route("GET", "/{owner}/{repo}.git"),
      route("GET", "/{owner}/{repo}.git/info/refs"),
      route("GET", "/{owner}/{repo}/info/refs"),
      route("POST", "/{owner}/{repo}/git-upload-pack"),
      route("GET", "/api/v1/user/repos"),
      route("POST", "/api/v1/user/repos"),
      route("GET", "/api/v1/repos/{owner}/{repo}"),
      route("GET", "/v1/hf/{owner}/{repo}/resolve/{revision}/{path...}"),
      route("GET", "/v1/hf/datasets/{owner}/{repo}/resolve/{revision}/{path...}"),
      route("HEAD", "/v1/hf/api/{kind}/{owner}/{repo}"),
      route("GET", "/v1/hf/api/{kind}/{owner}/{repo}"),
      route("GET", "/v1/health"),
      route("GET", "/static/{file...}"),
  });
}

TEST(Router, TakesTheRouteThatAPathNames) {
  const Router router = storage_like();
  const struct {
    std::string_view method, path, expected;
  } cases[] = {
      {"GET", "/", "/"},
      {"GET", "/ann/m", "/{owner}/{repo} owner=ann repo=m"},
      {"GET", "/ann/m.git", "/{owner}/{repo}.git owner=ann repo=m"},
      {"GET", "/ann/m.git/info/refs", "/{owner}/{repo}.git/info/refs owner=ann repo=m"},
      {"GET", "/ann/m/info/refs", "/{owner}/{repo}/info/refs owner=ann repo=m"},
      // A literal end needs something before it.
      {"GET", "/ann/.git", "/{owner}/{repo} owner=ann repo=.git"},
      {"GET", "/ann/.git/info/refs", "/{owner}/{repo}/info/refs owner=ann repo=.git"},
      // Literals win; without the method there, the way leads back to a parameter.
      {"GET", "/v1/health", "/v1/health"},
      {"GET", "/v1/other", "/{owner}/{repo} owner=v1 repo=other"},
      {"GET", "/api/v1", "/{owner}/{repo} owner=api repo=v1"},
      {"GET", "/api/v1/info/refs", "/{owner}/{repo}/info/refs owner=api repo=v1"},
      // "datasets" is a literal first, but four segments fit only the shorter shape.
      {"GET", "/v1/hf/datasets/ann/resolve/main/a.txt",
       "/v1/hf/{owner}/{repo}/resolve/{revision}/{path...} owner=datasets repo=ann revision=main path=a.txt"},
      {"GET", "/v1/hf/datasets/ann/d/resolve/main/a/b.txt",
       "/v1/hf/datasets/{owner}/{repo}/resolve/{revision}/{path...} owner=ann repo=d revision=main path=a/b.txt"},
      // An escaped slash stays inside its segment.
      {"GET", "/v1/hf/ann/m/resolve/feature%2Fx/a%20b/c",
       "/v1/hf/{owner}/{repo}/resolve/{revision}/{path...} owner=ann repo=m revision=feature%2Fx path=a%20b/c"},
      // The rest may be empty, but its slash must be there.
      {"GET", "/static/", "/static/{file...} file="},
      {"GET", "/static//x", "/static/{file...} file=/x"},
      {"GET", "/static", "404"},
      // Nothing is tidied up: an empty segment is no parameter.
      {"GET", "//m", "404"},
      {"GET", "/ann/", "404"},
      {"GET", "/ann/m/", "404"},
      {"GET", "", "404"},
      {"GET", "*", "404"},
      {"GET", "ann/m", "404"},
  };
  for (const auto& each : cases) EXPECT_EQ(found(router, each.method, each.path), each.expected) << each.path;
}

TEST(Router, KnowsMethodsOfAPath) {
  const Router router = storage_like();
  const struct {
    std::string_view method, path, expected;
  } cases[] = {
      {"POST", "/api/v1/user/repos", "/api/v1/user/repos"},
      {"PUT", "/api/v1/user/repos", "405 GET, HEAD, OPTIONS, POST"},
      {"OPTIONS", "/api/v1/user/repos", "405 GET, HEAD, OPTIONS, POST"},
      {"HEAD", "/api/v1/user/repos", "/api/v1/user/repos"},
      {"GET", "/ann/m/git-upload-pack", "405 OPTIONS, POST"},
      {"HEAD", "/ann/m/git-upload-pack", "405 OPTIONS, POST"},
      {"get", "/v1/health", "405 GET, HEAD, OPTIONS"},
      {"", "/v1/health", "405 GET, HEAD, OPTIONS"},
      // Every shape that the path fits counts.
      {"DELETE", "/ann/m.git", "405 GET, HEAD, OPTIONS"},
      {"DELETE", "/x", "404"},
  };
  for (const auto& each : cases)
    EXPECT_EQ(found(router, each.method, each.path), each.expected) << each.method << each.path;
}

TEST(Router, PrefersAHandlerForHeadToTheOneForGet) {
  const Router router = storage_like();
  EXPECT_EQ(router.match("HEAD", "/v1/hf/api/models/a/b").route->method, "HEAD");
  EXPECT_EQ(router.match("GET", "/v1/hf/api/models/a/b").route->method, "GET");
  EXPECT_EQ(router.match("HEAD", "/v1/health").route->method, "GET");
}

TEST(Router, SearchesFurtherForTheMethodBeforeItSaysNo) {
  const Router router = made({route("POST", "/things/new"), route("GET", "/things/{id}"), route("GET", "/{all...}")});
  EXPECT_EQ(found(router, "GET", "/things/new"), "/things/{id} id=new");
  EXPECT_EQ(found(router, "GET", "/things/a/b"), "/{all...} all=things/a/b");
  EXPECT_EQ(found(router, "PUT", "/things/new"), "405 GET, HEAD, OPTIONS, POST");
}

TEST(Router, LongerEndsWin) {
  const Router router =
      made({route("GET", "/{a}.gz"), route("GET", "/{a}.tar.gz"), route("GET", "/{a}"), route("GET", "/x.tar.gz")});
  EXPECT_EQ(found(router, "GET", "/y.tar.gz"), "/{a}.tar.gz a=y");
  EXPECT_EQ(found(router, "GET", "/y.gz"), "/{a}.gz a=y");
  EXPECT_EQ(found(router, "GET", "/x.tar.gz"), "/x.tar.gz");
  EXPECT_EQ(found(router, "GET", "/.tar.gz"), "/{a}.gz a=.tar");
}

TEST(Router, SpeaksOfMissingPathsInTheNearestDialect) {
  const Router router = made({
      route("GET", "/v1/health", {.quiet = true}),
      route("GET", "/{owner}/{repo}", {.dialect = Dialect::html}),
      route("GET", "/api/v1/version", {.dialect = Dialect::gitea}),
      route("GET", "/v1/hf/api/models", {.dialect = Dialect::hub}),
      route("POST", "/{owner}/{repo}.git/info/lfs/objects/batch", {.dialect = Dialect::lfs}),
  });
  EXPECT_EQ(router.match("GET", "/api/v1/nothing/here").dialect, Dialect::gitea);
  EXPECT_EQ(router.match("GET", "/v1/hf/api/nothing/here").dialect, Dialect::hub);
  EXPECT_EQ(router.match("GET", "/a/b/c").dialect, Dialect::plain);
  EXPECT_EQ(router.match("GET", "/v1/x/y").dialect, Dialect::plain);
  EXPECT_EQ(router.match("PUT", "/a/b.git/info/lfs/objects/batch").dialect, Dialect::lfs);
}

TEST(Router, RefusesATableThatIsWrong) {
  const struct {
    std::vector<Route> routes;
    std::string_view says;
  } cases[] = {
      {{route("GET", "")}, "must begin with /"},
      {{route("GET", "a")}, "must begin with /"},
      {{route("GET", "/{a")}, "lacks its }"},
      {{route("GET", "/{}")}, "no parameter name"},
      {{route("GET", "/{A}")}, "no parameter name"},
      {{route("GET", "/{...}")}, "no parameter name"},
      {{route("GET", "/v{a}")}, "beginning of its segment"},
      {{route("GET", "/{a}{b}")}, "more than one parameter"},
      {{route("GET", "/a b")}, "no literal"},
      {{route("GET", "/a%20b")}, "no literal"},
      {{route("GET", "/a?b")}, "no literal"},
      {{route("GET", "/a}")}, "no literal"},
      {{route("GET", "/{a...}/b")}, "at the very end"},
      {{route("GET", "/{a...}.x")}, "at the very end"},
      {{route("GET", "/{a}/{a}")}, "stands twice"},
      {{route("GET", "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}")}, "more than 8"},
      {{route("GET", "/{a}"), route("GET", "/{b}")}, "route GET /{b}: /{a} takes the same paths"},
      {{route("GET", "/{a...}"), route("GET", "/{b...}")}, "takes the same paths"},
      {{route("get", "/")}, "capital letters"},
      {{route("", "/")}, "capital letters"},
      {{Route{"GET", "/", {}}}, "no handler"},
  };
  for (const auto& each : cases) {
    const auto router = Router::compile(each.routes);
    ASSERT_FALSE(router) << each.says;
    EXPECT_NE(router.error().message.find(each.says), std::string::npos) << router.error().message;
  }
  EXPECT_TRUE(Router::compile({route("GET", "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}"), route("PUT", "/{x}")}));
}

}  // namespace
}  // namespace stackgate::web
