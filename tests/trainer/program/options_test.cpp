#include "services/trainer/program/options.hpp"

#include <functional>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::trainer {
namespace options_tests {

using Environment = std::map<std::string, std::string>;

settings::Outcome read(std::vector<const char*> flags, const Environment& environment = {}) {
  return settings::read(
      program(), flags,
      [&](const std::string& name) -> std::optional<std::string> {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
      },
      [](const std::string& path) { return path == "/run/word" ? std::optional<std::string>("word\n") : std::nullopt; },
      "1");
}

/// As the program shows them.
std::vector<std::string> faults(std::vector<const char*> flags, const Environment& environment = {}) {
  const settings::Outcome out = read(std::move(flags), environment);
  validate::Findings findings = out.findings;
  if (findings.empty()) findings = faults_of(out.values);
  std::vector<std::string> lines;
  for (const auto& each : findings) lines.push_back(each.path + ": " + each.problem + "; " + each.fix);
  return lines;
}

settings::Values values(std::vector<const char*> flags, const Environment& environment = {}) {
  settings::Outcome out = read(std::move(flags), environment);
  EXPECT_TRUE(out.findings.empty()) << out.findings.front().path << ": " << out.findings.front().problem;
  return std::move(out.values);
}

template <class Settings>
struct Case {
  const char* flag;
  const char* value;
  std::function<std::string(const Settings&)> read;
  std::string expected;
};

/// Each flag alone changes what it should, and without it the value is another one.
template <class Settings, class Read>
void expect_flags(const std::vector<const char*>& base, const Read& settings_of,
                  const std::vector<Case<Settings>>& cases) {
  for (const auto& each : cases) {
    std::vector<const char*> flags = base;
    flags.push_back(each.flag);
    if (each.value != nullptr) flags.push_back(each.value);
    EXPECT_EQ(each.read(settings_of(values(flags))), each.expected) << each.flag;
    EXPECT_NE(each.read(settings_of(values(base))), each.expected) << each.flag << " by default";
  }
}

const std::vector<const char*> training{"--model", "m", "--train", "t.jsonl", "--output", "o"};

TEST(TrainerOptions, of_training_reach_the_run) {
  const auto base = train_settings(values(training));
  EXPECT_EQ(base.model, "m");
  EXPECT_EQ(base.train, std::vector<std::string>{"t.jsonl"});
  EXPECT_EQ(base.output, "o");
  EXPECT_EQ(train_settings(values({"--model", "m", "--train", "a,b", "--train", "c", "--output", "o///"})).output, "o");
  EXPECT_EQ(train_settings(values({"--model", "m", "--train", "a,b", "--train", "c", "--output", "o"})).train,
            (std::vector<std::string>{"a", "b", "c"}));
  using C = Case<TrainSettings>;
  expect_flags<TrainSettings>(
      training, train_settings,
      {C{"--validation", "v", [](auto& s) { return s.validation.empty() ? "" : s.validation[0]; }, "v"},
       C{"--resume", nullptr, [](auto& s) { return s.resume ? "yes" : "no"; }, "yes"},
       C{"--chat-template", "f.jinja", [](auto& s) { return s.chat_template; }, "f.jinja"},
       C{"--base-model-name", "acme/m", [](auto& s) { return s.base_model_name; }, "acme/m"},
       C{"--rank", "3", [](auto& s) { return std::to_string(s.group.rank); }, "3"},
       C{"--processes", "4", [](auto& s) { return std::to_string(s.group.size); }, "4"},
       C{"--master-address", "first", [](auto& s) { return s.group.address; }, "first"},
       C{"--master-port", "400", [](auto& s) { return std::to_string(s.group.port); }, "400"},
       C{"--network-interface", "eth1", [](auto& s) { return s.group.interface; }, "eth1"},
       C{"--peer-timeout", "7s", [](auto& s) { return std::to_string(s.group.limit.count()); }, "7000"},
       C{"--processes-per-node", "2", [](auto& s) { return std::to_string(s.processes_of_machine); }, "2"}});
}

TEST(TrainerOptions, of_a_job_come_from_its_environment) {
  const auto group = train_settings(values(training, {{"RANK", "1"},
                                                      {"WORLD_SIZE", "2"},
                                                      {"MASTER_ADDR", "job-0.svc"},
                                                      {"MASTER_PORT", "1234"},
                                                      {"LOCAL_RANK", "0"},
                                                      {"NNODES", "2"},
                                                      {"NODE_RANK", "1"},
                                                      {"NPROC_PER_NODE", "1"},
                                                      {"NCCL_IB_SL", "0"},
                                                      {"GLOO_SOCKET_IFNAME", "eth0"}}))
                         .group;
  EXPECT_EQ(group.rank, 1U);
  EXPECT_EQ(group.size, 2U);
  EXPECT_EQ(group.address, "job-0.svc");
  EXPECT_EQ(group.port, 1234);
  EXPECT_EQ(group.interface, "eth0");
}

TEST(TrainerOptions, of_a_tiny_model_reach_it) {
  const std::vector<const char*> tiny{"make-tiny", "--text", "book", "--output", "o"};
  EXPECT_EQ(tiny_settings(values(tiny)).texts, std::vector<std::string>{"book"});
  const auto number = [](auto member) { return [=](const TinySettings& s) { return std::to_string(member(s)); }; };
  using C = Case<TinySettings>;
  expect_flags<TinySettings>(tiny, tiny_settings,
                             {C{"--vocabulary", "300", number([](auto& s) { return s.vocabulary; }), "300"},
                              C{"--hidden", "64", number([](auto& s) { return s.shape.hidden; }), "64"},
                              C{"--hidden", "64", number([](auto& s) { return s.shape.intermediate; }), "176"},
                              C{"--layers", "3", number([](auto& s) { return s.shape.layers; }), "3"},
                              C{"--heads", "8", number([](auto& s) { return s.shape.heads; }), "8"},
                              C{"--heads", "8", number([](auto& s) { return s.shape.key_value_heads; }), "4"},
                              C{"--context", "64", number([](auto& s) { return s.shape.context; }), "64"},
                              C{"--context", "64", number([](auto& s) { return s.window; }), "63"},
                              C{"--steps", "7", number([](auto& s) { return s.steps; }), "7"},
                              C{"--seed", "9", number([](auto& s) { return s.seed; }), "9"},
                              C{"--threads", "2", number([](auto& s) { return s.threads; }), "2"}});
}

TEST(TrainerOptions, of_a_merge_reach_it) {
  const auto merge = merge_settings(values({"merge", "--model", "m", "--adapter", "a", "--output", "o/"}));
  EXPECT_EQ(merge.model, "m");
  EXPECT_EQ(merge.adapter, "a");
  EXPECT_EQ(merge.output, "o");
}

TEST(TrainerOptions, a_tracker_is_for_runs_that_nobody_else_records) {
  const Environment tracker{{"MLFLOW_TRACKING_URI", "http://mlflow:5000"},
                            {"MLFLOW_EXPERIMENT_NAME", "tuning"},
                            {"MLFLOW_RUN_NAME", "first"},
                            {"MLFLOW_RUN_ID", "r1"},
                            {"MLFLOW_TRACKING_USERNAME", "me"},
                            {"MLFLOW_TRACKING_PASSWORD", "secret"},
                            {"STACKGATE_MLFLOW_TOKEN_FILE", "/run/word"}};
  const auto out = tracking_settings(values(training, tracker));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->server.url, "http://mlflow:5000");
  EXPECT_EQ(out->server.user, "me");
  EXPECT_EQ(out->server.password, "secret");
  EXPECT_EQ(out->experiment, "tuning");
  EXPECT_EQ(out->run_name, "first");
  EXPECT_EQ(out->run_id, "r1");
  EXPECT_EQ(tracking_settings(values(training, {{"MLFLOW_TRACKING_URI", "http://m"}}))->experiment, "Default");
  EXPECT_FALSE(tracking_settings(values(training)));
  auto told = training;
  told.insert(told.end(), {"--progress-url", "http://customizer/progress"});
  EXPECT_FALSE(tracking_settings(values(told, tracker)));
  EXPECT_FALSE(tracking_settings(values({"make-tiny", "--text", "t", "--output", "o"}, tracker)));
  auto by_file = training;
  by_file.insert(by_file.end(), {"--mlflow-token-file", "/run/word"});
  EXPECT_EQ(tracking_settings(values(by_file, {{"MLFLOW_TRACKING_URI", "http://m"}}))->server.token, "word");
}

TEST(TrainerOptions, that_are_wrong_are_told_with_their_cure) {
  const struct {
    std::vector<const char*> flags;
    Environment environment;
    std::vector<std::string> expected;
  } cases[] = {
      {{},
       {},
       {"--model: is missing; name the directory of a model", "--train: is missing; name a file of JSON lines",
        "--output: is missing; name a directory that is not there yet"}},
      {{"merge", "--model", "m"},
       {},
       {"--adapter: is missing; name the directory of an adapter",
        "--output: is missing; name a directory that is not there yet"}},
      {{"make-tiny"},
       {},
       {"--text: is missing; name a file of plain text",
        "--output: is missing; name a directory that is not there yet"}},
      {training,
       {{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}},
       {"--rank: is 2, and --processes is 2; ranks are counted from 0: set RANK and WORLD_SIZE"}},
      {training,
       {{"RANK", "1"}},
       {"--rank: is 1, and --processes is 1; ranks are counted from 0: set RANK and "
        "WORLD_SIZE"}},
      {training,
       {{"WORLD_SIZE", "2"}},
       {"--master-address: is missing, and there are several processes; set MASTER_ADDR to the host of rank 0"}},
      {{"make-tiny", "--text", "t", "--output", "o"}, {{"RANK", "5"}, {"WORLD_SIZE", "2"}}, {}},
      {{"merge", "--model", "m", "--adapter", "a", "--output", "o"}, {{"WORLD_SIZE", "2"}}, {}},
      {training, {}, {}},
  };
  for (const auto& each : cases) EXPECT_EQ(faults(each.flags, each.environment), each.expected);
}

TEST(TrainerOptions, of_the_wrong_kind_are_told_with_their_name) {
  using testing::ElementsAre;
  using testing::StartsWith;
  for (const auto& [flag, value] : std::vector<std::pair<const char*, const char*>>{{"--rank", "-1"},
                                                                                    {"--rank", "one"},
                                                                                    {"--processes", "0"},
                                                                                    {"--master-port", "0"},
                                                                                    {"--master-port", "65536"},
                                                                                    {"--processes-per-node", "0"},
                                                                                    {"--peer-timeout", "0s"},
                                                                                    {"--peer-timeout", "soon"},
                                                                                    {"--progress-url", "customizer"},
                                                                                    {"--mlflow-url", "file:///runs"},
                                                                                    {"--device", "tpu"},
                                                                                    {"--log-level", "loud"},
                                                                                    {"--log-format", "xml"},
                                                                                    {"--vocabulary", "10"},
                                                                                    {"--hidden", "4"},
                                                                                    {"--layers", "0"},
                                                                                    {"--heads", "1"},
                                                                                    {"--context", "1"},
                                                                                    {"--steps", "0"},
                                                                                    {"--seed", "-1"},
                                                                                    {"--threads", "2000"},
                                                                                    {"--otel-endpoint", "collector"},
                                                                                    {"--progress-token-file", "/none"},
                                                                                    {"--trian", "t"}}) {
    auto flags = training;
    flags.insert(flags.end(), {flag, value});
    EXPECT_THAT(faults(flags), ElementsAre(StartsWith(std::string(flag) + ": "))) << flag << " " << value;
  }
}

TEST(TrainerOptions, are_all_in_the_help_of_a_command) {
  std::string all;
  for (const char* command : {"train", "merge", "make-tiny"}) all += read({command, "--help"}).to_print;
  for (const settings::Setting& each : program().settings)
    EXPECT_THAT(all, testing::HasSubstr("--" + std::string(each.name))) << each.name;
  EXPECT_THAT(read({"--help"}).to_print,
              testing::HasSubstr("Exit codes: 0 the adapter is there; 1 training failed; 2 settings, model or"));
}

}  // namespace options_tests
}  // namespace stackgate::trainer
