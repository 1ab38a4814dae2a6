#include "services/entitystore/adapters/metadata.hpp"

#include <gmock/gmock.h>

#include "services/entitystore/adapters/render.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::entitystore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Metadata, OfTheShortestForm) {
  const MetadataRead read = read_metadata(R"({"name":"bot","base_model":"meta/llama","version":"1.0.0"})");
  EXPECT_THAT(read.findings, IsEmpty());
  EXPECT_EQ(read.metadata.record.name_space, "default");
  EXPECT_EQ(read.metadata.rank, std::nullopt);
}

TEST(Metadata, OfTheRichestForm) {
  const MetadataRead read = read_metadata(
      R"({"name":"bot","namespace":"team-a","base_model":"meta/llama","version":"1.0.0-rc.1","description":"d",)"
      R"("lora_config":{"rank":8,"alpha":16,"dropout":0.1,"target_modules":["q_proj"]},)"
      R"("training":{"dataset":"ds","job_id":"j1","hyperparameters":{"learning_rate":0.0001,"epochs":3},"commit":"abc"},)"
      R"("metrics":{"train_loss":0.5,"eval_accuracy":0.9},"tags":["a","b"]})");
  EXPECT_THAT(read.findings, IsEmpty());
  const Record& r = read.metadata.record;
  EXPECT_EQ(r.dataset, "ds");
  EXPECT_EQ(r.hyperparameters, R"({"learning_rate":1e-04,"epochs":3})");
  EXPECT_EQ(r.training, R"({"commit":"abc"})");
  EXPECT_THAT(r.tags, ElementsAre("a", "b"));
  EXPECT_EQ(read.metadata.target_modules->size(), 1U);
}

struct MetadataCase {
  const char* says;
  const char* text;
  const char* path;
};
class WrongMetadata : public testing::TestWithParam<MetadataCase> {};
TEST_P(WrongMetadata, IsTold) {
  const MetadataRead read = read_metadata(GetParam().text);
  ASSERT_THAT(read.findings, testing::Not(IsEmpty()));
  EXPECT_EQ(read.findings[0].path, GetParam().path) << read.findings[0].problem;
}
INSTANTIATE_TEST_SUITE_P(
    Table, WrongMetadata,
    testing::Values(
        MetadataCase{"NoJson", "{", "metadata"},
        MetadataCase{"Version", R"({"name":"a","base_model":"m","version":"1"})", "metadata.version"},
        MetadataCase{"Name", R"({"name":"a/b","base_model":"m","version":"1.0.0"})", "metadata.name"},
        MetadataCase{"Namespace", R"({"name":"a","namespace":"a--b","base_model":"m","version":"1.0.0"})",
                     "metadata.namespace"},
        MetadataCase{
            "Contradiction",
            R"({"name":"a","base_model":"m","version":"1.0.0","training":{"dataset":"x"},"metadata":{"dataset":"y"}})",
            "metadata.metadata.dataset"},
        MetadataCase{"RankZero", R"({"name":"a","base_model":"m","version":"1.0.0","lora_config":{"rank":0}})",
                     "metadata.lora_config.rank"},
        MetadataCase{
            "LearningRateText",
            R"({"name":"a","base_model":"m","version":"1.0.0","training":{"hyperparameters":{"learning_rate":"1e-4"}}})",
            "metadata.training.hyperparameters.learning_rate"},
        MetadataCase{"EpochsFraction",
                     R"({"name":"a","base_model":"m","version":"1.0.0","training":{"hyperparameters":{"epochs":2.5}}})",
                     "metadata.training.hyperparameters.epochs"},
        MetadataCase{"MetricText", R"({"name":"a","base_model":"m","version":"1.0.0","metrics":{"loss":"low"}})",
                     "metadata.metrics.loss"}),
    [](const auto& each) { return std::string(each.param.says); });

TEST(Metadata, AVersionThatIsTooLongIsToldTheLimit) {
  const auto problem = [](const std::string& version) {
    const auto read = read_metadata(R"({"name":"a","base_model":"m","version":")" + version + R"("})");
    return read.findings.empty() ? std::string() : read.findings[0].problem;
  };
  EXPECT_EQ(problem("1.0.0-" + std::string(58, 'a')), "");
  EXPECT_EQ(problem("1.0.0-" + std::string(59, 'a')), "has 65 bytes; a version has at most 64");
}

TEST(Metadata, TellsEveryFaultAtOnce) {
  const MetadataRead read = read_metadata(R"({"name":"-","version":"x","tagz":[]})");
  EXPECT_GE(read.findings.size(), 4U);  // name, version, base_model missing, tagz unknown
}

TEST(Forms, OfARecordAreJsonAndTheSummaryHoldsNothingElse) {
  Record r = read_metadata(
                 R"({"name":"bot","base_model":"m \"x\"","version":"1.0.0","training":{"dataset":"d","commit":"c"}})")
                 .metadata.record;
  r.id = "adapter-1";
  r.created_at = "2026-01-01T00:00:00.000Z";
  r.lora = {.rank = 8, .alpha = 16, .dropout = 0.05, .target_modules = {"q_proj"}};
  r.status = Status::ready;
  EXPECT_EQ(to_summary(r), R"({"id":"adapter-1","name":"bot","base_model":"m \"x\"","version":"1.0.0",)"
                           R"("created_at":"2026-01-01T00:00:00.000Z","status":"ready"})");
  json::Document document;
  const std::string detail = to_detail(r, {.download_url = "http://d/x"});
  const auto root = json::parse(detail, document);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("lora_config")->find("alpha")->integer(), 16);
  EXPECT_EQ(root->find("download_url")->string(), "http://d/x");
  EXPECT_EQ(root->find("metadata")->find("dataset")->string(), "d");
  EXPECT_EQ(root->find("training")->find("commit")->string(), "c");
  EXPECT_EQ(root->find("metrics")->members().size(), 0U);
  for (const std::string& text : {to_nemo_model(r), to_provenance(r, {{"a", 1, "00", true}})})
    EXPECT_TRUE(json::parse(text, document)) << text;
}

}  // namespace
}  // namespace stackgate::entitystore
