#include "services/customizer/runs/local/checks.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "tests/support/temp_dir.hpp"

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LocalChecks : public testing::Test {
 protected:
  std::vector<std::string> rules(const CustomizationRequest& request) const {
    std::vector<std::string> out;
    for (const auto& each : judge_request(request, folder_ / ""))
      out.push_back(std::string(each.rule) + " " + each.path);
    return out;
  }
  void write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(folder_ / "tiny");
    folder_.write("tiny/" + name, text);
  }

  const test::TempDir folder_;
  CustomizationRequest request_{.target = {.name = "acme/tiny@1.0", .path = "tiny"}};
};

TEST_F(LocalChecks, want_a_model_or_where_it_is) {
  EXPECT_THAT(rules(request_), ElementsAre("customization-model model"));
  request_.target.uri = parse_model_uri("hf://acme/tiny").value();
  EXPECT_THAT(rules(request_), IsEmpty());
  request_.target.uri = parse_model_uri("ngc://acme/tiny").value();
  EXPECT_THAT(rules(request_), ElementsAre("customization-model model"));
  request_.target.uri = {};
  write("config.json", "{}");
  EXPECT_THAT(rules(request_), IsEmpty());
  request_.config.option.num_gpus = 2;
  EXPECT_THAT(rules(request_), ElementsAre("customization-processes config"));
}

TEST_F(LocalChecks, want_a_chat_template_for_conversations) {
  request_.target.uri = parse_model_uri("hf://acme/tiny").value();
  request_.dataset.is_chat = true;
  EXPECT_THAT(rules(request_), IsEmpty()) << "a model that is not here yet";
  write("config.json", "{}");
  EXPECT_THAT(rules(request_), ElementsAre("customization-template dataset"));
  write("tokenizer_config.json", R"({"chat_template":null})");
  EXPECT_THAT(rules(request_), ElementsAre("customization-template dataset"));
  write("tokenizer_config.json", R"({"chat_template":"{{ messages }}"})");
  EXPECT_THAT(rules(request_), IsEmpty());
  write("tokenizer_config.json", "{}");
  write("chat_template.jinja", "{{ messages }}");
  EXPECT_THAT(rules(request_), IsEmpty());
  request_.dataset.is_chat = false;
  std::filesystem::remove(folder_ / "tiny/chat_template.jinja");
  EXPECT_THAT(rules(request_), IsEmpty());
}

}  // namespace
}  // namespace stackgate::customizer
