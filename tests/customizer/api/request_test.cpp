#include "services/customizer/api/request.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Catalogue& catalogue() {
  static const Catalogue found =
      read_catalogue(
          {{"customizationTargets", R"(targets:
  meta/llama-3.2-1b@1.0: {model_path: l1, model_uri: "hf://meta-llama/Llama-3.2-1B@main", num_parameters: 1000000000, precision: bf16}
  meta/llama-3.1-8b@1.0: {model_path: l8}
  meta/off@1.0: {model_path: away, enabled: false}
)"},
           {"customizationConfigTemplates", R"(templates:
  meta/llama-3.2-1b@v1: {target: meta/llama-3.2-1b@1.0, max_seq_length: 4096, prompt_template: "{prompt} {completion}",
    training_options: [{num_gpus: 2, micro_batch_size: 4}]}
  meta/off@v1: {target: meta/off@1.0}
)"}},
          {{"training", "hyperparameters: {learning_rate: {default: 3.0e-5, max: 1.0e-3}, num_epochs: {min: 2}}"}})
          .catalogue;
  return found;
}

RequestRead read(std::string_view text) {
  json::Document document;
  const auto body = json::parse(text, document);
  if (!body) throw std::runtime_error(body.error().message);
  return read_request(*body, catalogue());
}
RequestRead read_nemo(std::string_view text) {
  json::Document document;
  const auto body = json::parse(text, document);
  if (!body) throw std::runtime_error(body.error().message);
  return read_nemo_request(*body, catalogue(), "job-1");
}

std::vector<std::string> faults(const RequestRead& read) {
  std::vector<std::string> out;
  for (const validate::Finding& each : read.findings) {
    EXPECT_FALSE(each.fix.empty()) << each.path;
    if (each.severity == validate::Severity::error) out.push_back(each.path + ": " + each.problem);
  }
  return out;
}

std::string good(std::string_view more = "") {
  return R"({"name":"bot","model":"meta/llama-3.2-1b","dataset":"ada/tickets")" + std::string(more) + "}";
}

TEST(Request, has_the_catalogues_defaults) {
  const RequestRead found = read(good());
  ASSERT_THAT(faults(found), IsEmpty());
  const CustomizationRequest& request = found.request;
  EXPECT_EQ(request.name, "bot");
  EXPECT_EQ(request.target.name, "meta/llama-3.2-1b@1.0");
  EXPECT_EQ(request.config.name, "meta/llama-3.2-1b@v1");
  EXPECT_EQ(request.config.option.num_gpus, 2U);
  EXPECT_EQ(request.hyperparameters.learning_rate, 3e-5);
  EXPECT_EQ(request.hyperparameters.max_seq_length, 4096U);
  EXPECT_EQ(request.hyperparameters.micro_batch_size, 4U);
  EXPECT_EQ(request.output_model, "default/bot");
}

TEST(Request, reads_the_specifications_body) {
  const RequestRead found =
      read(R"({"name":"bot","model":"meta/llama-3.1-8b@1.0","dataset_repo":"ada/tickets","dataset_path":"v2",
    "dataset_ref":"main","hyperparameters":{"lora_rank":16,"lora_alpha":32,"learning_rate":0.0001,"num_epochs":3},
    "description":"d","output_model":"team/bot@2.0.0","tags":["a","b","a"]})");
  ASSERT_THAT(faults(found), IsEmpty());
  const CustomizationRequest& request = found.request;
  EXPECT_EQ(request.dataset.repository, "ada/tickets");
  EXPECT_EQ(request.dataset.path, "v2");
  EXPECT_EQ(request.dataset.revision, "main");
  EXPECT_EQ(request.hyperparameters.lora_rank, 16U);
  EXPECT_EQ(request.hyperparameters.num_epochs, 3U);
  EXPECT_FALSE(request.hyperparameters.max_seq_length);
  EXPECT_EQ(request.config.name, "") << "no configuration is for this model";
  EXPECT_EQ(request.output_model, "team/bot@2.0.0");
  EXPECT_THAT(request.tags, ElementsAre("a", "b"));
  EXPECT_EQ(read(good(R"(,"hyperparameters":{"batch_size":2})")).request.hyperparameters.micro_batch_size, 2U)
      << "the configuration's size follows a smaller batch";
}

struct Row {
  std::string body;
  std::vector<std::string> faults;
};

TEST(Request, reports_every_fault_at_once) {
  const Row rows[] = {
      {"[]", {": must be an object"}},
      {"{}", {": lacks \"dataset\"", ": lacks \"model\"", ": lacks \"name\""}},
      {R"({"name":"Bot!","model":7,"dataset":"tickets","hyperparameters":[],"tags":"a","description":1,"output_model":"bot"})",
       {"dataset: ", "description: must be a text", "hyperparameters: must be an object", "model: must be a text",
        "name: ", "output_model: is not <namespace>/<name>[@<version>] as the entitystore takes it",
        "tags: must be a list of at most 50 texts"}},
      {good(
           R"(,"hyperparameters":{"lora_rnak":8,"lora_rank":0,"learning_rate":0.01,"num_epochs":1,"max_seq_length":8192})"),
       {"hyperparameters.learning_rate: is above 0.001, the most that is allowed here",
        "hyperparameters.lora_rank: must be a whole number from 1 to 256",
        "hyperparameters.lora_rnak: is no hyperparameter",
        "hyperparameters.max_seq_length: is above 4096, the most of the configuration \"meta/llama-3.2-1b@v1\"",
        "hyperparameters.num_epochs: is below 2, the least that is allowed here"}},
      {good(R"(,"dataset_repo":"ada/other")"), {"dataset_repo: stands beside dataset"}},
      {good(R"(,"dataset_path":"x")"), {"dataset_path: stands without dataset_repo"}},
      {R"({"name":"b","model":"meta/llama-3.2-1b","dataset_repo":"ada/t@v1"})",
       {"dataset_repo: is more than <namespace>/<name>"}},
      {R"({"name":"b","model":"meta/llama-3.2-1b","dataset_repo":"ada/t","dataset_path":"../up"})", {"dataset_path: "}},
      {R"({"name":"b","model":"meta/lama-3.2-1b","dataset":"ada/t"})", {"model: is no model of the catalogue"}},
      {R"({"name":"b","model":"meta/off","dataset":"ada/t"})", {"model: is no model of the catalogue"}},
      {R"({"name":"b","config":"meta/off@v1","dataset":"ada/t"})",
       {"config: is for the model \"meta/off@1.0\", which is not enabled"}},
      {R"({"name":"b","config":"meta/none@v1","dataset":"ada/t"})", {"config: is no configuration of the catalogue"}},
      {R"({"name":"b","model":"meta/llama-3.1-8b","config":"meta/llama-3.2-1b@v1","dataset":"ada/t"})",
       {"config: is for the model \"meta/llama-3.2-1b@1.0\""}},
      {good(R"(,"hyperparameter":{})"), {"hyperparameter: is not known"}},
      {good(R"(,"tags":["",7])"),
       {"tags[0]: must be a text of 1 to 100 bytes", "tags[1]: must be a text of 1 to 100 bytes"}},
  };
  for (const Row& row : rows) {
    auto found = faults(read(row.body));
    std::ranges::sort(found);
    ASSERT_EQ(found.size(), row.faults.size()) << row.body << testing::PrintToString(found);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_THAT(found[i], testing::StartsWith(row.faults[i])) << row.body;
  }
}

TEST(Request, names_what_may_be_meant) {
  const auto fix = [](std::string_view body) { return read(body).findings.at(0).fix; };
  EXPECT_EQ(fix(good(R"(,"hyperparameter":{})")), "did you mean \"hyperparameters\"?");
  EXPECT_EQ(fix(R"({"name":"b","model":"meta/lama-3.2-1b","dataset":"ada/t"})"), "did you mean \"meta/llama-3.2-1b\"?");
  EXPECT_THAT(fix(R"({"name":"b","model":"x","dataset":"ada/t"})"), HasSubstr("meta/llama-3.1-8b@1.0"));
}

TEST(NemoRequest, is_one_of_ours) {
  const RequestRead found =
      read_nemo(R"({"name":"bot","config":"meta/llama-3.2-1b@v1","dataset":{"name":"tickets","namespace":"ada"},
    "output_model":"team/bot","project":"p","hyperparameters":{"training_type":"sft","finetuning_type":"lora","epochs":3,"batch_size":16,
    "learning_rate":0.0001,"weight_decay":0.01,"log_every_n_steps":5,"val_check_interval":50,"sequence_packing_enabled":true,
    "lora":{"adapter_dim":32,"alpha":16,"adapter_dropout":0.1,"target_modules":["q_proj"]}}})");
  ASSERT_THAT(faults(found), IsEmpty());
  const model::Hyperparameters& p = found.request.hyperparameters;
  EXPECT_EQ(p.num_epochs, 3U);
  EXPECT_EQ(p.lora_rank, 32U);
  EXPECT_EQ(p.lora_dropout, 0.1);
  EXPECT_EQ(p.target_modules.size(), 1U);
  EXPECT_TRUE(p.sequence_packing_enabled);
  EXPECT_EQ(found.request.target.name, "meta/llama-3.2-1b@1.0");
  EXPECT_EQ(found.request.dataset.repository, "ada/tickets");
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].path, "project");
  EXPECT_EQ(found.findings[0].severity, validate::Severity::warning);
}

TEST(NemoRequest, reports_faults_where_its_clients_wrote_them) {
  auto found = faults(read_nemo(R"({"dataset":"ada/tickets","hyperparameters":{"training_type":"dpo","epochs":0,
    "lora":{"adapter_dim":999,"alphas":1,"target_modules":["q_prj"]}}})"));
  std::ranges::sort(found);
  EXPECT_THAT(found, ElementsAre(": lacks \"config\"", "hyperparameters.epochs: must be a whole number from 1 to 1000",
                                 "hyperparameters.lora.adapter_dim: must be a whole number from 1 to 256",
                                 "hyperparameters.lora.alphas: is no hyperparameter",
                                 "hyperparameters.lora.target_modules[0]: the module \"q_prj\" is not served",
                                 "hyperparameters.training_type: the training \"dpo\" is not served"));
  EXPECT_EQ(read_nemo(R"({"config":"meta/llama-3.2-1b@v1","dataset":"ada/t"})").request.name, "job-1");
  EXPECT_THAT(faults(read_nemo(R"({"config":"meta/llama-3.2-1b@v1","dataset":"ada/t",
    "hyperparameters":{"epochs":2,"num_epochs":3}})")),
              ElementsAre(HasSubstr("names one hyperparameter twice")));
  EXPECT_THAT(faults(read_nemo("7")), ElementsAre(": must be an object"));
}

TEST(Request, reads_as_it_was_stored) {
  for (
      const std::string& body :
      {good(),
       good(
           R"(,"hyperparameters":{"lora_rank":16,"num_epochs":3,"target_modules":["v_proj"]},"tags":["a"],"description":"d")")}) {
    CustomizationRequest first = read(body).request;
    first.dataset.training_files = {"training/a.jsonl"};
    first.dataset.validation_files = {"validation/b.jsonl"};
    const std::string stored = to_json(first);
    const CustomizationRequest second = read_stored(stored);
    EXPECT_EQ(to_json(second), stored);
    EXPECT_EQ(second.target.uri.repository, "meta-llama/Llama-3.2-1B");
    EXPECT_EQ(second.target.num_parameters, 1'000'000'000U);
    EXPECT_EQ(second.config.option.num_gpus, 2U);
    EXPECT_EQ(second.config.option.micro_batch_size, 4U);
    EXPECT_THAT(second.dataset.validation_files, ElementsAre("validation/b.jsonl"));
  }
  EXPECT_EQ(read_stored("").name, "");
}

struct Files {
  std::string path;
  std::vector<std::string> training, validation;
};

TEST(Files, are_those_of_two_folders_or_of_one) {
  const std::vector<std::string> paths{
      "README.md",           "extra.jsonl",           "training/b.jsonl", "training/a.jsonl",
      "training/x/c.jsonl",  "validation/d.jsonl",    "v2/e.jsonl",       "v2/sub/f.jsonl",
      "v3/training/g.jsonl", "v3/validation/h.jsonl", "trainingx/i.jsonl"};
  const Files rows[] = {
      {"", {"training/a.jsonl", "training/b.jsonl", "training/x/c.jsonl"}, {"validation/d.jsonl"}},
      {"v2", {"v2/e.jsonl"}, {}},
      {"v3", {"v3/training/g.jsonl"}, {"v3/validation/h.jsonl"}},
      {"v2/sub/f.jsonl", {"v2/sub/f.jsonl"}, {}},
  };
  for (const Files& row : rows) {
    DatasetChoice dataset{.repository = "ada/t", .path = row.path};
    ASSERT_TRUE(choose_files(dataset, paths)) << row.path;
    EXPECT_EQ(dataset.training_files, row.training) << row.path;
    EXPECT_EQ(dataset.validation_files, row.validation) << row.path;
  }
}

TEST(Files, that_cannot_be_trained_on_are_refused) {
  DatasetChoice dataset{.repository = "ada/t", .path = "v9"};
  EXPECT_THAT(choose_files(dataset, {"a.jsonl"}).error(), HasSubstr("ada/t/v9 has no .jsonl file"));
  dataset.path.clear();
  EXPECT_THAT(choose_files(dataset, {"training/a,b.jsonl"}).error(), HasSubstr("has a comma"));
}

}  // namespace
}  // namespace stackgate::customizer
