#include "services/evaluator/retrieval/retriever.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "services/evaluator/retrieval/directory_room.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Index = RetrievalSettings::Index;

/// Letters counted: texts with the same letters are near. The models "m" and "n".
class RetrieverTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    app_ = web::test::start({{"POST", "/v1/embeddings", [this](web::Call& call) { return embeddings(call); }}},
                            {.pool_threads = 16});
  }
  web::Answer embeddings(web::Call& call) {
    const auto body = call.json();
    const auto inputs = json::items(&(*body)->root, {"input"});
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (away_ > 0 && --away_ >= 0) return web::Failure{.status = 503, .message = "down"};
    if (calls_ > refuse_after_) return web::Failure{.status = 400, .message = "no more"};
    if (!broken_.empty()) return http::Response{200, "application/json", {}, broken_};
    std::string out = R"({"data":[)";
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string text(inputs[i].string());
      if (!embedded_.insert(text).second) ++twice_;
      int counts[26] = {};
      for (const char c : text)
        if (c >= 'a' && c <= 'z') ++counts[c - 'a'];
      out += (i > 0 ? "," : "") + std::string(R"({"index":)") + std::to_string(i) + R"(,"embedding":[)";
      for (int c = 0; c < 26; ++c) out += (c > 0 ? "," : "") + std::to_string(counts[c]);
      out += "]}";
    }
    return http::Response{200, "application/json", {}, out + "]}"};
  }
  Endpoint endpoint(std::string model = "m") {
    return Endpoint({.url = "http://127.0.0.1:" + std::to_string(app_->port()) + "/v1",
                     .model = std::move(model),
                     .max_retries = 0},
                    [this] { return stop_.load(); });
  }
  RetrieverOptions options(Index index = Index::exact) {
    return {.index = index,
            .directory = dir_ / "",
            .embedding = {.parallelism = 3, .batch_texts = 2, .patience = patience_, .pause = 20ms}};
  }
  static RetrievalPlan plan(std::vector<std::string> texts, std::uint32_t depth = 2) {
    RetrievalPlan out{.depth = depth};
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
      if (i % 2 == 0) out.names.push_back("d" + std::to_string(i / 2));
      out.passages.push_back({"d" + std::to_string(i / 2) + "#" + std::to_string(i % 2), i / 2, std::move(texts[i])});
    }
    return out;
  }
  static std::string found(const Retriever& retriever, std::string question) {
    const auto answer = retriever.answerer().ask({.prompt = std::move(question)});
    return answer ? answer->text : "fault: " + answer.error().message;
  }

  const test::TempDir dir_;
  std::mutex mutex_;
  std::set<std::string> embedded_;
  int calls_ = 0, twice_ = 0, away_ = 0, refuse_after_ = 1 << 30;
  std::string broken_;
  std::chrono::milliseconds patience_ = 10s;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<web::App> app_;
};

TEST_F(RetrieverTest, finds_passages_by_their_embeddings) {
  for (const Index index : {Index::exact, Index::hnsw}) {
    const Endpoint own = endpoint();
    std::vector<std::uint64_t> progress;
    const auto retriever = Retriever::open(plan({"aaa", "bbb", "abab", "ccc", "dd"}), own, options(index),
                                           {.embedded = [&](std::uint64_t done, std::uint64_t all) {
                                             EXPECT_EQ(all, 5U);
                                             progress.push_back(done);
                                           }});
    ASSERT_TRUE(retriever) << retriever.error().message;
    EXPECT_EQ(progress.front(), 0U);
    EXPECT_EQ(progress.back(), 5U);
    EXPECT_TRUE(std::ranges::is_sorted(progress));
    EXPECT_THAT(found(**retriever, "aab"), testing::MatchesRegex(R"(\{"d1#0":0.94[0-9]*,"d0#0":0.89[0-9]*\})"));
  }
}

TEST_F(RetrieverTest, folds_passages_to_documents_and_looks_for_enough_of_them) {
  RetrievalPlan pieces = plan({"aaa", "aaab", "aab", "abb", "abbb", "bbb", "cca", "ccc"}, 3);
  pieces.answers_documents = true;
  const Endpoint own = endpoint();
  const auto retriever = Retriever::open(pieces, own, options(), {});
  ASSERT_TRUE(retriever);
  // The three nearest passages are of two documents.
  EXPECT_THAT(found(**retriever, "a"), testing::MatchesRegex(R"(\{"d0":1,"d1":0.8[0-9]*,"d3":0.4[0-9]*\})"));
}

TEST_F(RetrieverTest, nothing_is_embedded_twice_after_a_restart) {
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) texts.push_back(std::string(static_cast<std::size_t>(i + 1), 'a') + "b");
  for (const Index index : {Index::exact, Index::hnsw}) {
    const test::TempDir own_dir;
    auto own_options = options(index);
    own_options.directory = own_dir / "";
    const Endpoint own = endpoint();
    embedded_.clear();
    calls_ = twice_ = 0;
    refuse_after_ = 9;
    own_options.embedding.parallelism = 1;
    const auto interrupted = Retriever::open(plan(texts), own, own_options, {});
    ASSERT_FALSE(interrupted);
    EXPECT_THAT(interrupted.error().message, HasSubstr("no more"));
    // With several at a time, calls behind the refused one would be lost.
    refuse_after_ = 1 << 30;
    EXPECT_EQ(embedded_.size(), 18U);
    own_options.embedding.parallelism = 3;
    ASSERT_TRUE(Retriever::open(plan(texts), own, own_options, {}));
    EXPECT_EQ(embedded_.size(), 40U);
    EXPECT_EQ(twice_, 0);
    const int calls = calls_;
    const auto again = Retriever::open(plan(texts), own, own_options, {});
    ASSERT_TRUE(again);
    EXPECT_EQ(calls_, calls);
    EXPECT_THAT(found(**again, "ab"), HasSubstr("d0#0"));
    // Of another model, of other texts: other vectors.
    const Endpoint other = endpoint("n");
    ASSERT_TRUE(Retriever::open(plan(texts), other, own_options, {}));
    EXPECT_EQ(twice_, 41);
    for (const auto& file : std::filesystem::directory_iterator(own_dir / ""))
      EXPECT_FALSE(file.path().string().ends_with(".embeddings")) << file.path();
  }
}

TEST_F(RetrieverTest, a_damaged_index_is_made_again) {
  const Endpoint own = endpoint();
  ASSERT_TRUE(Retriever::open(plan({"aaa", "bbb"}), own, options(), {}));
  for (const auto& file : std::filesystem::directory_iterator(dir_ / "")) {
    std::ofstream out(file.path(), std::ios::binary | std::ios::in);
    out.seekp(50);
    out << "damage";
  }
  const auto again = Retriever::open(plan({"aaa", "bbb"}), own, options(), {});
  ASSERT_TRUE(again);
  EXPECT_EQ(twice_, 2);
  EXPECT_THAT(found(**again, "a"), HasSubstr(R"("d0#0":1)"));
}

TEST_F(RetrieverTest, two_at_once_embed_once) {
  std::vector<std::string> texts;
  for (int i = 0; i < 30; ++i) texts.push_back(std::string(static_cast<std::size_t>(i + 1), 'c') + "d");
  const Endpoint own = endpoint();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] { good += Retriever::open(plan(texts), own, options(), {}) ? 1 : 0; });
  }
  EXPECT_EQ(good, 3);
  EXPECT_EQ(twice_, 0);
}

TEST_F(RetrieverTest, an_endpoint_that_is_away_is_waited_for) {
  away_ = 3;
  const Endpoint own = endpoint();
  EXPECT_TRUE(Retriever::open(plan({"aaa", "bbb"}), own, options(), {}));
  away_ = 1 << 30;
  patience_ = 100ms;
  const auto away = Retriever::open(plan({"aaa", "bbb", "c"}), own, options(), {});
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().kind, NoAnswer::Kind::away);
  patience_ = 60s;
  std::jthread stopper([this] {
    std::this_thread::sleep_for(100ms);
    stop_ = true;
  });
  const auto stopped =
      Retriever::open(plan({"aaa", "bbb", "c"}), own, options(), {.stop = [this] { return stop_.load(); }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, NoAnswer::Kind::stopped);
}

TEST_F(RetrieverTest, answers_that_lie_are_refused) {
  const Endpoint own = endpoint();
  broken_ = R"({"data":[{"embedding":[1,2]},{"embedding":[1,null]}]})";
  const auto bad = Retriever::open(plan({"aaa", "bbb"}), own, options(), {});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, NoAnswer::Kind::broken);
  broken_.clear();
  const auto good = Retriever::open(plan({"aaa", "bbb"}), own, options(), {});
  ASSERT_TRUE(good);
  broken_ = R"({"data":[{"embedding":[1,2]}]})";
  EXPECT_THAT(found(**good, "a"), HasSubstr("the query has 2 dimensions, the index 26"));
}

TEST_F(RetrieverTest, without_a_vector_database_says_what_to_do) {
  const Endpoint own = endpoint();
  const auto none = Retriever::open(plan({"aaa"}), own, options(Index::vector_db), {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("has no vector database"));
  EXPECT_EQ(Retriever::open(plan({}), own, options(), {}).error().kind, NoAnswer::Kind::refused);
}

TEST_F(RetrieverTest, the_embedder_gives_cosines_with_the_first) {
  const Endpoint own = endpoint();
  const Answerer one = embedder(own);
  const auto answer = one.ask({.messages = {{"user", "aab"}, {"user", "aaaabb"}, {"user", "c"}, {"user", "ab"}}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->text, testing::MatchesRegex(R"(\[(1|0.99999[0-9]*|1.00000[0-9]*),0,0.948[0-9]*\])"));
  EXPECT_FALSE(one.ask({.prompt = "a"}));
}

TEST(DirectoryRoom, the_oldest_go_first_and_some_stay) {
  const test::TempDir dir;
  const auto now = std::filesystem::file_time_type::clock::now();
  int age = 5;
  for (const char* name : {"keep.a", "old", "middle", "young"}) {
    dir.write(name, std::string(100, 'x'));
    std::filesystem::last_write_time(dir / name, now - std::chrono::hours(age--));
  }
  make_room(dir / "", 1000, "keep");
  EXPECT_TRUE(std::filesystem::exists(dir / "old"));
  mark_used(dir / "old");
  make_room(dir / "", 300, "keep");
  EXPECT_TRUE(std::filesystem::exists(dir / "old"));
  EXPECT_FALSE(std::filesystem::exists(dir / "middle"));
  make_room(dir / "", 0, "keep");
  EXPECT_TRUE(std::filesystem::exists(dir / "keep.a"));
  EXPECT_FALSE(std::filesystem::exists(dir / "young"));
  make_room(dir / "nowhere", 0, "keep");
}

}  // namespace
}  // namespace stackgate::evaluator
