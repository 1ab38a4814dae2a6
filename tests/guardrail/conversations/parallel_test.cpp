// `parallel: true` over HTTP: rails that ask at the same time, the first that blocks, and those that alter.
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/kit/web/deferred.hpp"
#include "tests/guardrail/conversations/serving.hpp"

namespace stackgate::guardrail {
namespace {

using test::Asked;
using test::Read;
using web::test::Reply;

constexpr std::string_view two_checks = R"(models:
  - {type: self_check_output, engine: openai, model: first}
  - {type: guard, engine: openai, model: second}
prompts:
  - {task: self_check_output, content: "{{ bot_response }}"}
  - {task: content_safety_check_output $model=guard, content: "{{ bot_response }}"}
rails:
  output:
    flows: [self check output, content safety check output $model=guard]
    parallel: true
)";

std::string model_of(const Asked& asked) { return std::string(json::text(*Read(asked.body), {"model"})); }

std::string question(bool stream) {
  return fmt::format(R"({{"config_id":"c","stream":{},"messages":[{{"role":"user","content":"x"}}],)"
                     R"("options":{{"log":{{"activated_rails":true}}}}}})",
                     stream);
}

/// Answers of checks that are held back until a test lets them go.
class Held {
 public:
  web::Answer hold(web::Call& call, const Asked& asked) {
    auto later = call.defer();
    if (!later) return std::move(later.error());
    const std::string model = model_of(asked);
    (*later)->on_closed([this, model] {
      if (!told_.exchange(true)) first_closed_.set_value(model);
    });
    calls_.push_back({*later, asked});
    return web::Later{};
  }
  bool empty() const { return calls_.empty(); }
  void answer(const std::function<web::Answer(const Asked&)>& with) {
    for (const auto& [call, asked] : calls_) call->answer(with(asked));
    calls_.clear();
  }
  std::future<std::string> first_closed() { return first_closed_.get_future(); }

 private:
  std::vector<std::pair<std::shared_ptr<web::Deferred>, Asked>> calls_;
  std::promise<std::string> first_closed_;
  std::atomic<bool> told_ = false;
};

constexpr std::string_view safe = R"({"User Safety": "safe", "Response Safety": "safe"})";
constexpr std::string_view unsafe =
    R"({"User Safety": "safe", "Response Safety": "unsafe", "Safety Categories": "S1"})";

std::string with_pieces(bool pieces) {
  return pieces ? "rails: {output: {streaming: {enabled: true, chunk_size: 4, context_size: 2}}}\n" : "";
}

TEST(ParallelRails, ask_at_the_same_time) {
  test::Serving serving;
  for (const bool pieces : {false, true}) {
    Held held;
    std::mutex mutex;
    const auto passed = [](const Asked& asked) {
      return test::main_answer(asked, {model_of(asked) == "first" ? "no" : std::string(safe)});
    };
    serving.serve(test::configuration_of({{"b.yml", std::string(two_checks)}, {"c.yml", with_pieces(pieces)}}),
                  [&](web::Call& call, const Asked& asked, int) -> web::Answer {
                    if (model_of(asked) == "main") return test::main_answer(asked, {"a fine answer"});
                    const std::scoped_lock lock(mutex);  // the one that comes first waits for the other
                    if (held.empty()) return held.hold(call, asked);
                    held.answer(passed);
                    return passed(asked);
                  });
    const Reply reply = serving.post("/v1/chat/completions", question(pieces));
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_TRUE(reply.body.contains("a fine answer")) << reply.body;
    EXPECT_EQ(serving.asked().size(), 3U);
  }
}

TEST(ParallelRails, the_first_that_blocks_ends_the_others) {
  test::Serving serving;
  for (const bool pieces : {false, true}) {
    Held held;
    auto closed = held.first_closed();
    serving.serve(test::configuration_of({{"b.yml", std::string(two_checks)}, {"c.yml", with_pieces(pieces)}}),
                  [&](web::Call& call, const Asked& asked, int) -> web::Answer {
                    const std::string model = model_of(asked);
                    if (model == "main") return test::main_answer(asked, {"a bad answer"});
                    if (model == "first") return held.hold(call, asked);  // and is never answered
                    return test::main_answer(asked, {std::string(unsafe)});
                  });
    const Reply reply = serving.post("/v1/chat/completions", question(pieces));
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_FALSE(reply.body.contains("a bad")) << reply.body;
    const std::string rail = "content safety check output $model=guard";
    if (pieces) {
      EXPECT_EQ(json::text(*Read(test::read_stream(reply.body).error), {"param"}), rail);
    } else {
      const Read answer(reply.body);
      EXPECT_EQ(json::text(*answer, {"guardrails", "rail"}), rail);
      EXPECT_EQ(json::items(*answer, {"guardrails", "log", "activated_rails"}).size(), 3U) << reply.body;
    }
    ASSERT_EQ(closed.wait_for(std::chrono::seconds(5)), std::future_status::ready) << "nobody waits for its answer";
    EXPECT_EQ(closed.get(), "first");
  }
}

// Two masks that both looked at the same text would each undo what the other one did.
TEST(ParallelRails, that_alter_do_so_one_after_the_other) {
  test::Serving serving;
  for (const std::string_view list : {"input", "output"}) {
    serving.serve(test::configuration_of({{"b.yml", fmt::format(R"(rails:
  config:
    regex_detection: {{{0}: {{patterns: ["key-[0-9]+"]}}}}
    sensitive_data_detection: {{{0}: {{entities: [EMAIL_ADDRESS]}}}}
  {0}:
    flows: [mask sensitive data on {0}, regex redact {0}, regex check {0}]
    parallel: true
)",
                                                                list)}}),
                  [](web::Call&, const Asked& asked, int) {
                    return test::main_answer(asked, {"ann@example.com has key-12, and no more"});
                  });
    const Reply reply = serving.post(
        "/v1/chat/completions",
        R"({"config_id":"c","messages":[{"role":"user","content":"ann@example.com has key-12, and no more"}]})");
    const std::string text = list == "input" ? serving.asked().at(0).body : reply.body;
    EXPECT_TRUE(text.contains("<EMAIL_ADDRESS> has <REDACTED>, and no more")) << list << ": " << text;
  }
}

}  // namespace
}  // namespace stackgate::guardrail
