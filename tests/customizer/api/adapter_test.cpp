#include "services/customizer/api/adapter.hpp"

#include <gmock/gmock.h>

#include "services/entitystore/adapters/metadata.hpp"
#include "services/entitystore/adapters/names.hpp"

namespace stackgate::customizer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

CustomizationRequest described() {
  CustomizationRequest out{.name = "bot", .description = "answers"};
  out.target = {.name = "meta/llama@1.0", .base_model = "meta/llama", .path = "l"};
  out.dataset = {.repository = "ada/t", .revision = "3f786850"};
  out.dataset.training_files = {"training/a.jsonl"};
  out.hyperparameters.num_epochs = 3;
  out.hyperparameters.lora_rank = 16;
  out.output_model = "team/bot";
  out.tags = {"support"};
  return out;
}

// 2026-11-26 12:43:01 UTC
const Customization trained{.id = "cust-1", .name = "bot", .created_at = 1'795'696'981};

TEST(Adapter, is_described_as_the_entitystore_reads_it) {
  const auto read =
      entitystore::read_metadata(adapter_metadata(trained, described(), {.train_loss = 1.5, .val_loss = 2}));
  ASSERT_THAT(read.findings, IsEmpty()) << read.findings.front().path << read.findings.front().problem;
  const auto& record = read.metadata.record;
  EXPECT_EQ(record.name, "bot");
  EXPECT_EQ(record.base_model, "meta/llama");
  EXPECT_EQ(record.dataset, "ada/t@3f786850");
  EXPECT_EQ(record.job_id, "cust-1");
  EXPECT_EQ(read.metadata.rank, 16);
  EXPECT_EQ(read.metadata.target_modules->size(), 7U);
  EXPECT_THAT(record.hyperparameters, HasSubstr("\"learning_rate\":"));
  EXPECT_THAT(record.hyperparameters, HasSubstr("\"epochs\":3"));
  EXPECT_THAT(record.training, HasSubstr("training/a.jsonl"));
}

TEST(Adapter, has_a_version_of_its_time_where_none_was_asked_for) {
  EXPECT_EQ(output_model_of(trained, described()).text(), "team/bot@1.20261126.45781");
  CustomizationRequest asked = described();
  asked.output_model = "team/bot@2.0.0-rc.1";
  EXPECT_EQ(output_model_of(trained, asked).text(), "team/bot@2.0.0-rc.1");
}

TEST(Adapter, takes_the_names_that_the_entitystore_takes) {
  for (const char* name : {"bot", "Bot_1.2", "-bot", "bot-", "a..b", "a.git", "A.LOCK", "a b", "", "b/c", "\xC3\xBC"}) {
    const bool good = !entitystore::fault_of_name(name);
    EXPECT_EQ(!check_output_model(std::string("team/") + name), good) << name;
  }
  for (const std::string& space :
       {std::string("team"), std::string("a--b"), std::string(32, 'a'), std::string(33, 'a'), std::string()}) {
    const bool good = !entitystore::fault_of_namespace(space);
    EXPECT_EQ(!check_output_model(space + "/bot"), good) << space;
  }
  EXPECT_FALSE(check_output_model("team/" + std::string(64, 'a') + "@1.0.0"));
  EXPECT_TRUE(check_output_model("team/" + std::string(65, 'a')));
  for (const char* bad : {"bot", "team/bot@", "team/bot@1", "team/bot@cust-1", "team/bot@1.0.0@2.0.0"})
    EXPECT_TRUE(check_output_model(bad)) << bad;
}

}  // namespace
}  // namespace stackgate::customizer
