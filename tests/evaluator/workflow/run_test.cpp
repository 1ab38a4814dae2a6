// Against the stand-in of a workflow server (tests/e2e/evaluator/argo.py), which runs beside the test.
#include "services/evaluator/workflow/run.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/http_client/client.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/subprocess/process.hpp"
#include "tests/certs/pairs.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view results_text =
    R"({"results":{"gsm8k":{"exact_match,none":0.5,"exact_match_stderr,none":0.1}}})";

/// Lines as the script of a framework prints them.
std::vector<std::string> marked(std::string_view text = results_text) {
  return {"stackgate-results-begin", "stackgate-results: " + base64::encode(text),
          fmt::format("stackgate-results-end: {}", text.size())};
}

class WorkflowRun : public testing::Test {
 protected:
  void serve(std::vector<std::string> flags = {}) {
    const std::string port_file = dir_ / "port";
    std::vector<std::string> arguments{"python3", (test::source_dir() / "tests/e2e/evaluator/argo.py").string(),
                                       "--port-file", port_file};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    auto started = subprocess::Process::start({.arguments = arguments,
                                               .environment = subprocess::own_environment(),
                                               .errors = subprocess::Errors::inherited});
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
    std::string port;
    for (int i = 0; i < 600 && port.empty(); ++i) {
      std::this_thread::sleep_for(50ms);
      std::ifstream(port_file) >> port;
    }
    ASSERT_FALSE(port.empty()) << "the stand-in did not start";
    const bool tls = !flags.empty() && flags.front() == "--cert";
    options_.server_url = fmt::format("{}://127.0.0.1:{}", tls ? "https" : "http", port);
    options_.kubernetes_namespace = "models";
    options_.images.at(static_cast<std::size_t>(Framework::lm_eval_harness)) = "registry.example.com/eval/lm:1";
    options_.pause = 50ms;
    options_.patience = 60s;
  }

  void play(std::vector<std::string> log, std::string_view more = "") {
    const std::string body = json::object_text([&](json::Writer& w) {
      w.array("log", [&] {
        for (const std::string& each : log) w.value(each);
      });
    });
    control("/-/play", more.empty() ? body : fmt::format("{},{}}}", body.substr(0, body.size() - 1), more));
  }
  void control(std::string_view path, const std::string& body) {
    const auto reply = client().call({.method = "POST", .url = options_.server_url + std::string(path), .body = body});
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_EQ(reply->status, 200) << reply->body;
  }
  http_client::Client client() const { return http_client::Client({.ca_file = options_.ca_file}); }

  /// "GET /api/…" of each request.
  std::vector<std::string> requests() {
    const auto reply = client().call({.url = options_.server_url + "/-/requests"});
    json::Document document;
    std::vector<std::string> out;
    const std::string body = reply ? reply->body : "[]";
    for (const json::Value& each : json::parse(body, document).value_or(json::Value()).items())
      out.push_back(fmt::format("{} {}", json::text(&each, {"method"}), json::text(&each, {"path"})));
    return out;
  }
  std::size_t count(std::string_view prefix) {
    std::size_t out = 0;
    for (const std::string& each : requests()) out += each.starts_with(prefix) ? 1U : 0U;
    return out;
  }

  EvaluationRequest request() const {
    EvaluationRequest out{.name = "mine", .framework = Framework::lm_eval_harness};
    out.target = {.url = "http://inference:8000/v1", .model = "llama", .api_key = api_key_};
    out.tasks = {"gsm8k"};
    return out;
  }

  std::expected<WorkflowResults, WorkflowFailure> run() {
    return run_workflow(request(), "eval-1", options_,
                        {.event = [this](std::string_view message) { events_.emplace_back(message); },
                         .log = [this](std::string_view line) { log_.emplace_back(line); },
                         .progress = [this](double percent, std::string_view) { progress_.push_back(percent); },
                         .stored = stored_,
                         .stop = [this] { return stop_ && stop_(); },
                         .leave = [this] { return leave_ && leave_(); }});
  }

  test::TempDir dir_{};
  std::unique_ptr<subprocess::Process> server_{};
  WorkflowOptions options_{};
  std::string api_key_{};
  std::vector<std::string> events_{}, log_{};
  std::vector<double> progress_{};
  std::function<bool()> stop_{}, leave_{};
  std::function<std::expected<StoredFiles, std::string>()> stored_{};
};

void expect_score(const std::expected<WorkflowResults, WorkflowFailure>& result) {
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tasks.size(), 1U);
  EXPECT_EQ(result->tasks[0].scores.at(0).value, 0.5);
  EXPECT_EQ(result->tasks[0].scores.at(0).error, 0.1);
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_F(WorkflowRun, submits_follows_and_reads_results_from_the_log) {
  serve();
  play(joined({"loading", "Requesting API:  50%|█", ""}, marked()));
  expect_score(run());
  EXPECT_THAT(events_, Contains("the workflow eval-1 was submitted"));
  EXPECT_THAT(events_, Contains("the workflow is running"));
  EXPECT_THAT(log_, testing::ElementsAre("loading", "Requesting API:  50%|█"));
  EXPECT_THAT(progress_, testing::ElementsAre(49.5, 100));
  EXPECT_EQ(count("POST /api/v1/workflows/models"), 1U);
}

TEST_F(WorkflowRun, takes_results_that_the_framework_left_in_the_datastore) {
  serve();
  play({"done"});
  int asked = 0;
  stored_ = [&]() -> std::expected<StoredFiles, std::string> {
    if (++asked == 1) return std::unexpected("the datastore is away");
    return StoredFiles{
        {"results_2026-01-01.json", "{}"},
        {"results_2026-01-02.json", std::string(results_text)},
        {"samples_gsm8k_2026-01-02.jsonl",
         R"({"doc_id":0,"doc":{"q":1},"target":"a","filtered_resps":["b"],"filter":"none","metrics":["exact_match"],"exact_match":1})"}};
  };
  const auto found = run();
  expect_score(found);
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(events_, Contains("the datastore is away"));
  EXPECT_THAT(events_, Contains("results were read from the datastore"));
  ASSERT_EQ(found->samples.size(), 1U);
  EXPECT_EQ(found->samples[0].task, "gsm8k");
}

TEST_F(WorkflowRun, goes_on_with_a_workflow_that_is_there) {
  serve();
  play(marked());
  expect_score(run());
  expect_score(run());
  EXPECT_EQ(count("POST "), 1U) << "the second run found the workflow of the first";
}

TEST_F(WorkflowRun, survives_streams_that_are_cut_and_errors_in_them) {
  serve();
  play(joined({"a", "b", "c"}, marked()), R"("cut_events":1,"cut_log":2,"error_in_stream":false,"steps":20)");
  expect_score(run());
  EXPECT_THAT(log_, testing::ElementsAre("a", "b", "c")) << "each line once";
  EXPECT_GE(count("GET /api/v1/workflow-events/"), 2U);
}

TEST_F(WorkflowRun, survives_an_error_inside_of_the_event_stream) {
  serve();
  play(marked(), R"("error_in_stream":true,"steps":10)");
  expect_score(run());
}

TEST_F(WorkflowRun, makes_one_workflow_although_the_answer_was_lost) {
  serve();
  play(marked(), R"("cut_after_submit":true)");
  expect_score(run());
  // The client may send it again on a connection that was closed: its name makes that 409.
  const auto listed =
      client().call({.url = options_.server_url +
                            "/api/v1/workflows/models?listOptions.labelSelector=stackgate.dev/evaluation%3Deval-1"});
  ASSERT_TRUE(listed);
  json::Document document;
  const json::Value root = json::parse(listed->body, document).value();
  EXPECT_EQ(json::items(&root, {"items"}).size(), 1U);
}

TEST_F(WorkflowRun, waits_for_a_server_that_answers_nonsense_for_a_while) {
  serve();
  play(marked(), R"("fail":{"get":[503,"cut","html",500],"submit":[503,"cut"],"log":[500],"events":[503]})");
  expect_score(run());
  EXPECT_THAT(events_, Contains(HasSubstr("the workflow server answered 503")));
}

TEST_F(WorkflowRun, says_when_the_server_stays_away) {
  serve();
  (void)server_->end(5s);
  options_.patience = 1ms;
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().away);
  EXPECT_THAT(result.error().message, HasSubstr("the workflow server cannot be reached"));
}

TEST_F(WorkflowRun, takes_results_from_the_outputs_when_the_log_is_gone) {
  serve();
  play({"x"}, fmt::format(R"("keep_log":false,"results":"{}")",
                          R"({\"results\":{\"gsm8k\":{\"exact_match,none\":0.5,\"exact_match_stderr,none\":0.1}}})"));
  expect_score(run());
}

TEST_F(WorkflowRun, reads_the_archived_log_when_the_pods_are_gone) {
  serve();
  std::vector<std::string> log{
      "stackgate-samples-begin: samples_gsm8k_2026-01-01T00-00-00.jsonl",
      "stackgate-samples: " + base64::encode(R"({"doc_id":4,"metrics":["exact_match"],"exact_match":1})"),
      "stackgate-samples-end: 54"};
  for (const std::string& each : marked()) log.push_back(each);
  play(log, R"("keep_log":false,"archive":true,"fail":{"log":[503,503,503,503,503,503],"artifact":[503]})");
  options_.workflow_retries = 0;
  // It was away while the workflow ran, and the log was gone when it came back.
  const auto result = run();
  expect_score(result);
  ASSERT_EQ(result->samples.size(), 1U);
  EXPECT_EQ(result->samples[0].task, "gsm8k");
  EXPECT_EQ(result->samples[0].number, 4);
  EXPECT_EQ(result->samples[0].record, R"({"scores":{"exact_match":1}})");
}

TEST_F(WorkflowRun, says_that_results_are_nowhere) {
  serve();
  play({"x"});
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("neither in its log nor among its outputs"));
}

TEST_F(WorkflowRun, says_what_the_framework_said_last) {
  serve();
  play({"loading", "ValueError: no such task"}, "\"final\":\"Failed\",\"message\":\"Error (exit code 1)\"");
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "the workflow ended as Failed: Error (exit code 1); the log ends with: ValueError: no such task");
  EXPECT_FALSE(result.error().stopped);
}

TEST_F(WorkflowRun, retries_a_workflow_that_ended_in_an_error) {
  serve();
  play({"x"}, R"("final":"Error","message":"node lost")");
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("ended as Error: node lost"));
  EXPECT_EQ(count("PUT /api/v1/workflows/models/eval-1/retry"), 1U);
  EXPECT_THAT(events_, Contains(HasSubstr("is retried: node lost")));
}

TEST_F(WorkflowRun, stops_what_is_to_stop) {
  serve();
  play({"x"}, R"("hold":true)");
  stop_ = [this] { return std::ranges::find(events_, "the workflow is running") != events_.end(); };
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().stopped);
  EXPECT_EQ(count("PUT /api/v1/workflows/models/eval-1/stop"), 1U);
  EXPECT_EQ(count("PUT /api/v1/workflows/models/eval-1/terminate"), 0U);
}

TEST_F(WorkflowRun, terminates_what_does_not_stop_in_time) {
  serve();
  play({"x"}, R"("hold":true,"ignore_stop":true)");
  options_.stop_grace = 200ms;
  stop_ = [this] { return std::ranges::find(events_, "the workflow is running") != events_.end(); };
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().stopped);
  EXPECT_EQ(count("PUT /api/v1/workflows/models/eval-1/stop"), 1U);
  EXPECT_EQ(count("PUT /api/v1/workflows/models/eval-1/terminate"), 1U);
}

TEST_F(WorkflowRun, leaves_the_workflow_to_the_process_that_goes_on_with_it) {
  serve();
  play(marked(), R"("hold":true)");
  leave_ = [this] { return std::ranges::find(events_, "the workflow is running") != events_.end(); };
  const auto left = run();
  ASSERT_FALSE(left);
  EXPECT_TRUE(left.error().stopped);
  EXPECT_EQ(count("PUT "), 0U);
  leave_ = {};
  events_.clear();
  stop_ = [this] { return std::ranges::find(events_, "the workflow is running") != events_.end(); };
  EXPECT_TRUE(run().error().stopped);
  EXPECT_EQ(count("POST /api/"), 1U);
}

TEST_F(WorkflowRun, leaves_somebody_elses_workflow_alone) {
  serve();
  const auto made = client().call(
      {.method = "POST",
       .url = options_.server_url + "/api/v1/workflows/models",
       .body = R"({"workflow":{"metadata":{"name":"eval-1"},"spec":{"entrypoint":"e","templates":[{"name":"e"}]}}})"});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->status, 200) << made->body;
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("not this evaluation's"));
  EXPECT_EQ(delete_workflow("eval-1", options_), "");
  EXPECT_EQ(count("DELETE"), 0U);
}

TEST_F(WorkflowRun, is_deleted) {
  serve();
  play(marked());
  expect_score(run());
  EXPECT_EQ(delete_workflow("eval-1", options_), "");
  EXPECT_EQ(count("DELETE /api/v1/workflows/models/eval-1"), 1U);
  EXPECT_EQ(delete_workflow("eval-1", options_), "") << "gone is as good";
}

TEST_F(WorkflowRun, is_made_of_a_template_that_is_there) {
  serve();
  options_.template_prefix = "eval";
  const std::string yaml = workflow_templates_yaml(options_);
  EXPECT_THAT(yaml, HasSubstr("kind: WorkflowTemplate"));
  play(marked());
  const auto refused = check_workflow_server(request(), options_);
  ASSERT_EQ(refused.size(), 1U) << "a template that is not there is known before the run";
  EXPECT_THAT(refused[0].problem, HasSubstr("\"eval-lm-eval-harness\" not found"));
  const auto missing = run();
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("\"eval-lm-eval-harness\" not found"));
  control(
      "/-/template",
      R"({"metadata":{"name":"eval-lm-eval-harness","namespace":"models"},"spec":{"entrypoint":"e","arguments":{"parameters":[{"name":"model"}]},"templates":[{"name":"e"}]}})");
  EXPECT_TRUE(check_workflow_server(request(), options_).empty());
  expect_score(run());
  EXPECT_EQ(count("POST /api/v1/workflows/models/submit"), 4U) << "two of them dry";
}

TEST_F(WorkflowRun, speaks_tls_to_its_own_authority_with_a_token_that_may_change) {
  const auto ca = certs::test::make_ca();
  const auto leaf = certs::test::make_leaf(ca);
  dir_.write("ca.crt", ca.certificates);
  dir_.write("tls.crt", leaf.certificates);
  dir_.write("tls.key", leaf.key);
  options_.ca_file = dir_ / "ca.crt";
  serve({"--cert", dir_ / "tls.crt", "--key", dir_ / "tls.key", "--token", "first", "--forbidden-token", "nobody"});
  play(marked());
  options_.token_file = dir_ / "token";
  const auto words = [this] {
    const auto findings = check_workflow_server(request(), options_);
    return findings.empty() ? std::string() : findings[0].problem + "; " + findings[0].fix;
  };
  EXPECT_THAT(words(), HasSubstr("does not know the token (401)")) << "there is none";
  dir_.write("token", "nobody\n");
  EXPECT_THAT(words(),
              testing::AllOf(HasSubstr("does not let us list workflows (403)"), HasSubstr("give the ServiceAccount")));
  dir_.write("token", "first\n");
  EXPECT_EQ(words(), "");
  expect_score(run());

  options_.token = "nobody";
  EXPECT_THAT(words(), HasSubstr("(403)")) << "instead of the file's";
  options_.token.clear();
  options_.ca_file.clear();
  options_.ca_text = ca.certificates;
  EXPECT_EQ(words(), "");

  options_.ca_text.clear();
  const auto refused = check_workflow_server(request(), options_);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].severity, validate::Severity::warning) << "it may be set right before the run";
  EXPECT_THAT(refused[0].problem, HasSubstr("certificate"));
  options_.insecure = true;
  EXPECT_EQ(words(), "");
}

TEST_F(WorkflowRun, may_list_workflows_and_not_make_them) {
  serve({"--read-only-token", "reader"});
  options_.token = "reader";
  const auto refused = check_workflow_server(request(), options_);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].severity, validate::Severity::error);
  EXPECT_THAT(refused[0].problem, HasSubstr("does not let us create workflows (403)"));
  options_.token.clear();
  EXPECT_TRUE(check_workflow_server(request(), options_).empty());
  EXPECT_EQ(count("POST /api/v1/workflows/models"), 2U);
  play(marked());
  expect_score(run());  // the dry runs made none that would be in its way
}

TEST_F(WorkflowRun, runs_the_containers_script) {
  std::filesystem::create_directory(dir_ / "bin");
  dir_.write("bin/lm_eval", fmt::format("#!/bin/sh\n"
                                        "echo \"arguments: $*\"\n"
                                        "mkdir -p \"$STACKGATE_OUTPUT/llama\"\n"
                                        "echo old > \"$STACKGATE_OUTPUT/llama/results_2020.json\"\n"
                                        "printf %s '{}' > \"$STACKGATE_OUTPUT/llama/results_2026.json\"\n",
                                        results_text));
  ASSERT_EQ(::chmod((dir_ / "bin/lm_eval").c_str(), 0755), 0);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", fmt::format("{}:{}", std::string(dir_ / "bin"), path).c_str(), 1);
  serve({"--run"});
  expect_score(run());
  ASSERT_FALSE(log_.empty());
  EXPECT_EQ(log_[0],
            "arguments: --model local-completions --model_args model=llama,base_url=http://inference:8000/v1/"
            "completions,num_concurrent=8,max_retries=5,timeout=120 --tasks gsm8k --output_path " +
                log_[0].substr(log_[0].find("--output_path ") + 14));
  EXPECT_THAT(log_[0], HasSubstr("--seed 1234"));
  EXPECT_THAT(log_[0], Not(HasSubstr("--limit")));

  // The same without a server: a process of this machine.
  options_.server_url.clear();
  options_.work_directory = dir_ / "";
  log_.clear();
  expect_score(run());
  EXPECT_THAT(log_[0], HasSubstr("--tasks gsm8k"));

  dir_.write("bin/lm_eval", "#!/bin/sh\necho \"no such task $OPENAI_API_KEY\"; exit 3\n");
  const auto failed = run();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "lm_eval ended with status 3; its output ends with: no such task ");
  api_key_ = "sk-secret-1";
  const auto printed = run();
  ASSERT_FALSE(printed);
  EXPECT_EQ(printed.error().message, "lm_eval ended with status 3; its output ends with: no such task ******");
  EXPECT_EQ(log_.back(), "no such task ******");
  api_key_.clear();

  dir_.write("bin/lm_eval", "#!/bin/sh\necho started; sleep 600\n");
  stop_ = [this] { return !log_.empty() && log_.back() == "started"; };
  const auto stopped = run();
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(stopped.error().stopped);
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(WorkflowRun, says_what_is_missing_before_it_begins) {
  WorkflowOptions local;
  EvaluationRequest rag = request();
  rag.framework = Framework::rag;
  const auto here = check_workflow(rag, local);
  ASSERT_EQ(here.size(), 1U);
  EXPECT_EQ(here[0].problem, "evaluate-rag is not installed on this machine");
  EXPECT_FALSE(run_workflow(rag, "eval-2", local, {}));

  local.server_url = "http://argo";
  local.kubernetes_namespace = "models";
  rag.target.api_key = "sk-1";
  const auto there = check_workflow(rag, local);
  ASSERT_EQ(there.size(), 2U);
  EXPECT_EQ(there[0].fix, "set STACKGATE_EVALUATION_IMAGE_RAG (spec.evaluationImages.rag of the StackEvaluator)");
  EXPECT_EQ(there[1].path, "api_key");
  EXPECT_THAT(there[1].fix, HasSubstr("the Secret stackgate-evaluator-keys in the namespace models under \"model\""));
  rag.framework = Framework::custom;
  EXPECT_EQ(check_workflow(rag, local)[0].path, "framework");
}

}  // namespace
}  // namespace stackgate::evaluator
