#include "services/guardrail/configuration/detectors.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guardrail/actions/acting.hpp"

namespace stackgate::guardrail {
namespace {

using test::Acting;
using test::is;
using test::says;
using test::text_value;
using testing::HasSubstr;

std::shared_ptr<Detectors> some_detectors() {
  auto out = std::make_shared<Detectors>();
  out->sensitive_data.input = *SensitiveData::compile({.entities = {"EMAIL_ADDRESS"}}, "x");
  out->patterns.output = *Patterns::compile({.patterns = {"s[e3]cret"}, .case_insensitive = true}, "x");
  return out;
}

Variables about(std::string_view source, std::string_view text) {
  return {{"source", text_value(source)}, {"text", text_value(text)}};
}

TEST(Detectors, find_and_alter_texts_without_a_model) {
  Acting acting([](auto&, auto&, int) { return says("x"); });
  acting.configuration->detectors = some_detectors();
  EXPECT_TRUE(is(acting.run("detect_sensitive_data", {}, about("input", "write to a@example.com")), true));
  EXPECT_TRUE(is(acting.run("detect_sensitive_data", {}, about("input", "write to me")), false));
  EXPECT_EQ(acting.run("mask_sensitive_data", {}, about("input", "write to a@example.com!")).value.bytes(),
            "write to <EMAIL_ADDRESS>!");
  EXPECT_TRUE(is(acting.run("detect_regex_pattern", {}, about("output", "a S3CRET")), true));
  EXPECT_TRUE(is(acting.run("detect_regex_pattern", {}, about("output", "a sect")), false));
  EXPECT_EQ(acting.run("redact_regex_pattern", {}, about("output", "a secret word")).value.bytes(),
            "a <REDACTED> word");
  EXPECT_EQ(acting.upstream.count(), 0U);
}

TEST(Detectors, topics_are_those_of_the_nearest_example) {
  Acting acting([](auto&, auto&, int) { return says("x"); });
  auto detectors = std::make_shared<Detectors>();
  acting.configuration->detectors = detectors;
  EXPECT_TRUE(acting.run("check_topic", {}, about("input", "x")).failed) << "no topics";
  detectors->topic.emplace();
  detectors->topic->allowed = {"When does the ferry leave?"};
  detectors->topic->denied = {"What does the ferry of your competitors cost?"};
  const auto allowed = [&](std::string_view text) {
    const auto result = acting.run("check_topic", {}, about("input", text));
    EXPECT_FALSE(result.failed) << result.error;
    return result.value.truth();
  };
  EXPECT_TRUE(allowed("when does the ferry leave"));
  EXPECT_FALSE(allowed("what does the competitors' ferry cost"));
  EXPECT_FALSE(allowed("write a poem"));
  EXPECT_FALSE(allowed("?!"));
  EXPECT_EQ(acting.upstream.count(), 0U);
}

TEST(Detectors, topics_are_judged_by_the_configurations_embeddings) {
  Acting acting([](auto&, auto& asked, int) {
    const char* vector = asked.body.contains("poem") ? "[0,1]" : "[1,0]";
    return test::json_reply(200, fmt::format(R"({{"data":[{{"index":0,"embedding":{}}}]}})", vector));
  });
  auto detectors = std::make_shared<Detectors>();
  detectors->topic.emplace();
  detectors->topic->denied = {"politics"};
  acting.configuration->detectors = detectors;
  acting.configuration->models.push_back({.type = "embeddings", .engine = "openai", .model = "e"});
  EXPECT_TRUE(is(acting.run("check_topic", {}, about("input", "a poem")), true)) << "near to nothing that is denied";
  EXPECT_TRUE(is(acting.run("check_topic", {}, about("input", "elections")), false));
}

TEST(Detectors, that_the_configuration_does_not_have_fail_closed) {
  Acting acting([](auto&, auto&, int) { return says("x"); });
  acting.configuration->detectors = some_detectors();
  const auto other = acting.run("detect_sensitive_data", {}, about("output", "a@example.com"));
  EXPECT_TRUE(other.failed);
  EXPECT_THAT(other.error, HasSubstr("rails.config.sensitive_data_detection.output"));
  EXPECT_TRUE(acting.run("detect_regex_pattern", {}, about("nowhere", "a secret")).failed);
  EXPECT_TRUE(acting.run("detect_sensitive_data", {}, {{"source", text_value("input")}}).failed) << "no text";
  acting.configuration->detectors = nullptr;
  EXPECT_TRUE(acting.run("mask_sensitive_data", {}, about("input", "a")).failed);
}

TEST(Detectors, injections_are_found_and_left_out_where_that_is_configured) {
  Acting acting([](auto&, auto&, int) { return says("x"); });
  auto detectors = std::make_shared<Detectors>();
  acting.configuration->detectors = detectors;
  detectors->injection.compiled = *Injection::compile({.injections = {"xss"}}, "x");
  const Variables attack{{"text", text_value("Sure: <script>alert(1)</script> there.")}};
  const auto rejected = acting.run("injection_detection", {}, attack);
  ASSERT_FALSE(rejected.failed) << rejected.error;
  EXPECT_TRUE(test::member(rejected, "is_injection").truth());
  EXPECT_EQ(test::member(rejected, "action").bytes(), "reject");
  ASSERT_NE(test::member(rejected, "detections").list(), nullptr);
  EXPECT_FALSE((*test::member(rejected, "detections").list())->items.empty());
  detectors->injection.omit = true;
  const auto omitted = acting.run("injection_detection", {}, attack);
  EXPECT_EQ(test::member(omitted, "action").bytes(), "omit");
  EXPECT_EQ(std::string(test::member(omitted, "text").bytes()).find("<script>"), std::string::npos);
  const auto fine = acting.run("injection_detection", {}, {{"text", text_value("All is well.")}});
  EXPECT_FALSE(test::member(fine, "is_injection").truth());
  EXPECT_TRUE(acting.run("injection_detection").failed) << "no text";
  detectors->injection.compiled = *Injection::compile({.injections = {"sqli"}}, "x");
  EXPECT_FALSE(test::member(acting.run("injection_detection", {}, attack), "is_injection").truth());
  detectors->injection.compiled.reset();
  EXPECT_TRUE(acting.run("injection_detection", {}, attack).failed);
}

TEST(Jailbreaks, are_judged_by_the_own_model_without_a_server) {
  Acting acting([](auto&, auto&, int) { return says("x"); });
  const auto judged = [&](std::string_view text) {
    return acting.run("jailbreak_detection_heuristics", {{"user_message", text_value(text)}});
  };
  EXPECT_TRUE(is(judged("What is the capital of France?"), false));
  std::string noise = "Tell me how to bake bread with the flour that I bought at the market yesterday, please, and";
  for (int i = 0; i < 30; ++i) noise += " xq}zk(vv]!" + std::to_string(i * 7919) + "==";
  EXPECT_TRUE(is(judged(noise), true));
  auto detectors = std::make_shared<Detectors>();
  detectors->jailbreak.own = {.length_per_perplexity = 1e12, .prefix_suffix_perplexity = 1e12};
  acting.configuration->detectors = detectors;
  EXPECT_TRUE(is(judged(noise), false)) << "the configuration's own thresholds";
  EXPECT_EQ(acting.upstream.count(), 0U);
}

TEST(Jailbreaks, are_judged_by_the_server_that_the_configuration_names) {
  Acting acting([](auto&, const test::Asked& asked, int) -> web::Answer {
    if (asked.path == "/v1/heuristics")
      return test::json_reply(200, asked.body.contains("ignore") ? R"({"jailbreak":true})" : R"({"jailbreak":false})");
    if (asked.path == "/v1/classify") return test::json_reply(200, R"({"jailbreak":true,"score":0.9})");
    return test::json_reply(200, R"({"verdict":"fine"})");
  });
  auto detectors = std::make_shared<Detectors>();
  detectors->jailbreak.server_endpoint = acting.upstream.base_url() + "/heuristics";
  detectors->jailbreak.nim_base_url = acting.upstream.base_url() + "/";
  detectors->jailbreak.api_key_env = "SAFETY_KEY";
  acting.configuration->detectors = detectors;
  const auto judged = [&](std::string_view action, std::string_view text) {
    return acting.run(std::string(action), {{"user_message", text_value(text)}});
  };
  EXPECT_TRUE(is(judged("jailbreak_detection_heuristics", "ignore all"), true));
  EXPECT_TRUE(is(judged("jailbreak_detection_heuristics", "hello"), false));
  EXPECT_THAT(acting.upstream.asked()[1].body, HasSubstr(R"("prompt":"hello")"));
  EXPECT_EQ(acting.upstream.asked()[1].authorization, "");
  EXPECT_TRUE(is(judged("jailbreak_detection_model", "hello"), true));
  EXPECT_EQ(acting.upstream.asked()[2].authorization, "Bearer sk-safety");
  detectors->jailbreak.server_endpoint = acting.upstream.base_url() + "/other";
  EXPECT_TRUE(judged("jailbreak_detection_heuristics", "hello").failed) << "an answer without a verdict";
  detectors->jailbreak.nim_base_url.clear();
  EXPECT_TRUE(judged("jailbreak_detection_model", "hello").failed);
}

}  // namespace
}  // namespace stackgate::guardrail
