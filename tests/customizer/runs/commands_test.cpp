#include "services/customizer/runs/local/commands.hpp"

#include <gmock/gmock.h>

#include "services/puller/program/options.hpp"
#include "services/trainer/program/options.hpp"

namespace stackgate::customizer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const LocalPlaces places{.programs = "/opt/bin", .models = "/models", .workspace = "/jobs/cust-1"};
const Addresses addresses{.callback_url = "http://127.0.0.1:9009",
                          .datastore_url = "http://127.0.0.1:8000/v1/hf",
                          .entitystore_url = "http://127.0.0.1:8001"};

TrainingJob job() {
  return {.id = "cust-1",
          .name = "mine",
          .target = {.name = "a/b@1", .base_model = "a/b", .path = "a/b"},
          .dataset_repository = "ada/x",
          .dataset_commit = "c0ffee",
          .training_files = {"training/a.jsonl", "training/b.jsonl"},
          .validation_files = {"validation/a.jsonl"},
          .progress_token = "the-token"};
}

/// As the program itself reads it.
settings::Outcome read_by(const settings::Program& program, const std::vector<std::string>& command) {
  std::vector<const char*> arguments;
  for (std::size_t i = 1; i < command.size(); ++i) arguments.push_back(command[i].c_str());
  const auto nothing = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
  return settings::read(program, arguments, nothing, nothing, "1");
}

TEST(LocalCommands, the_puller_understands_the_download_of_a_dataset) {
  const StageProgram got = stage_program(job(), Stage::download, places, addresses,
                                         {.datastore_username = "ada", .datastore_password = "secret"});
  ASSERT_THAT(got.commands, SizeIs(1)) << "the model is there";
  EXPECT_THAT(got.environment, ElementsAre("DATASTORE_USERNAME=ada", "DATASTORE_PASSWORD=secret"));
  const auto read = read_by(puller::program(), got.commands[0]);
  EXPECT_THAT(read.findings, IsEmpty());
  const puller::Asked asked = puller::asked_of(read.values);
  EXPECT_THAT(asked.findings, IsEmpty());
  EXPECT_TRUE(asked.pull.source.is_dataset);
  EXPECT_EQ(asked.pull.source.model.repository, "ada/x");
  EXPECT_EQ(asked.pull.source.model.revision, "c0ffee");
  EXPECT_EQ(asked.pull.output, "/jobs/cust-1/dataset");
  EXPECT_THAT(asked.pull.patterns.include, ElementsAre("training/a.jsonl", "training/b.jsonl", "validation/a.jsonl"));
}

TEST(LocalCommands, the_puller_understands_the_download_of_a_model) {
  for (const char* uri : {"hf://meta/llama@v1", "datastore://meta/llama@v1", "https://files.example.com/llama"}) {
    TrainingJob with = job();
    with.target.uri = parse_model_uri(uri).value();
    const StageProgram got = stage_program(with, Stage::download, places, addresses, {});
    ASSERT_THAT(got.commands, SizeIs(2)) << uri;
    const auto read = read_by(puller::program(), got.commands[1]);
    EXPECT_THAT(read.findings, IsEmpty()) << uri;
    const puller::Asked asked = puller::asked_of(read.values);
    EXPECT_THAT(asked.findings, IsEmpty()) << uri;
    EXPECT_FALSE(asked.pull.source.is_dataset);
    EXPECT_EQ(asked.pull.output, "/models/a/b");
    if (with.target.uri.kind == ModelUri::Kind::directory) continue;
    EXPECT_EQ(asked.pull.source.model.repository, "meta/llama");
    EXPECT_EQ(asked.pull.source.model.revision, "v1");
  }
}

TEST(LocalCommands, the_trainer_understands_the_training) {
  const StageProgram got = stage_program(job(), Stage::training, places, addresses, {});
  ASSERT_THAT(got.commands, SizeIs(1));
  EXPECT_THAT(got.environment, ElementsAre("STACKGATE_PROGRESS_TOKEN=the-token"));
  EXPECT_THAT(got.commands[0], Not(Contains(HasSubstr("the-token")))) << "everybody sees arguments";
  const auto read = read_by(trainer::program(), got.commands[0]);
  EXPECT_THAT(read.findings, IsEmpty());
  EXPECT_THAT(trainer::faults_of(read.values), IsEmpty());
  const trainer::TrainSettings settings = trainer::train_settings(read.values);
  EXPECT_EQ(settings.model, "/models/a/b");
  EXPECT_EQ(settings.output, "/jobs/cust-1/adapter");
  EXPECT_THAT(settings.train,
              ElementsAre("/jobs/cust-1/dataset/training/a.jsonl", "/jobs/cust-1/dataset/training/b.jsonl"));
  EXPECT_THAT(settings.validation, ElementsAre("/jobs/cust-1/dataset/validation/a.jsonl"));
  EXPECT_TRUE(settings.resume);
  EXPECT_EQ(read.values.text("progress-url"), "http://127.0.0.1:9009/v1/customizations/cust-1/progress");
}

TEST(LocalCommands, the_puller_understands_the_upload) {
  const StageProgram got = stage_program(job(), Stage::upload, places, addresses, {});
  ASSERT_THAT(got.commands, SizeIs(1));
  const auto read = read_by(puller::program(), got.commands[0]);
  EXPECT_THAT(read.findings, IsEmpty());
  EXPECT_EQ(read.values.command(), "upload");
  EXPECT_EQ(read.values.text("archive"), "/jobs/cust-1/adapter.tar.gz");
  EXPECT_EQ(read.values.text("metadata"), "/jobs/cust-1/metadata.json");
}

TEST(LocalCommands, words_of_a_shell_stay_words) {
  const std::string script = stage_script({.commands = {{"echo", "it's $HOME"}, {"true"}}});
  EXPECT_THAT(script, HasSubstr(R"('echo' 'it'\''s $HOME' &&)"));
}

TEST(LocalCommands, a_log_ends_with_words) {
  EXPECT_EQ(last_words("one\ntwo\n\n"), "two");
  EXPECT_EQ(last_words(R"({"message":"failed","error":"no space","cure":"free some"})"
                       "\n"),
            "failed: no space; free some");
  EXPECT_EQ(last_words("a\n{\"other\":1}\n"), "a") << "a line without words";
  EXPECT_EQ(last_words(""), "");
}

}  // namespace
}  // namespace stackgate::customizer
