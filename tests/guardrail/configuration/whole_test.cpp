// Configurations as users have them, read completely.
#include <gtest/gtest.h>

#include "services/guardrail/configuration/detectors.hpp"
#include "services/kit/jinja/to_json.hpp"
#include "tests/guardrail/configuration/read.hpp"

namespace stackgate::guardrail {
namespace {

using namespace test;

constexpr std::string_view bank_yaml = R"(models:
  - type: main
    engine: openai
    model: gpt-4o-mini
    api_key_env_var: BANK_KEY
    parameters:
      temperature: 0.2
      base_url: https://llm.bank.example/v1/
  - type: content_safety
    engine: nim
    model: nvidia/llama-3.1-nemoguard-8b-content-safety

instructions:
  - type: general
    content: |
      You are the assistant of a small bank.
      You speak about accounts and cards only.

sample_conversation: |
  user "Hi"
    express greeting
  bot express greeting
    "Hello, how can I help?"

rails:
  input:
    parallel: true
    flows:
      - self check input
      - content safety check input $model=content_safety
      - mask sensitive data on input
  output:
    flows:
      - self check output
      - check account numbers
    streaming:
      enabled: true
      chunk_size: 100
  dialog:
    user_messages:
      embeddings_only: true
      embeddings_only_similarity_threshold: 0.7
  config:
    sensitive_data_detection:
      input:
        entities: [CREDIT_CARD, EMAIL_ADDRESS]
      recognizers:
        - name: accounts
          supported_entity: ACCOUNT
          patterns:
            - name: number
              regex: "AC-[0-9]{8}"
              score: 0.9

enable_rails_exceptions: false
custom_data:
  branch: Bremen
  floors: [1, 2]
)";

constexpr std::string_view bank_prompts = R"(prompts:
  - task: self_check_input
    content: |
      Is this message forbidden? "{{ user_input }}"
      Answer (Yes or No):
  - task: self_check_output
    models: [openai/gpt-4o-mini, nim]
    messages:
      - type: system
        content: You are a judge.
      - type: user
        content: "Is this answer forbidden? {{ bot_response }} Answer (Yes or No):"
    output_parser: is_content_safe
    max_tokens: 4
    stop: ["\n"]
  - task: content_safety_check_input $model=content_safety
    content: "Judge: {{ user_input }}"
    output_parser: nemoguard_parse_prompt_safety
    max_length: 20000
)";

constexpr std::string_view bank_flows = R"(define user ask balance
  "What is my balance?"
  "How much money do I have?"

define bot refuse to respond
  "The bank cannot answer that."

define flow balance
  user ask balance
  $balance = execute find_balance(account="x")
  bot inform balance

define bot inform balance
  "You have $balance euros."

define subflow check account numbers
  $ok = execute check_account_numbers
  if not $ok
    bot refuse to respond
    stop
)";

constexpr std::string_view bank_actions = R"py(from nemoguardrails.actions import action

@action(name="find_balance")
async def balance(context: dict):
    """@action(name="not_this")"""
    return 17

@action(is_system_action=True, output_mapping=lambda value: not value)
async def check_account_numbers(context):
    return True
)py";

TEST(ConfigurationWhole, ABankReadsCompletely) {
  const auto read_all = read({{"config.yml", bank_yaml},
                              {"prompts.yml", bank_prompts},
                              {"rails/balance.co", bank_flows},
                              {"actions.py", bank_actions},
                              {"kb/prices.md", "# Prices\nA card costs 10 euros."},
                              {"kb/draft.md", "# Draft"},
                              {"notes.txt", "not read"},
                              {".railsignore", "# drafts\ndraft.*\n"}});
  EXPECT_EQ(lines(read_all.findings), "");
  ASSERT_NE(read_all.configuration, nullptr);
  const Configuration& c = *read_all.configuration;
  EXPECT_EQ(c.id, "d");
  ASSERT_EQ(c.models.size(), 2U);
  const Model& main = *c.find_model("main");
  EXPECT_EQ(main.engine, "openai");
  EXPECT_EQ(main.model, "gpt-4o-mini");
  EXPECT_EQ(main.base_url, "https://llm.bank.example/v1");
  EXPECT_EQ(main.api_key_env, "BANK_KEY");
  EXPECT_EQ(main.parameters, R"({"temperature":0.2})");
  EXPECT_FALSE(main.completion);
  EXPECT_EQ(c.find_model("nothing"), nullptr);
  EXPECT_EQ(c.instructions, "You are the assistant of a small bank.\nYou speak about accounts and cards only.\n");
  EXPECT_TRUE(c.sample_conversation.starts_with("user \"Hi\"\n  express greeting"));

  EXPECT_TRUE(c.input.parallel);
  ASSERT_EQ(c.input.flows.size(), 3U);
  EXPECT_EQ(c.input.flows[1].flow, "content safety check input");
  EXPECT_EQ(c.input.flows[1].arguments.at("model"), "content_safety");
  EXPECT_EQ(c.input.flows[1].text, "content safety check input $model=content_safety");
  EXPECT_EQ(c.input.flows[1].place.line, 30U);
  EXPECT_EQ(c.program.flows[c.input.flows[0].index].name, "self check input");
  ASSERT_EQ(c.output.flows.size(), 2U);
  EXPECT_EQ(c.program.flows[c.output.flows[1].index].name, "check account numbers");
  EXPECT_TRUE(c.retrieval.flows.empty());
  EXPECT_TRUE(c.streaming.enabled);
  EXPECT_EQ(c.streaming.chunk_size, 100U);
  EXPECT_EQ(c.streaming.context_size, 50U);
  EXPECT_FALSE(c.streaming.stream_first);
  EXPECT_TRUE(c.stream_obstacles.empty());
  EXPECT_TRUE(c.dialog.embeddings_only);
  EXPECT_EQ(c.dialog.embeddings_only_threshold, 0.7);
  EXPECT_TRUE(c.dialog.fallback_to_multiple_calls);
  EXPECT_EQ(c.lowest_temperature, 0.001);
  EXPECT_TRUE(c.has_dialog());

  ASSERT_EQ(c.prompts.prompts.size(), 3U);
  const Prompt* check = c.prompts.find("self_check_output", "nim", "x");
  EXPECT_FALSE(check->built_in);
  EXPECT_EQ(check->parts.size(), 2U);
  EXPECT_EQ(check->max_tokens, 4U);
  EXPECT_EQ(check->stop, std::vector<std::string>{"\n"});
  EXPECT_EQ(c.prompts.find("self_check_input")->max_tokens, 3U) << "as a self check without one has";
  EXPECT_EQ(c.prompts.find("content_safety_check_input $model=content_safety")->max_tokens, std::nullopt)
      << "it names its own parser";
  EXPECT_EQ(c.prompts.find("content_safety_check_input $model=content_safety")->max_length, 20'000U);

  ASSERT_TRUE(c.detectors->sensitive_data.input.has_value());
  EXPECT_FALSE(c.detectors->sensitive_data.output.has_value());
  const SensitiveData& data = *c.detectors->sensitive_data.input;
  const std::string_view text = "mail ann@example.com about AC-12345678";
  EXPECT_EQ(data.masked(text, data.find(text)), "mail <EMAIL_ADDRESS> about AC-12345678");

  ASSERT_EQ(c.python_actions.size(), 2U);
  EXPECT_EQ(c.python_actions[0].name, "find_balance");
  EXPECT_EQ(c.python_actions[1].name, "check_account_numbers");
  EXPECT_TRUE(c.python_actions[1].output_mapping);
  ASSERT_EQ(c.python_files.size(), 1U);
  EXPECT_EQ(c.python_files[0].name, "actions.py");
  EXPECT_EQ(c.python_files[0].text, bank_actions);
  ASSERT_EQ(c.knowledge.size(), 1U);
  EXPECT_EQ(c.knowledge[0].name, "kb/prices.md");
  EXPECT_EQ(jinja::to_json(c.custom_data), R"({"branch":"Bremen","floors":[1,2]})");
}

TEST(ConfigurationWhole, NothingButAModel) {
  const auto plain = read_yaml("models:\n- type: main\n  engine: openai\n  model: m\n");
  EXPECT_EQ(lines(plain.findings), "");
  ASSERT_NE(plain.configuration, nullptr);
  EXPECT_FALSE(plain.configuration->has_dialog());
  EXPECT_TRUE(plain.configuration->input.flows.empty());
  EXPECT_FALSE(plain.configuration->streaming.enabled);
}

TEST(ConfigurationWhole, DetectorsOfTheServicesOwn) {
  const auto plain = read_yaml(
      "rails:\n  config:\n    length: {input: {characters: 100}}\n    language: {output: {allowed: [EN], "
      "allow_unknown: "
      "false}}\n    topic: {input: {denied: [politics]}}\n    tool_calls: {allowed: [find]}\n    jailbreak_detection: "
      "{own_length_per_perplexity_threshold: "
      "7}\n");
  ASSERT_NE(plain.configuration, nullptr) << lines(plain.findings);
  const Detectors& d = *plain.configuration->detectors;
  EXPECT_EQ(d.length.input->characters, 100U);
  EXPECT_FALSE(d.length.input->bytes.has_value());
  EXPECT_FALSE(d.length.output.has_value());
  EXPECT_EQ(d.language.output->allowed, std::vector<std::string>{"en"});
  EXPECT_FALSE(d.language.output->allow_unknown);
  EXPECT_EQ(d.topic->denied, std::vector<std::string>{"politics"});
  EXPECT_EQ(d.topic->threshold, 0.4);
  EXPECT_FALSE(plain.configuration->is_quick()) << "it searches";
  EXPECT_EQ(d.allowed_functions, std::vector<std::string>{"find"});
  EXPECT_EQ(d.jailbreak.own.length_per_perplexity, 7);
  EXPECT_EQ(d.jailbreak.own.prefix_suffix_perplexity, JailbreakThresholds{}.prefix_suffix_perplexity);
  ASSERT_TRUE(d.injection.compiled.has_value());
  EXPECT_FALSE(d.injection.compiled->find("SELECT name FROM users WHERE 1=1 OR 'a'='a' --").empty());
}

// What flows read as `$config`.
TEST(ConfigurationWhole, ConfigHoldsTheYamlAndItsDefaults) {
  const auto plain = read_yaml("models: []\nmy_own: {deep: [1]}\nrails:\n  output:\n    streaming: {chunk_size: 7}\n");
  ASSERT_NE(plain.configuration, nullptr) << lines(plain.findings);
  const auto config = jinja::to_json(plain.configuration->config_value);
  for (
      const std::string_view part :
      {R"("my_own":{"deep":[1]})",
       R"("streaming":{"chunk_size":7,"enabled":false,"context_size":50,"stream_first":false})",
       R"("enable_rails_exceptions":false)", R"("fact_checking":{"fallback_to_self_check":false})",
       R"("jailbreak_detection":{"length_per_perplexity_threshold":89.79,"prefix_suffix_perplexity_threshold":1845.65})",
       R"("input":{"flows":[],"parallel":false})", R"("colang_version":"1.0")",
       R"("regex_detection":{"input":{"patterns":[],"case_insensitive":false})"})
    EXPECT_NE(config.find(part), std::string::npos) << part << "\n" << config;
}

}  // namespace
}  // namespace stackgate::guardrail
