#include <gmock/gmock.h>

#include "services/evaluator/workflow/protocol/log_capture.hpp"
#include "services/evaluator/workflow/protocol/result_stream.hpp"
#include "services/evaluator/workflow/protocol/workflow_object.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Read {
  std::vector<std::string> entries{};
  std::string fault{};
  std::size_t passed_over = 0;
};

Read read(std::string_view bytes, std::size_t part) {
  ResultStream stream;
  Read out;
  const auto take = [&](const json::Value& result) {
    out.entries.emplace_back(read_log_entry(result).content);
    return true;
  };
  bool goes_on = true;
  for (std::size_t at = 0; at < bytes.size() && goes_on; at += part)
    goes_on = stream.feed(bytes.substr(at, part), take);
  if (goes_on) (void)stream.finish(take);
  out.fault = stream.fault();
  out.passed_over = stream.passed_over();
  return out;
}

TEST(ResultStream, reads_both_kinds_however_they_are_split) {
  const std::string_view events =
      ":\n\ndata: {\"result\":{\"content\":\"a\",\"podName\":\"p\"}}\n\nevent: "
      "x\r\ndata:{\"result\":{\"content\":\"b\"}}\r\n\r\n";
  const std::string_view lines = "{\"result\":{\"content\":\"a\"}}\n\n{\"result\":{\"content\":\"b\"}}";
  for (const std::size_t part : {1U, 2U, 7U, 1000U}) {
    EXPECT_THAT(read(events, part).entries, ElementsAre("a", "b"));
    EXPECT_THAT(read(lines, part).entries, ElementsAre("a", "b"));
    EXPECT_EQ(read(events, part).fault, "");
  }
}

TEST(ResultStream, passes_over_half_a_line_and_what_is_no_entry) {
  const Read found = read("data: {\"result\":{\"content\":\"a\"}}\ndata: 3\ndata: {}\n{\"result\":{\"cont", 5);
  EXPECT_THAT(found.entries, ElementsAre("a"));
  EXPECT_EQ(found.passed_over, 3U);
  EXPECT_EQ(found.fault, "");
}

TEST(ResultStream, ends_with_an_error_inside_of_it) {
  const Read gateway = read(R"({"error":{"grpc_code":14,"http_code":503,"message":"the watch was closed"}})"
                            "\n{\"result\":{}}\n",
                            9);
  EXPECT_THAT(gateway.entries, IsEmpty());
  EXPECT_EQ(gateway.fault, "the watch was closed");
  EXPECT_EQ(read("data: {\"error\":{}}\n", 100).fault, "the server ended the stream with an error");
}

TEST(ResultStream, bounds_a_line) {
  const Read found = read("data: " + std::string(9U << 20U, 'x'), 1U << 20U);
  EXPECT_THAT(found.fault, HasSubstr("more than 8 MiB"));
}

TEST(ResultStream, ends_when_enough_was_taken) {
  ResultStream stream;
  int taken = 0;
  EXPECT_FALSE(stream.feed("{\"result\":{}}\n{\"result\":{}}\n", [&](const json::Value&) { return ++taken < 1; }));
  EXPECT_EQ(taken, 1);
}

WorkflowFacts workflow(std::string_view text) {
  json::Document document;
  return read_workflow(json::parse(text, document).value());
}

TEST(Workflow, is_read_without_its_nodes) {
  const WorkflowFacts found = workflow(
      R"({"metadata":{"name":"eval-1","uid":"u","labels":{"stackgate.dev/evaluation":"eval-1"}},"status":{"phase":"Running",)"
      R"("progress":"1/4","message":"m","compressedNodes":"eJ…","offloadNodeStatusVersion":"fnv:1",)"
      R"("outputs":{"parameters":[{"name":"other","value":"x"},{"name":"results","value":"{}"}]}}})");
  EXPECT_EQ(found.name, "eval-1");
  EXPECT_EQ(found.evaluation, "eval-1");
  EXPECT_EQ(found.phase, WorkflowPhase::running);
  EXPECT_EQ(found.progress, 25.0);
  EXPECT_EQ(found.results, "{}");
}

TEST(Workflow, that_lies_about_types_reads_as_nothing) {
  for (const std::string_view text :
       {"{}", "[]", "3", R"({"metadata":3,"status":[]})",
        R"({"status":{"phase":7,"progress":3,"message":{},"outputs":{"parameters":{}}}})",
        R"({"status":{"phase":"Dancing","progress":"9/4"}})", R"({"status":{"progress":"-1/0"}})"}) {
    const WorkflowFacts found = workflow(text);
    EXPECT_EQ(found.phase, WorkflowPhase::unknown) << text;
    EXPECT_FALSE(found.progress) << text;
    EXPECT_EQ(found.message, "") << text;
  }
  EXPECT_EQ(workflow(R"({"status":{"message":")" + std::string(1'999, 'x') + "éé\"}}").message.size(), 1'999U)
      << "cut between characters";
}

TEST(Workflow, phases_have_words) {
  EXPECT_EQ(phase_named("Succeeded"), WorkflowPhase::succeeded);
  EXPECT_EQ(phase_named("Skipped"), WorkflowPhase::unknown) << "of nodes only";
  EXPECT_EQ(phase_named(""), WorkflowPhase::unknown);
  EXPECT_EQ(to_string(WorkflowPhase::error), "Error");
  EXPECT_FALSE(is_final(WorkflowPhase::running));
  EXPECT_TRUE(is_final(WorkflowPhase::failed));
}

TEST(Gateway, errors_become_words_with_a_cure) {
  const std::string words =
      status_words(403, "list workflows", R"({"code":7,"message":"workflows.argoproj.io is forbidden"})");
  EXPECT_THAT(words, HasSubstr("(403): workflows.argoproj.io is forbidden; give the ServiceAccount"));
  EXPECT_THAT(status_words(401, "list workflows", ""),
              HasSubstr("does not know the token (401); check the token file"));
  EXPECT_THAT(status_words(404, "list workflows", "[]"), HasSubstr("check the server's address and the namespace"));
  EXPECT_EQ(status_words(502, "create workflows", "<html>Bad Gateway\nmore"),
            "the workflow server answered 502 when asked to create workflows: <html>Bad Gateway");
  EXPECT_EQ(gateway_message(R"({"error":"plain"})"), "plain");
  EXPECT_EQ(gateway_message("\xff\xfe"), "");
  EXPECT_EQ(gateway_message(std::string(5'000, 'x')).size(), 300U);
}

class Capture : public testing::Test {
 protected:
  void add(std::string_view line, std::string_view pod = "p") {
    log_.add(pod, line, [this](std::string_view shown) { lines_.emplace_back(shown); });
  }
  void add_results(std::string_view text, std::size_t announced, std::string_view pod = "p") {
    add("stackgate-results-begin", pod);
    const std::string base64 = base64::encode(text);
    add("stackgate-results: " + base64.substr(0, 4), pod);
    add("stackgate-results: " + base64.substr(4) + "\r", pod);
    add("stackgate-results-end: " + std::to_string(announced), pod);
  }

  LogCapture log_{};
  std::vector<std::string> lines_{};
};

TEST_F(Capture, hands_on_lines_once_however_often_the_stream_begins) {
  log_.begin();
  add("a");
  add("b");
  log_.begin();
  add("a");
  add("b");
  add("c");
  add("a", "q");
  EXPECT_THAT(lines_, ElementsAre("a", "b", "c", "a"));
  EXPECT_THAT(log_.tail(), ElementsAre("a", "b", "c", "a"));
}

TEST_F(Capture, finds_results_and_keeps_them_out_of_the_log) {
  log_.begin();
  add("working");
  add_results(R"({"results":{}})", 14);
  EXPECT_EQ(log_.results(), R"({"results":{}})");
  EXPECT_THAT(lines_, ElementsAre("working"));
}

TEST_F(Capture, takes_no_half_of_them) {
  log_.begin();
  add_results(R"({"results":{}})", 15);
  EXPECT_FALSE(log_.results());
  add("stackgate-results: e30=");
  add("stackgate-results-end: 2");
  EXPECT_FALSE(log_.results()) << "without a beginning";
  add("stackgate-results-begin");
  add("stackgate-results: !!!");
  add("stackgate-results-end: 2");
  EXPECT_FALSE(log_.results()) << "no base64";
  add_results("{}", 2, "another pod, after the first was lost");
  EXPECT_EQ(log_.results(), "{}");
}

TEST_F(Capture, puts_them_together_across_streams_that_were_cut) {
  log_.begin();
  add("stackgate-results-begin");
  add("stackgate-results: eyJhIj");
  log_.begin();
  add("stackgate-results-begin");
  add("stackgate-results: eyJhIj");
  add("stackgate-results: oxfQ==");
  add("stackgate-results-end: 7");
  EXPECT_EQ(log_.results(), R"({"a":1})");
}

TEST_F(Capture, finds_samples_by_their_files) {
  log_.begin();
  const auto add_samples = [this](std::string_view file, std::string_view text, std::size_t announced) {
    add(std::string("stackgate-samples-begin: ").append(file));
    add("stackgate-samples: " + base64::encode(text));
    add("stackgate-samples-end: " + std::to_string(announced));
  };
  add_samples("samples_a.jsonl", "{}\n", 3);
  add_samples("samples_b.jsonl", "half", 8);
  add_results("{}", 2);
  add_samples("samples_a.jsonl", "{\"again\":1}\n", 12);
  EXPECT_THAT(log_.samples(), ElementsAre(testing::Pair("samples_a.jsonl", "{\"again\":1}\n")));
  EXPECT_EQ(log_.results(), "{}");
  EXPECT_THAT(lines_, testing::IsEmpty());
  add("stackgate-samples-begin: samples_c.jsonl");
  add("stackgate-results: " + base64::encode("{}"));
  add("stackgate-samples-end: 2");
  EXPECT_FALSE(log_.samples().contains("samples_c.jsonl")) << "parts of something else";
  const std::string large(largest_samples - 10, 'x');
  add_samples("samples_d.jsonl", large, large.size());
  EXPECT_FALSE(log_.samples().contains("samples_d.jsonl")) << "too much together with the others";
}

TEST_F(Capture, has_bounds) {
  log_.begin();
  add(std::string(100'000, 'x'));
  EXPECT_EQ(lines_[0].size(), longest_log_line);
  for (int i = 0; i < 200; ++i) add("line " + std::to_string(i));
  EXPECT_EQ(log_.tail().size(), 50U);
  EXPECT_EQ(log_.last_line(), "line 199");
  for (int i = 0; i < 200; ++i) add("x", "pod" + std::to_string(i));
  EXPECT_EQ(lines_.size(), 1U + 200U + 99U) << "of at most a hundred pods";
}

TEST(Progress, is_read_from_bars) {
  EXPECT_EQ(percent_in("Requesting API:  45%|████▌     | 450/1000 [00:10<00:12, 45.00it/s]"), 45.0);
  EXPECT_EQ(percent_in("a: 10%|█ |\ra: 20%|██ |"), 20.0);
  EXPECT_FALSE(percent_in("100% of it"));
  EXPECT_FALSE(percent_in("900%|"));
  EXPECT_FALSE(percent_in("%|"));
}

}  // namespace
}  // namespace stackgate::evaluator
