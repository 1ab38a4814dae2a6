#include "services/kit/peft/layout.hpp"

#include <array>

#include <gmock/gmock.h>

namespace stackgate::peft {
namespace {

using archive::Entry;
constexpr std::array reserved = {std::string_view("adapter.tar.gz")};

std::vector<Entry> files(std::initializer_list<const char*> names) {
  std::vector<Entry> out;
  for (const char* name : names) out.push_back({name, 1});
  return out;
}

TEST(Layout, TakesTheRootOrTheOneFolder) {
  EXPECT_EQ(read_layout(files({"adapter_config.json", "adapter_model.safetensors"})).folder, "");
  const Layout inside = read_layout(files({"x/adapter_config.json", "x/adapter_model.safetensors", "x/t/a"}));
  EXPECT_EQ(inside.folder, "x/");
  EXPECT_TRUE(inside.has_config && inside.has_weights && inside.findings.empty());
}

struct LayoutCase {
  const char* says;
  std::vector<Entry> entries;
  const char* rule;
  const char* path;
};
class WrongLayouts : public testing::TestWithParam<LayoutCase> {};
TEST_P(WrongLayouts, AreTold) {
  const Layout layout = read_layout(GetParam().entries, reserved);
  ASSERT_FALSE(layout.findings.empty());
  EXPECT_EQ(layout.findings[0].rule, GetParam().rule);
  EXPECT_EQ(layout.findings[0].path, GetParam().path);
}
INSTANTIATE_TEST_SUITE_P(
    Table, WrongLayouts,
    testing::Values(LayoutCase{"Empty", {}, "adapter-archive-empty", "adapter"},
                    LayoutCase{"NoConfig", files({"adapter_model.safetensors"}), "adapter-file-missing",
                               "adapter[adapter_config.json]"},
                    LayoutCase{"NoWeights", files({"adapter_config.json"}), "adapter-file-missing",
                               "adapter[adapter_model.safetensors]"},
                    LayoutCase{"TooDeep", files({"a/b/adapter_config.json", "a/b/adapter_model.safetensors"}),
                               "adapter-file-missing", "adapter[adapter_config.json]"},
                    LayoutCase{"TwoFolders", files({"a/adapter_config.json", "b/adapter_model.safetensors"}),
                               "adapter-file-missing", "adapter[adapter_config.json]"},
                    LayoutCase{"Pickle", files({"adapter_config.json", "adapter_model.bin"}), "adapter-pickle",
                               "adapter[adapter_model.bin]"},
                    LayoutCase{"Nemo", files({"model_config.yaml", "model_weights.ckpt"}), "adapter-archive-nemo",
                               "adapter"},
                    LayoutCase{"NemoInside", files({"x.nemo"}), "adapter-archive-nemo", "adapter"},
                    LayoutCase{"OwnName", files({"adapter_config.json", "adapter_model.safetensors", "adapter.tar.gz"}),
                               "adapter-archive-name", "adapter[adapter.tar.gz]"}),
    [](const auto& each) { return std::string(each.param.says); });

TEST(Layout, CallsAPickleAWarningOnly) {
  const Layout layout = read_layout(files({"adapter_config.json", "adapter_model.bin"}));
  EXPECT_FALSE(validate::has_errors(layout.findings));
}

}  // namespace
}  // namespace stackgate::peft
