// What a thread shows the model in its next turn.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/guardrail/conversations/playing.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::string_view thread = "a-thread-of-one-test";

class ThreadOfTurns : public testing::Test {
 protected:
  /// One turn with a rail of patterns on input, and one that redacts; the answer.
  std::string turn(std::string_view text, bool stream = false) {
    return serving_
        .post("/v1/chat/completions",
              fmt::format(
                  R"({{"config_id":"row","thread_id":"{}","stream":{},"messages":[{{"role":"user","content":"{}"}}]}})",
                  thread, stream, text))
        .body;
  }
  void serve(const std::string& more = {}) {
    serving_.serve(
        test::configuration_of({{"b.yml",
                                 "rails:\n  config:\n    regex_detection:\n      input: {patterns: [forbidden]}\n"
                                 "  input:\n    flows: [regex check input]\n"},
                                {"c.yml", more}}),
        [](web::Call&, const test::Asked& asked, int) { return test::main_answer(asked, {"an ", "answer"}); });
  }
  test::Serving serving_{};
};

TEST_F(ThreadOfTurns, hides_what_an_input_rail_refused) {
  for (const std::string more : {"", "enable_rails_exceptions: true\n"})
    for (const bool stream : {false, true}) {
      serve(more);
      (void)turn("the first question", stream);
      (void)turn("a forbidden one", stream);
      EXPECT_EQ(serving_.asked().size(), 1U);
      (void)turn("the last question", stream);
      const std::string asked = test::asked_of_main(serving_);
      EXPECT_TRUE(asked.contains("the first question") && asked.contains("the last question")) << asked;
      EXPECT_FALSE(asked.contains("forbidden")) << asked;
      EXPECT_TRUE(asked.contains("This text is hidden")) << asked;
    }
}

}  // namespace
}  // namespace stackgate::guardrail
