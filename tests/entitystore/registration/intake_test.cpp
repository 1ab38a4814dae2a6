#include "services/entitystore/registration/intake.hpp"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/kit/archive/pack.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::entitystore {
namespace {

using testing::HasSubstr;

const std::string config =
    R"({"peft_type":"LORA","r":1,"lora_alpha":2,"target_modules":["q_proj"],"base_model_name_or_path":"m/base"})";

std::string weights() {
  const std::string header =
      R"({"base_model.model.l.q_proj.lora_A.weight":{"dtype":"F16","shape":[1,4],"data_offsets":[0,8]},)"
      R"("base_model.model.l.q_proj.lora_B.weight":{"dtype":"F16","shape":[3,1],"data_offsets":[8,14]}})";
  std::string out(8, '\0');
  out[0] = static_cast<char>(header.size());
  out[1] = static_cast<char>(header.size() >> 8U);
  return out + header + std::string(14, '\x01');
}

class Uploads : public testing::Test {
 protected:
  test::TempDir dir_;
  Spool spool_ = *Spool::open(dir_ / "data");

  std::expected<Intake::Outcome, ServiceError> take(const std::string& archive, std::size_t piece) {
    Intake intake(spool_, "id", {});
    for (std::size_t at = 0; at < archive.size(); at += piece)
      if (auto done = intake.add(std::string_view(archive).substr(at, piece)); !done)
        return std::unexpected(done.error());
    return intake.finish(true);
  }
};

TEST_F(Uploads, AreTakenApartWhileTheyCome) {
  const std::string archive =
      pack::tar_gz({{"a/adapter_config.json", config}, {"a/adapter_model.safetensors", weights()}, {"a/x", ""}});
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, archive.size()}) {
    const auto outcome = take(archive, piece);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->bytes, archive.size());
    EXPECT_EQ(outcome->sha256, crypto::to_hex(crypto::sha256(archive)));
    ASSERT_EQ(outcome->inspected.files.size(), 3U);
    EXPECT_EQ(outcome->inspected.files[0].stored.path, "adapter_config.json");
    EXPECT_FALSE(outcome->inspected.files[0].stored.large);
    EXPECT_TRUE(outcome->inspected.files[1].stored.large);  // weights are, however small
    EXPECT_FALSE(outcome->inspected.files[2].stored.large);
    EXPECT_EQ(outcome->inspected.files[1].stored.sha256, crypto::to_hex(crypto::sha256(weights())));
    EXPECT_TRUE(std::filesystem::exists(spool_.archive("id")));
    const auto again = inspect_again(spool_, "id", {});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->sha256, outcome->sha256);
    EXPECT_EQ(again->inspected.files.size(), 3U);
  }
}

TEST_F(Uploads, AreJudgedAndFillTheRecord) {
  auto outcome = take(pack::tar_gz({{"adapter_config.json", config}, {"adapter_model.safetensors", weights()}}), 50);
  ASSERT_TRUE(outcome);
  Metadata metadata;
  metadata.record.base_model = "M/Base";
  EXPECT_THAT(judge(outcome->inspected, metadata, std::nullopt, {}), testing::IsEmpty());
  EXPECT_EQ(metadata.record.lora.rank, 1);
  EXPECT_EQ(metadata.record.lora.alpha, 2);
  metadata.rank = 9;
  metadata.record.base_model = "other";
  EXPECT_EQ(judge(outcome->inspected, metadata, peft::ModelShape{.hidden = 5, .query = 3}, {.max_rank = 0}).size(), 4U);
}

TEST_F(Uploads, ThatAreNoGoodAreNotKept) {
  const auto outcome = take("PK\x03\x04", 2);
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->inspected.findings.at(0).problem, HasSubstr("zip"));
  EXPECT_FALSE(std::filesystem::exists(spool_.archive("id")));
  const auto empty = take("", 1);
  ASSERT_TRUE(empty);
  EXPECT_THAT(empty->inspected.findings.at(0).problem, HasSubstr("empty"));
}

TEST_F(Uploads, MayBeGivenUpInTheMiddle) {
  {
    Intake intake(spool_, "gone", {});
    ASSERT_TRUE(intake.add(pack::tar_gz({{"a", std::string(100'000, 'x')}}).substr(0, 100)));
  }
  spool_.remove("gone");
  EXPECT_THAT(spool_.all(), testing::IsEmpty());
}

TEST_F(Uploads, FilesBeyondTheLimitGoByLfs) {
  Intake intake(spool_, "id", {.large_bytes = 10, .held_bytes = 25});
  ASSERT_TRUE(intake.add(pack::tar_gz({{"a", std::string(10, 'x')},
                                       {"b", std::string(11, 'x')},
                                       {"c", std::string(9, 'x')},
                                       {"d", std::string(9, 'x')}})));
  const auto outcome = intake.finish(false);
  ASSERT_TRUE(outcome);
  std::string large;
  for (const auto& file : outcome->inspected.files) large += file.stored.large ? '1' : '0';
  EXPECT_EQ(large, "0101");
}

TEST_F(Uploads, AFolderIsForOneProcess) {
  const auto second = Spool::open(dir_ / "data");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error(), HasSubstr("--data-dir of its own"));
}

TEST_F(Uploads, AFullDiskIsSaidInWords) {
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP();
  const auto done = write_all(full, "x");
  ::close(full);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault, ServiceFault::full);
  EXPECT_THAT(done.error().message, HasSubstr("disk is full"));
}

TEST_F(Uploads, AFaultOfTheDiskIsNoLackOfSpace) {
  const auto done = write_all(-1, "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault, ServiceFault::broken);
  std::ofstream(spool_.folder("id")).close();  // a file where the folder would be
  Intake intake(spool_, "id", {});
  const auto kept = intake.add("x");
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().fault, ServiceFault::broken) << kept.error().message;
}

TEST(Spools, KeepTheirNameOverARestart) {
  const test::TempDir dir;
  const std::string name = Spool::open(dir / "d")->instance();
  EXPECT_EQ(Spool::open(dir / "d")->instance(), name);
  EXPECT_EQ(name.size(), 32U);
}

}  // namespace
}  // namespace stackgate::entitystore
