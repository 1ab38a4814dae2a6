// Which configuration answers.
#include "services/guardrail/front/configurations.hpp"

#include <gtest/gtest.h>

namespace stackgate::guardrail {
namespace {

std::expected<ConfigurationPtr, web::Failure> compiled(std::string text, bool takes_inline = true) {
  metrics::Registry registry;
  const auto store = std::make_shared<Store>(StoreOptions{}, registry);
  const std::vector<File> files = {{"config.yml", std::move(text), "guardrails.config"}};
  return served_configurations(store, "", takes_inline).compile(files);
}

TEST(Configurations, of_requests_are_taken_where_that_is_wanted) {
  EXPECT_TRUE(compiled("models: []"));
  EXPECT_EQ(compiled("models: []", false).error().status, 422);
  EXPECT_EQ(compiled("models: [").error().status, 400);
}

TEST(Configurations, of_requests_send_no_key_of_ours_to_addresses_of_theirs) {
  const std::string model = "{type: main, engine: openai, model: m";
  const std::string elsewhere = ", parameters: {base_url: 'http://elsewhere/v1'}";
  EXPECT_TRUE(compiled("models: [" + model + elsewhere + "}]"));
  EXPECT_TRUE(compiled("models: [" + model + ", api_key_env_var: MAIN_KEY}]")) << "it goes to our own endpoint";
  const auto away = compiled("models: [" + model + elsewhere + ", api_key_env_var: INFERENCE_ENDPOINT_API_KEY}]");
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().status, 400);
  EXPECT_TRUE(away.error().message.contains("api_key_env_var")) << away.error().message;
  EXPECT_FALSE(
      compiled("models: []\nrails: {config: {jailbreak_detection: {nim_base_url: 'http://elsewhere', "
               "api_key_env_var: INFERENCE_ENDPOINT_API_KEY}}}"));
}

}  // namespace
}  // namespace stackgate::guardrail
