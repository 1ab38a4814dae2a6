// What leaves in a stream before its check: nothing, byte by byte, whatever the model's pieces, the windows and what is
// forbidden are. The endpoint that checks looks at what the client has got before it answers.
#include <atomic>
#include <future>
#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/kit/base/utf8.hpp"
#include "services/kit/json/write.hpp"
#include "tests/guardrail/conversations/serving.hpp"

namespace stackgate::guardrail {
namespace {

using test::Asked;
using test::Read;
using test::Streamed;

constexpr std::string_view forbidden = "forbidden";

/// Words that stand there once each, a few keys to be redacted among them, and maybe what is forbidden.
std::string draw_text(std::mt19937& dice, bool forbids) {
  const std::vector<std::string> between = {" ", " ", "  ", "\n", ", ", ". ", " é ", " 日本 ", " 😀 "};
  const int words = 1 + static_cast<int>(dice() % 120);
  const int at = forbids ? static_cast<int>(dice() % static_cast<unsigned>(words)) : -1;
  std::string out;
  for (int i = 0; i < words; ++i) {
    if (i == at) out.append(forbidden).append(" ");
    out += dice() % 10 == 0 ? fmt::format("key-{}", 1000 + i) : fmt::format("w{}x", 1000 + i);
    out += between[dice() % between.size()];
  }
  return out;
}

std::vector<std::string> draw_pieces(std::mt19937& dice, const std::string& text) {
  std::vector<std::string> out;
  const std::size_t most = 1 + dice() % 30;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = 0;
    for (std::size_t characters = 1 + dice() % most; characters > 0 && at + size < text.size(); --characters)
      size += utf8::sequence_length(std::string_view(text).substr(at + size));
    out.push_back(text.substr(at, size));
    at += size;
  }
  return out;
}

std::string redacted(std::string text) {
  for (std::size_t at = 0; (at = text.find("key-", at)) != std::string::npos;) text.replace(at, 8, "<REDACTED>");
  return text;
}

/// A client that reads all the time, and can be asked what it has.
class Reader {
 public:
  Reader(std::uint16_t port, const std::string& body) : client_(port) {
    client_.send(web::test::request_text("POST /v1/chat/completions", body,
                                         "Content-Type: application/json\r\nConnection: close\r\n"));
    thread_ = std::jthread([this] {
      while (!client_.closed()) {
        const std::string more = client_.some();
        if (more.empty() && !client_.closed()) break;
        const std::scoped_lock lock(mutex_);
        bytes_ += more;
      }
    });
  }
  Streamed now() const {
    const std::scoped_lock lock(mutex_);
    return test::read_stream(bytes_);
  }
  Streamed whole() {
    thread_.join();
    return now();
  }

 private:
  http::test::Client client_;
  mutable std::mutex mutex_;
  std::string bytes_;
  std::jthread thread_;
};

/// The bytes of an answer that the checks have allowed, from its beginning.
struct Allowed {
  std::mutex mutex;
  std::size_t begin = 0, allowed = 0;
  int count = 0;
};

struct Case {
  std::string text, expected;  // of the model; behind the redaction
  bool redacts = false, stream_first = false;
};

ConfigurationPtr draw_configuration(std::mt19937& dice, const Case& drawn) {
  return test::configuration_of(
      {{"b.yml", fmt::format(R"(models: [{{type: self_check_output, engine: openai, model: checker}}]
prompts: [{{task: self_check_output, content: "[{{{{ bot_response }}}}]"}}]
rails:
  config: {{regex_detection: {{output: {{patterns: ["key-[0-9]+"]}}}}}}
  output:
    flows: [{}self check output]
    streaming: {{enabled: true, chunk_size: {}, context_size: {}, stream_first: {}}}
)",
                             drawn.redacts ? "regex redact output, " : "", 1 + dice() % 20, 4 + dice() % 10,
                             drawn.stream_first)}});
}

/// The check of one window: what the client has got so far was allowed before.
web::Answer check_window(const Asked& asked, const Case& drawn, Allowed& checks, const std::atomic<Reader*>& reader) {
  const Read body(asked.body);
  const std::string_view prompt = json::text(&json::items(*body, {"messages"})[0], {"content"});
  const std::string window(prompt.substr(1, prompt.size() - 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const std::scoped_lock lock(checks.mutex);
  ++checks.count;
  if (!drawn.stream_first && reader.load() != nullptr) {
    EXPECT_LE(reader.load()->now().text.size(), checks.allowed) << "left before its check";
  }
  checks.begin = drawn.expected.find(window, checks.begin);
  EXPECT_NE(checks.begin, std::string::npos) << "no part of the answer: " << window;
  if (window.contains(forbidden)) return test::main_answer(asked, {"yes"});
  checks.allowed = std::max(checks.allowed, checks.begin + window.size());
  return test::main_answer(asked, {"no"});
}

void expect_blocked_by(const Streamed& got, std::string_view rail) {
  const Read error(got.error);
  EXPECT_EQ(json::text(*error, {"type"}), "guardrails_violation");
  EXPECT_EQ(json::text(*error, {"code"}), "content_blocked");
  EXPECT_EQ(json::text(*error, {"param"}), rail);
  EXPECT_FALSE(json::text(*error, {"message"}).empty());
  EXPECT_EQ(got.finish_reason, "");
  EXPECT_TRUE(got.done);
}

constexpr std::string_view question = R"({"config_id":"c","stream":true,"messages":[{"role":"user","content":"x"}]})";

TEST(Stream, property_no_byte_leaves_before_its_check) {
  test::Serving serving;
  int violations = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 dice(seed);
    const bool forbids = seed % 2 == 0;
    Case drawn{.text = draw_text(dice, forbids), .redacts = seed % 3 == 0, .stream_first = seed % 8 == 7};
    if (drawn.stream_first) drawn.redacts = false;
    drawn.expected = drawn.redacts ? redacted(drawn.text) : drawn.text;
    const auto pieces = draw_pieces(dice, drawn.text);
    Allowed checks;
    std::atomic<Reader*> reader = nullptr;
    serving.serve(draw_configuration(dice, drawn), [&](web::Call&, const Asked& asked, int) {
      return json::text(*Read(asked.body), {"model"}) == "main" ? test::main_answer(asked, pieces)
                                                                : check_window(asked, drawn, checks, reader);
    });
    Reader client(serving.port(), std::string(question));
    reader = &client;
    const Streamed got = client.whole();
    const std::scoped_lock lock(checks.mutex);
    EXPECT_GT(checks.count, 0);
    EXPECT_TRUE(drawn.expected.starts_with(got.text));
    if (!drawn.stream_first) {
      EXPECT_LE(got.text.size(), checks.allowed);
    }
    if (forbids) {
      ++violations;
      expect_blocked_by(got, "self check output");
      if (!drawn.stream_first) {
        EXPECT_FALSE(got.text.contains(forbidden));
      }
    } else {
      EXPECT_EQ(got.text, drawn.expected);
      EXPECT_EQ(got.finish_reason, "stop");
      EXPECT_EQ(got.error, "");
      EXPECT_TRUE(got.done);
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(violations, 0);
}

// A model may call tools that no request named, with words or without.
TEST(Stream, calls_of_tools_do_not_get_around_the_output_rails) {
  test::Serving serving;
  const auto configuration = test::configuration_of({{"b.yml", R"(rails:
  config: {regex_detection: {output: {patterns: [delete_all]}}}
  output:
    flows: [regex check output]
    streaming: {enabled: true, chunk_size: 4, context_size: 2}
)"}});
  const auto streamed = [&](const std::vector<std::string>& pieces, const std::string& calls) {
    serving.serve(configuration,
                  [&](web::Call&, const Asked& asked, int) { return test::main_answer(asked, pieces, calls); });
    return test::read_stream(serving.post("/v1/chat/completions", std::string(question)).body);
  };
  for (const auto& pieces : {std::vector<std::string>{}, {"I call it: ", "now, and then I do something else. "}}) {
    const Streamed bad = streamed(pieces, "delete_all");
    EXPECT_TRUE(bad.calls.empty());
    EXPECT_EQ(json::text(*Read(bad.error), {"param"}), "regex check output");
    EXPECT_TRUE(bad.done);
    const Streamed good = streamed(pieces, "search");
    EXPECT_EQ(good.calls, std::vector<std::string>{"search"});
    EXPECT_EQ(good.finish_reason, "tool_calls");
    EXPECT_EQ(good.text.empty(), pieces.empty());
  }
}

TEST(Stream, input_rails_look_at_the_question_once) {
  test::Serving serving;
  serving.serve(test::configuration_of({{"b.yml", R"(models:
  - {type: self_check_input, engine: openai, model: of_input}
  - {type: self_check_output, engine: openai, model: of_output}
prompts:
  - {task: self_check_input, content: "{{ user_input }}"}
  - {task: self_check_output, content: "{{ bot_response }}"}
rails:
  input: {flows: [self check input]}
  output:
    flows: [self check output]
    streaming: {enabled: true, chunk_size: 2, context_size: 1}
)"}}),
                [](web::Call&, const Asked& asked, int) {
                  const bool main = json::text(*Read(asked.body), {"model"}) == "main";
                  return test::main_answer(asked, {main ? "one two three four five six seven eight nine " : "no"});
                });
  EXPECT_TRUE(test::read_stream(serving.post("/v1/chat/completions", std::string(question)).body).done);
  std::map<std::string, int, std::less<>> asked;
  for (const Asked& each : serving.asked()) ++asked[std::string(json::text(*Read(each.body), {"model"}))];
  EXPECT_EQ(asked["of_input"], 1);
  EXPECT_EQ(asked["main"], 1);
  EXPECT_GE(asked["of_output"], 1);
}

// Nobody pays for what nobody gets.
TEST(Stream, a_violation_ends_the_call_of_the_model) {
  test::Serving serving;
  std::promise<void> left;
  serving.serve(test::configuration_of({{"b.yml", R"(rails:
  config: {regex_detection: {output: {patterns: [forbidden]}}}
  output:
    flows: [regex check output]
    streaming: {enabled: true, chunk_size: 1, context_size: 1}
)"}}),
                [&](web::Call& call, const Asked&, int) -> web::Answer {
                  auto later = call.defer();
                  if (!later) return std::move(later.error());
                  (*later)->on_closed([&left, held = *later] { left.set_value(); });
                  (*later)->start(test::event_stream(""), std::nullopt);
                  (*later)->write(test::chunk("one two a forbidden thing and more "));
                  return web::Later{};
                });
  const Streamed got = test::read_stream(serving.post("/v1/chat/completions", std::string(question)).body);
  expect_blocked_by(got, "regex check output");
  EXPECT_EQ(left.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
}

}  // namespace
}  // namespace stackgate::guardrail
