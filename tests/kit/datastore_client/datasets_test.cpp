// Data sets read from a server on the loopback; tests/e2e/evaluator reads them from the datastore itself.
#include "services/kit/datastore_client/datasets.hpp"

#include <gmock/gmock.h>

#include "services/kit/http/text.hpp"
#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::datastore_client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DatasetsTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    elsewhere_ = web::test::start({{"GET", "/store/{path...}", [this](web::Call& call) {
                                      seen_elsewhere_ = authorization(call);
                                      return http::Response{200, "text/plain", {}, "far\n"};
                                    }}});
    app_ = web::test::start({
        {"GET", "/v1/hf/api/datasets/ada/qa/revision/{revision}",
         [](web::Call& call) -> web::Answer {
           if (call.parameter("revision") != "main" && call.parameter("revision") != "a/b")
             return web::Failure{.status = 404, .message = "no"};
           return http::Response{200, "application/json", {}, R"({"sha":"c0ffee"})"};
         }},
        {"GET", "/v1/hf/api/datasets/ada/qa/tree/c0ffee",
         [this](web::Call& call) {
           const bool second = call.request().query.contains("cursor");
           http::Response out{200,
                              "application/json",
                              {},
                              second ? R"([{"type":"file","path":"b.jsonl","size":2,"oid":"x"}])"
                                     : R"([{"type":"file","path":"a.jsonl","size":1,"oid":"y"}])"};
           if (!second) out.headers.emplace_back("Link", "<" + url() + "/api/datasets/x?cursor=1>; rel=\"next\"");
           return out;
         }},
        {"GET", "/v1/hf/datasets/ada/qa/resolve/c0ffee/{path...}",
         [this](web::Call& call) -> web::Answer {
           seen_ = authorization(call);
           if (call.parameter("path") == "large.jsonl") {
             http::Response out{302};
             out.headers.emplace_back("Location",
                                      "http://127.0.0.1:" + std::to_string(elsewhere_->port()) + "/store/x");
             return out;
           }
           if (call.parameter("path") != "a.jsonl") return web::Failure{.status = 404, .message = "no"};
           return http::Response{200, "text/plain", {}, "one\r\n\ntwo"};
         }},
    });
  }
  static std::string authorization(web::Call& call) {
    for (const auto& [name, value] : call.request().headers)
      if (http::equal_ignoring_case(name, "authorization")) return std::string(value);
    return {};
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(app_->port()) + "/v1/hf"; }
  Datasets datasets() const { return Datasets({.url = url(), .token = "secret"}); }
  static std::vector<std::string> lines(const Datasets& from, std::string_view path, std::size_t most = 100) {
    std::vector<std::string> out;
    const auto done = from.read_lines("ada/qa", "c0ffee", path, 1000, [&](std::string_view line) {
      out.emplace_back(line);
      return out.size() < most;
    });
    if (!done) out.push_back("fault: " + done.error().message);
    return out;
  }

  std::string seen_, seen_elsewhere_ = "never";
  std::unique_ptr<web::App> elsewhere_, app_;
};

TEST_F(DatasetsTest, pins_a_revision) {
  EXPECT_EQ(datasets().pin("ada/qa", "").value(), "c0ffee");
  EXPECT_EQ(datasets().pin("ada/qa", "a/b").value(), "c0ffee");
  EXPECT_EQ(datasets().pin("ada/qa", "v9").value(), std::nullopt);
  EXPECT_EQ(datasets().pin("bob/qa", "").value(), std::nullopt);
}

TEST_F(DatasetsTest, lists_files_of_all_pages) {
  const auto files = datasets().files("ada/qa", "c0ffee");
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[1].path, "b.jsonl");
}

TEST_F(DatasetsTest, reads_lines_until_it_has_enough) {
  EXPECT_THAT(lines(datasets(), "a.jsonl"), ElementsAre("one", "", "two"));
  EXPECT_EQ(seen_, "Bearer secret");
  EXPECT_THAT(lines(datasets(), "a.jsonl", 1), ElementsAre("one"));
  EXPECT_THAT(lines(datasets(), "none.jsonl"), ElementsAre(HasSubstr("did not give none.jsonl of ada/qa")));
  EXPECT_EQ(datasets().read("ada/qa", "c0ffee", "a.jsonl", 100).value(), "one\r\n\ntwo");
  EXPECT_THAT(datasets().read("ada/qa", "c0ffee", "a.jsonl", 3).error().message, HasSubstr("larger than 3 bytes"));
}

TEST_F(DatasetsTest, follows_to_an_object_store_without_its_credentials) {
  EXPECT_THAT(lines(datasets(), "large.jsonl"), ElementsAre("far"));
  EXPECT_EQ(seen_, "Bearer secret");
  EXPECT_EQ(seen_elsewhere_, "");
}

TEST(DatasetsAway, says_so) {
  const auto found =
      Datasets({.url = "http://127.0.0.1:1/v1/hf", .patience = std::chrono::milliseconds(500)}).pin("a/b", "");
  ASSERT_FALSE(found);
  EXPECT_TRUE(found.error().away);
}

}  // namespace
}  // namespace stackgate::datastore_client
