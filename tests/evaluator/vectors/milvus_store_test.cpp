// Milvus as its documentation describes it, in a few lines: what is asked for in another shape is refused.
#include "services/evaluator/vectors/milvus_store.hpp"

#include <cmath>
#include <map>
#include <mutex>

#include <gmock/gmock.h>

#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::evaluator {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

web::Answer answer(std::string text) { return http::Response{200, "application/json", {}, std::move(text)}; }
web::Answer done(std::string data) { return answer(R"({"code":0,"cost":1,"data":)" + data + "}"); }
web::Answer refused(int code, std::string_view words) {
  return answer(json::object_text([&](json::Writer& w) {
    w.member("code", code);
    w.member("message", words);
  }));
}

class MilvusTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    app_ = web::test::start({{"POST", "/v2/vectordb/{of}/{action}", [this](web::Call& call) {
                                return answer_to(call, std::string(call.parameter("of")) + "/" +
                                                           std::string(call.parameter("action")));
                              }}});
  }

  web::Answer answer_to(web::Call& call, std::string_view action) {
    const std::lock_guard lock(mutex_);
    ++calls_[std::string(action)];
    if (away_ > 0 && --away_ >= 0) return web::Failure{.status = 503, .message = "starting"};
    if (call.request().header("authorization") != "Bearer root:Milvus")
      return refused(1800, "user hasn't authenticated with root:Wrong");
    const auto document = call.json();
    const json::Value& body = (*document)->root;
    if (!broken_.empty()) return answer(broken_);
    if (json::text(&body, {"collectionName"}) != "docs") return refused(100, "can't find collection");
    if (action == "collections/has") return done(dimension_ > 0 ? R"({"has":true})" : R"({"has":false})");
    if (action == "collections/create") {
      dimension_ = json::integer(&body, {"dimension"});
      if (json::text(&body, {"metricType"}) != "COSINE" || json::text(&body, {"idType"}) != "Int64")
        return refused(1100, "not what was documented");
      return done("{}");
    }
    if (action == "collections/describe")
      return done(R"({"fields":[{"name":"id","params":null},{"name":"vector","params":[{"key":"dim","value":")" +
                  std::to_string(dimension_) + R"("}]}]})");
    if (action == "collections/load") {
      loaded_ = dimension_ > 0;
      return done("{}");
    }
    if (action == "collections/drop") {
      dimension_ = 0;
      rows_.clear();
      return done("{}");
    }
    if (action == "entities/upsert") return upsert(body);
    if (!loaded_) return refused(101, "collection not loaded");
    if (action == "entities/query") return done("[{\"count(*)\":" + std::to_string(rows_.size()) + "}]");
    return search(body);
  }

  web::Answer upsert(const json::Value& body) {
    const auto data = json::items(&body, {"data"});
    most_rows_ = std::max(most_rows_, data.size());
    for (const json::Value& row : data) {
      std::vector<double>& vector = rows_[json::integer(&row, {"id"}, -1)];
      vector.clear();
      for (const json::Value& each : json::items(&row, {"vector"})) vector.push_back(each.number());
      if (static_cast<std::int64_t>(vector.size()) != dimension_)
        return refused(1804, "the length of float data should divide the dim");
    }
    return done(R"({"upsertCount":)" + std::to_string(data.size()) + "}");
  }

  web::Answer search(const json::Value& body) {
    if (json::text(&body, {"annsField"}) != "vector") return refused(1100, "no such field");
    std::vector<std::pair<double, std::int64_t>> found;
    const auto query = json::items(&body, {"data"}).front().items();
    for (const auto& [id, vector] : rows_) {
      double product = 0, left = 0, right = 0;
      for (std::size_t i = 0; i < vector.size(); ++i) {
        product += vector[i] * query[i].number();
        left += vector[i] * vector[i];
        right += query[i].number() * query[i].number();
      }
      found.emplace_back(-product / std::sqrt(left * right), id);
    }
    std::ranges::sort(found);
    std::string out;
    for (std::size_t i = 0; i < found.size() && i < static_cast<std::size_t>(json::integer(&body, {"limit"})); ++i) {
      const std::string id = std::to_string(found[i].second);
      out += (i > 0 ? "," : "") + ("{\"distance\":" + std::to_string(-found[i].first)) +
             ",\"id\":" + (ids_are_texts_ ? "\"" + id + "\"" : id) + "}";
    }
    return done("[" + out + "]");
  }

  VectorStore store(std::string token = "root:Milvus", unsigned retries = 1) {
    return milvus_store({.url = "http://127.0.0.1:" + std::to_string(app_->port()) + "/",
                         .token = std::move(token),
                         .retries = retries},
                        "docs");
  }

  std::mutex mutex_;
  std::map<std::string, int> calls_;
  std::map<std::int64_t, std::vector<double>> rows_;
  std::int64_t dimension_ = 0;
  std::size_t most_rows_ = 0;
  bool loaded_ = false, ids_are_texts_ = false;
  int away_ = 0;
  std::string broken_;
  std::unique_ptr<web::App> app_;
};

TEST_F(MilvusTest, makes_a_collection_fills_and_searches_it) {
  const VectorStore own = store();
  EXPECT_EQ(own.count(), 0U);
  ASSERT_TRUE(own.put(0, 2, std::vector<float>{1, 0, 0, 1}));
  ASSERT_TRUE(own.put(2, 2, std::vector<float>{3, 3}));
  ASSERT_TRUE(own.finish());
  EXPECT_EQ(own.count(), 3U);
  for (const bool texts : {false, true}) {
    ids_are_texts_ = texts;
    const auto found = own.nearest(std::vector<float>{1, 0.1F}, 2);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 2U);
    EXPECT_EQ((*found)[0].number, 0U);
    EXPECT_EQ((*found)[1].number, 2U);
    EXPECT_NEAR((*found)[0].score, 0.995, 1e-3);
  }
  EXPECT_EQ(calls_["collections/create"], 1);
}

TEST_F(MilvusTest, goes_on_with_what_is_there_unless_it_has_another_dimension) {
  ASSERT_TRUE(store().put(0, 2, std::vector<float>{1, 0, 0, 1}));
  ASSERT_TRUE(store().put(1, 2, std::vector<float>{0, 2}));
  EXPECT_EQ(calls_["collections/create"], 1);
  EXPECT_EQ(rows_.size(), 2U);
  ASSERT_TRUE(store().put(0, 3, std::vector<float>{1, 0, 0}));
  EXPECT_EQ(calls_["collections/drop"], 1);
  EXPECT_EQ(dimension_, 3);
  EXPECT_EQ(rows_.size(), 1U);
  ASSERT_TRUE(store().drop());
  EXPECT_EQ(store().count(), 0U);
}

TEST_F(MilvusTest, batches_are_bounded) {
  ASSERT_TRUE(store().put(0, 2, std::vector<float>(2 * 2500, 1)));
  EXPECT_EQ(rows_.size(), 2500U);
  EXPECT_EQ(most_rows_, 1000U);
}

TEST_F(MilvusTest, a_refusal_with_status_200_is_one_and_holds_no_token) {
  const auto wrong = store("root:Wrong").count();
  ASSERT_FALSE(wrong);
  EXPECT_FALSE(wrong.error().away);
  EXPECT_THAT(wrong.error().message, AllOf(HasSubstr("code 1800"), HasSubstr("***"), Not(HasSubstr("root:Wrong"))));
  const auto early = store().nearest(std::vector<float>{1, 0}, 2);
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message, HasSubstr("collection not loaded"));
}

TEST_F(MilvusTest, that_is_starting_is_asked_again_then_away) {
  away_ = 1;
  EXPECT_TRUE(store().count());
  away_ = 100;
  const auto away = store().count();
  ASSERT_FALSE(away);
  EXPECT_TRUE(away.error().away);
  away_ = 0;
  const auto nobody = milvus_store({.url = "http://127.0.0.1:1", .retries = 0}, "docs").count();
  ASSERT_FALSE(nobody);
  EXPECT_TRUE(nobody.error().away);
}

TEST_F(MilvusTest, answers_that_are_none_are_named) {
  for (const char* bad : {"", "<html>", "[]", "{}", R"({"code":"0"})", R"({"code":0,"data":[{"id":1}]})",
                          R"({"code":0,"data":[{"id":-1,"distance":0.5}]})", R"({"code":0,"data":7})",
                          R"({"code":0,"data":[{"id":"1x","distance":0.5}]})"}) {
    broken_ = bad;
    const auto found = store().nearest(std::vector<float>{1, 0}, 2);
    EXPECT_FALSE(found) << bad;
    if (found) continue;
    EXPECT_THAT(found.error().message, HasSubstr("entities/search")) << bad;
  }
  broken_ =
      R"({"code":0,"data":{"has":true,"upsertCount":1,"fields":[{"name":"vector","params":[{"key":"dim","value":"2"}]}]}})";
  const auto less = store().put(0, 2, std::vector<float>{1, 0, 0, 1});
  ASSERT_FALSE(less);
  EXPECT_THAT(less.error().message, HasSubstr("took 1 of 2"));
}

}  // namespace
}  // namespace stackgate::evaluator
