#include "services/model/loading/load_adapter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/directory/lines.hpp"
#include "tests/model/small_model.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string adapter_config =
    R"({"peft_type":"LORA","r":2,"lora_alpha":4,"target_modules":["up_proj"],"base_model_name_or_path":"small"})";

std::string adapter_weights(std::uint64_t in = 8) {
  const std::string module = "base_model.model.model.layers.0.mlp.up_proj.lora_";
  return test::safetensors_file(
      std::vector<ExpectedTensor>{{module + "A.weight", {2, in}}, {module + "B.weight", {12, 2}}}, "F32");
}

TEST(LoadAdapter, maps_what_its_modules_point_to) {
  const stackgate::test::TempDir folder;
  folder.write("adapter_config.json", adapter_config);
  folder.write("adapter_model.safetensors", adapter_weights());
  const LoadedAdapter loaded = load_adapter(folder / ".", read_config(test::small_config).config);
  ASSERT_THAT(test::lines(loaded.findings), IsEmpty());
  ASSERT_THAT(loaded.adapter.modules, SizeIs(1));
  const AdapterModule& module = loaded.adapter.modules[0];
  EXPECT_EQ(module.scale, 2);
  EXPECT_THAT(loaded.bytes(module.a), ::testing::Each(std::byte{1}));
  EXPECT_THAT(loaded.bytes(module.a), SizeIs(2 * 8 * 4));
  EXPECT_THAT(loaded.bytes(module.b), ::testing::Each(std::byte{2}));
}

TEST(LoadAdapter, says_what_is_wrong_with_its_files) {
  const stackgate::test::TempDir folder;
  const Config base = read_config(test::small_config).config;
  EXPECT_THAT(
      test::lines(load_adapter(folder / ".", base).findings),
      ElementsAre(HasSubstr("adapter_config.json: is missing"), HasSubstr("adapter_model.safetensors: is missing")));
  folder.write("adapter_config.json", adapter_config);
  folder.write("adapter_model.bin", "pickle");
  const LoadedAdapter pickle = load_adapter(folder / ".", base);
  ASSERT_THAT(pickle.findings, SizeIs(1));
  EXPECT_THAT(pickle.findings[0].fix, HasSubstr("adapter_model.bin is a pickle"));
  folder.write("adapter_model.safetensors", adapter_weights(9));
  EXPECT_THAT(test::lines(load_adapter(folder / ".", base).findings),
              ElementsAre(HasSubstr("has the shape [2, 9] where the base wants [2, 8]")));
  folder.write("adapter_model.safetensors", adapter_weights().substr(0, 300));
  EXPECT_TRUE(validate::has_errors(load_adapter(folder / ".", base).findings));
}

}  // namespace
}  // namespace stackgate::model
