// Every fault at its place, with its cure. Each case is a config.yml behind two lines that are right.
#include <gtest/gtest.h>

#include "tests/guardrail/configuration/read.hpp"

namespace stackgate::guardrail {
namespace {

using namespace test;

struct Fault {
  std::string_view yaml, findings;
};

void check(const Fault& each) {
  EXPECT_EQ(lines(read_yaml(each.yaml).findings), each.findings) << each.yaml;
  const bool is_error = each.findings.contains("error ");
  EXPECT_EQ(read_yaml(each.yaml).configuration == nullptr, is_error) << each.yaml;
}

TEST(ConfigurationFaults, TypesAndKeys) {
  const Fault cases[] = {
      {"models: []\nrails:\n  input: [self check input]\n",
       "error d/config.yml:3:10 rails.input: must be a mapping, and is a list; write a mapping [guardrail-type]\n"},
      {"rails:\n  output:\n    streaming: {enabled: \"yes\", chunk_size: 0}\n",
       "error d/config.yml:3:26 rails.output.streaming.enabled: must be true or false, and is a text; write true or "
       "false [guardrail-type]\n"
       "error d/config.yml:3:45 rails.output.streaming.chunk_size: is 0, beyond its bounds; write a number from 1 to "
       "100000 [guardrail-value]\n"},
      {"rails:\n  input:\n    flows: [12]\n",
       "error d/config.yml:3:13 rails.input.flows[0]: must be a text, and is a number; write a text, in quotes "
       "[guardrail-type]\n"},
      {"models:\n- type: main\n  engine: openai\n  model: 7\n",
       "error d/config.yml:4:10 models[0].model: must be a text, and is a number; write a text, in quotes "
       "[guardrail-type]\n"},
      {"models:\n- engine: openai\n- x\n",
       "error d/config.yml:2:3 models[0].type: is missing; write a text [guardrail-missing]\n"
       "error d/config.yml:3:3 models[1]: must be a mapping, and is a text; write a mapping [guardrail-type]\n"},
      {"instruction:\n- type: general\n  content: x\nrails:\n  inptu: {}\n",
       "warning d/config.yml:1:1 instruction: there is no key \"instruction\"; did you mean \"instructions\"?; it is "
       "kept "
       "for $config, and nothing else reads it [guardrail-unknown-key]\n"
       "warning d/config.yml:5:3 rails.inptu: there is no key \"inptu\"; did you mean \"input\"?; it is kept for "
       "$config, "
       "and nothing else reads it [guardrail-unknown-key]\n"},
      {"lowest_temperature: .inf\n",
       "error d/config.yml:1:21: JSON has neither infinity nor NaN; quote it if a string is meant; correct the YAML "
       "[guardrail-yaml]\n"},
      {"tracing: {enabled: true}\nimport_paths: [../other]\n",
       "warning d/config.yml:1:1 tracing: has no effect here; the server's own settings say what is traced and counted "
       "[guardrail-unsupported]\n"
       "warning d/config.yml:2:1 import_paths: has no effect here; nothing is read from outside of the configuration; "
       "copy the files into it [guardrail-unsupported]\n"},
      {"- models\n",
       "error d/config.yml:1:1: must be a mapping of keys; write keys such as `models:` and `rails:` "
       "[guardrail-type]\n"},
      {"colang_version: \"2.x\"\n",
       "error d/config.yml:1:17 colang_version: Colang 2 is not served; write the flows in Colang 1.0, and "
       "colang_version: \"1.0\" [guardrail-unsupported]\n"},
      {"colang_version: 1.0\n", ""},
      {"colang_version: 3\n",
       "error d/config.yml:1:17 colang_version: there is no Colang \"3\"; write colang_version: \"1.0\" "
       "[guardrail-unsupported]\n"},
      {"instructions:\n- {type: special, content: x}\n",
       "warning d/config.yml:2:10 instructions[0].type: there are no instructions of type \"special\"; write general "
       "[guardrail-value]\n"},
      {"actions_server_url: actions:8001\n",
       "error d/config.yml:1:21 actions_server_url: is no http address; write one such as http://actions:8001 "
       "[guardrail-value]\n"},
  };
  for (const Fault& each : cases) check(each);
}

TEST(ConfigurationFaults, Models) {
  const Fault cases[] = {
      {"models:\n- {type: main, engine: opneai, model: m}\n",
       "error d/config.yml:2:24 models[0].engine: \"opneai\" is not known as an engine whose endpoint speaks OpenAI's "
       "protocol; did you mean \"openai\"?; put an OpenAI-compatible endpoint in front of it, write its address as "
       "parameters.base_url [guardrail-model]\n"},
      {"models:\n- {type: main, engine: mine, model: m, parameters: {base_url: http://x/v1}}\n",
       "warning d/config.yml:2:24 models[0].engine: \"mine\" is not known as an engine whose endpoint speaks OpenAI's "
       "protocol; the endpoint at parameters.base_url is asked as if it did [guardrail-model]\n"},
      {"models:\n- {type: main, engine: openai, model: a}\n- {type: main, engine: openai, model: b}\n",
       "error d/config.yml:3:3 models[1].type: \"main\" was given to a model before, at d/config.yml:2:3; give each "
       "model "
       "a type of its own [guardrail-model]\n"},
      {"models:\n- {type: main, engine: openai, api_key_env_var: $KEY}\n",
       "error d/config.yml:2:49 models[0].api_key_env_var: is no name of an environment variable; write the name "
       "without "
       "the $ [guardrail-model]\n"},
      {"models:\n- {type: main, engine: openai, mode: speech}\n",
       "error d/config.yml:2:38 models[0].mode: must be chat or text, and is \"speech\"; write chat "
       "[guardrail-model]\n"},
      {"models:\n- type: main\n  engine: openai\n  parameters: {base_url: nim:8000, model_name: a}\n  model: b\n",
       "error d/config.yml:4:26 models[0].parameters.base_url: is no http address; write one such as "
       "http://nim:8000/v1 "
       "[guardrail-model]\n"
       "error d/config.yml:4:48 models[0].parameters.model_name: names the model a second time; remove it, or `model` "
       "above [guardrail-model]\n"},
      {"models:\n- {type: embeddings, engine: FastEmbed, model: all-MiniLM-L6-v2}\n",
       "warning d/config.yml:2:30 models[0].engine: \"FastEmbed\" runs inside of Python; vectors of n-grams are made "
       "here "
       "instead; name an OpenAI-compatible endpoint with embeddings to have better ones [guardrail-model]\n"},
  };
  for (const Fault& each : cases) check(each);
}

TEST(ConfigurationFaults, SecretsAreNamedAndNeverShown) {
  const std::string_view secret = "sk-live-0123456789";
  struct Secret {
    std::string_view yaml, place;
  };
  const Secret cases[] = {
      {"models:\n- {type: main, engine: openai, parameters: {api_key: sk-live-0123456789}}\n",
       "d/config.yml:2:45 models[0].parameters.api_key"},
      {"models:\n- {type: main, engine: openai, api_key: sk-live-0123456789}\n", "d/config.yml:2:32 models[0].api_key"},
      {"models:\n- {type: main, engine: openai, api_key_env_var: sk-live-0123456789}\n",
       "d/config.yml:2:49 models[0].api_key_env_var"},
      {"models:\n- type: main\n  engine: nim\n  parameters: {default_headers: {Authorization: sk-live-0123456789}}\n",
       "d/config.yml:4:34 models[0].parameters.default_headers.Authorization"},
      {"models:\n- {type: main, engine: nim, parameters: {base_url: \"https://me:sk-live-0123456789@x/v1\"}}\n",
       "d/config.yml:2:52 models[0].parameters.base_url"},
      {"custom_data: {db_password: sk-live-0123456789}\n", "d/config.yml:1:15 custom_data.db_password"},
  };
  for (const Secret& each : cases) {
    const auto out = read_yaml(each.yaml);
    EXPECT_EQ(out.configuration, nullptr) << each.yaml;
    const std::string text = lines(out.findings);
    EXPECT_EQ(text.find(secret), std::string::npos) << text;
    EXPECT_NE(text.find("error " + std::string(each.place) + ": "), std::string::npos) << text;
  }
  EXPECT_EQ(lines(read_yaml("custom_data: {token_limit: 7, mask_token: \"*\", tokens: 3}\n").findings), "");
}

TEST(ConfigurationFaults, Rails) {
  const Fault cases[] = {
      {"rails:\n  input:\n    flows:\n    - self check inputs\n",
       "error d/config.yml:4:7 rails.input.flows[0]: there is no flow \"self check inputs\"; did you mean \"self check "
       "input\"?; define it in a *.co file: define subflow self check inputs, or write a built-in rail's name "
       "[guardrail-rail]\n"},
      {"rails:\n  input:\n    flows:\n    - self check input\n  output:\n    flows: [self check output]\n",
       "error d/config.yml:4:7 rails.input.flows[0]: \"self check input\" has no prompt; add one to prompts, with "
       "`task: "
       "self_check_input` [guardrail-prompt]\n"
       "error d/config.yml:6:13 rails.output.flows[0]: \"self check output\" has no prompt; add one to prompts, with "
       "`task: self_check_output` [guardrail-prompt]\n"},
      {"rails:\n  input:\n    flows:\n    - content safety check input $model=safety\nprompts:\n- {task: "
       "content_safety_check_input $model=safety, content: x}\n",
       "error d/config.yml:6:10 prompts[0].task: there is no model of type \"safety\"; add it to models, with `type: "
       "safety` [guardrail-model]\n"
       "error d/config.yml:4:7 rails.input.flows[0]: there is no model of type \"safety\"; add it to models, with "
       "`type: "
       "safety` [guardrail-model]\n"},
      {"rails:\n  input:\n    flows: [topic safety check input]\n",
       "error d/config.yml:3:13 rails.input.flows[0]: \"topic safety check input\" does not say which model it asks; "
       "write topic safety check input $model=…, with a type of models [guardrail-rail]\n"},
      {"rails:\n  input:\n    flows: [jailbreak detection heuristics $, $x=1]\n",
       "error d/config.yml:3:13 rails.input.flows[0]: \"jailbreak detection heuristics $\" is no rail; write a flow's "
       "name "
       "and arguments: content safety check input $model=content_safety [guardrail-rail]\n"
       "error d/config.yml:3:47 rails.input.flows[1]: \"$x=1\" is no rail; write a flow's name and arguments: content "
       "safety check input $model=content_safety [guardrail-rail]\n"},
      {"rails:\n  input:\n    flows: [jailbreak detection heuristics, jailbreak detection heuristics]\n",
       "warning d/config.yml:3:45 rails.input.flows[1]: \"jailbreak detection heuristics\" stands here a second time; "
       "remove it: it runs once [guardrail-rail]\n"},
      {"rails:\n  input:\n    flows: [regex check input]\n",
       "warning d/config.yml:3:13 rails.input.flows[0]: \"regex check input\" has nothing to look for: there is no "
       "rails.config.regex_detection.input; add rails.config.regex_detection.input [guardrail-rail]\n"},
      {"rails:\n  dialog:\n    user_messages: {embeddings_only_fallback_intent: other, "
       "embeddings_only_similarity_threshold: 1.5}\n",
       "error d/config.yml:3:99 rails.dialog.user_messages.embeddings_only_similarity_threshold: is 1.5, beyond its "
       "bounds; write a number from 0 to 1 [guardrail-value]\n"
       "error d/config.yml:3:54 rails.dialog.user_messages.embeddings_only_fallback_intent: there is no intent "
       "\"other\"; "
       "define it in a *.co file: define user other [guardrail-value]\n"},
  };
  for (const Fault& each : cases) check(each);
}

TEST(ConfigurationFaults, RailsInTheWrongList) {
  const Fault cases[] = {
      {"rails:\n  input:\n    flows: [injection detection]\n  output:\n    flows: [check length on input]\n",
       "error d/config.yml:3:13 rails.input.flows[0]: \"injection detection\" does not belong here; write it into "
       "rails.output.flows [guardrail-rail]\n"
       "error d/config.yml:5:13 rails.output.flows[0]: \"check length on input\" does not belong here; write it into "
       "rails.input.flows [guardrail-rail]\n"
       "warning d/config.yml:5:13 rails.output.flows[0]: \"check length on input\" has nothing to look for: there is "
       "no "
       "rails.config.length.input; add rails.config.length.input [guardrail-rail]\n"},
      {"rails:\n  input:\n    flows: [jailbreak detection model]\n",
       "error d/config.yml:3:13 rails.input.flows[0]: \"jailbreak detection model\" has no endpoint to ask; write "
       "rails.config.jailbreak_detection.nim_base_url [guardrail-rail]\n"},
  };
  for (const Fault& each : cases) check(each);
  // A flow of the user's under that name is theirs.
  EXPECT_EQ(lines(read({{"config.yml", "rails: {input: {flows: [self check input]}}\n"},
                        {"r.co", "define flow self check input\n  stop\n"}})
                      .findings),
            "");
}

TEST(ConfigurationFaults, Prompts) {
  const Fault cases[] = {
      {"prompts:\n- task: self_check_input\n  content: |\n    Is this bad?\n    {% if user_input %}{{ user_input | "
       "uper }}\n",
       "error d/config.yml:3:12 prompts[0].content: is no template: line 2, column 36: there is no filter \"uper\"; "
       "did "
       "you mean \"upper\"? in \"{% if user_input %}{{ user_input | uper }}\"; correct the template; its lines count "
       "from "
       "the beginning of this text [guardrail-prompt]\n"},
      {"prompts:\n- {task: general}\n- {task: general, content: a, messages: [\"{{ history | to_chat_messages }}\"]}\n",
       "error d/config.yml:2:3 prompts[0].content: is missing; write either content or messages [guardrail-prompt]\n"
       "error d/config.yml:3:3 prompts[1].content: stands beside messages; write either content or messages "
       "[guardrail-prompt]\n"},
      {"prompts:\n- task: general\n  messages:\n  - You are a bot\n  - {type: king, content: x}\n  - {role: user}\n",
       "error d/config.yml:4:5 prompts[0].messages[0]: is no template: line 1, column 1: a part of messages without a "
       "type "
       "must be one expression, such as {{ history | colang | to_messages }}; give other texts a type in \"You are a "
       "bot\"; correct the template; its lines count from the beginning of this text [guardrail-prompt]\n"
       "error d/config.yml:5:27 prompts[0].messages[1].content: is no template: there is no message type \"king\"; "
       "correct the template; its lines count from the beginning of this text [guardrail-prompt]\n"
       "error d/config.yml:6:5 prompts[0].messages[2]: must have a type and a content, or be a template for messages; "
       "write `- type: system` and `content: …` [guardrail-prompt]\n"},
      {"prompts:\n- {task: self_chek_input, content: x, output_parser: is_content_save, max_length: 0}\n",
       "error d/config.yml:2:83 prompts[0].max_length: is 0, beyond its bounds; write a number from 1 to 100000000 "
       "[guardrail-value]\n"
       "error d/config.yml:2:54 prompts[0].output_parser: there is no parser \"is_content_save\"; did you mean "
       "\"is_content_safe\"?; write one of the README's, register it in config.py, or leave it out: each task has its "
       "own [guardrail-prompt]\n"
       "warning d/config.yml:2:10 prompts[0].task: there is no task \"self_chek_input\"; did you mean "
       "\"self_check_input\"?; its prompt is used only by code of your own [guardrail-prompt]\n"},
      {"prompts:\n- {task: my own task, content: x}\n", ""},
  };
  for (const Fault& each : cases) check(each);
}

TEST(ConfigurationFaults, Detectors) {
  const Fault cases[] = {
      {"rails:\n  config:\n    jailbreak_detection: {server_endpoint: nowhere, length_per_perplexity_threshold: -1}\n",
       "error d/config.yml:3:86 rails.config.jailbreak_detection.length_per_perplexity_threshold: is -1, beyond its "
       "bounds; write a number from 0 to 1000000000 [guardrail-value]\n"
       "error d/config.yml:3:44 rails.config.jailbreak_detection.server_endpoint: is no http address; write one such "
       "as "
       "http://jailbreak:1337/heuristics [guardrail-value]\n"},
  };
  const Fault own[] = {
      {"rails:\n  config:\n    language: {input: {allowed: [EN, xx]}, output: {}}\n    length: {input: {words: 0}}\n",
       "error d/config.yml:4:29 rails.config.length.input.words: is 0, beyond its bounds; write a number from 1 to "
       "100000000 [guardrail-value]\n"
       "error d/config.yml:3:38 rails.config.language.input.allowed[1]: \"xx\" is no language that is told apart; "
       "write "
       "some of ar, de, el, en, es, fr, he, hi, it, ja, ko, nl, pl, pt, ru, sv, th, uk, zh [guardrail-value]\n"
       "error d/config.yml:3:52 rails.config.language.output.allowed: is missing; write languages: [en, de] "
       "[guardrail-missing]\n"},
      {"rails:\n  config:\n    topic: {input: {threshold: 2}}\n",
       "error d/config.yml:3:32 rails.config.topic.input.threshold: is 2, beyond its bounds; write a number from 0 to "
       "1 "
       "[guardrail-value]\n"
       "error d/config.yml:3:20 rails.config.topic.input: has no examples; write what users may say as allowed: [How "
       "do "
       "I return a parcel?], or what not as denied [guardrail-missing]\n"},
      {"rails:\n  config:\n    jailbreak_detection: {length_per_perplexity_threshold: 80}\n",
       "warning d/config.yml:3:60 rails.config.jailbreak_detection.length_per_perplexity_threshold: has no effect "
       "here: it "
       "belongs to GPT-2 large, which a server_endpoint has; write own_length_per_perplexity_threshold, or leave it "
       "out "
       "[guardrail-unsupported]\n"},
      {"rails:\n  config:\n    jailbreak_detection: {server_endpoint: \"http://x\", length_per_perplexity_threshold: "
       "80}\n",
       ""},
  };
  for (const Fault& each : cases) check(each);
  for (const Fault& each : own) check(each);
  const auto places = [](std::string_view yaml) {
    std::string out;
    for (const validate::Finding& each : read_yaml(yaml).findings) out += each.path + "\n";
    return out;
  };
  EXPECT_EQ(places("rails:\n  config:\n    regex_detection:\n      input:\n        patterns: [\"a+\", \"(\"]\n"),
            "d/config.yml:5:26 rails.config.regex_detection.input.patterns[1]\n");
  EXPECT_EQ(places("rails:\n  config:\n    sensitive_data_detection:\n      output: {entities: [URL, PERSN]}\n"),
            "d/config.yml:4:32 rails.config.sensitive_data_detection.output.entities[1]\n");
  EXPECT_EQ(places("rails:\n  config:\n    injection_detection: {injections: [sql, xss], action: burn}\n"),
            "d/config.yml:3:40 rails.config.injection_detection.injections[0]\nd/config.yml:3:59 "
            "rails.config.injection_detection.action\n");
}

TEST(ConfigurationFaults, SearchProviders) {
  const auto read = [](std::string_view provider) {
    return read_yaml("core:\n  embedding_search_provider: " + std::string(provider) + "\n");
  };
  const auto own = read("{parameters: {embedding_engine: openai, embedding_model: ada, base_url: \"http://e/v1\"}}");
  EXPECT_EQ(lines(own.findings), "");
  const Model* model = own.configuration->find_model("embeddings");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->model + " " + model->base_url + (model->local ? " local" : ""), "ada http://e/v1");
  const auto python = read("{name: mine, parameters: {embedding_engine: FastEmbed, use_batching: true}}");
  EXPECT_EQ(lines(python.findings),
            "warning d/config.yml:2:37 core.embedding_search_provider.name: \"mine\" is code of Python and is not run; "
            "this service searches by itself [guardrail-unsupported]\n"
            "warning d/config.yml:2:74 core.embedding_search_provider.parameters.embedding_engine: \"FastEmbed\" is no "
            "engine whose endpoint speaks OpenAI's protocol; vectors of n-grams are made here instead; name an "
            "OpenAI-compatible endpoint with embeddings to have better ones [guardrail-model]\n");
  EXPECT_TRUE(python.configuration->find_model("embeddings")->local);
  EXPECT_EQ(
      lines(read_yaml("models: [{type: embeddings, engine: nim, model: a}]\nknowledge_base:\n"
                      "  embedding_search_provider: {parameters: {embedding_engine: openai}}\n")
                .findings),
      "warning d/config.yml:3:62 knowledge_base.embedding_search_provider.parameters.embedding_engine: has no "
      "effect: another model makes the vectors; name one, in models, of type embeddings [guardrail-unsupported]\n");
}

TEST(ConfigurationFaults, Files) {
  EXPECT_EQ(lines(read({{"notes.txt", "x"}}).findings),
            "error d: has no config.yml; write one, with `models:` and `rails:` [guardrail-files]\n");
  EXPECT_EQ(lines(read({{"config.yml", "models: []\n"}, {"b.yml", "models: {}\n"}}).findings),
            "error d/config.yml:1:9 models: is of another type than at d/b.yml:1:9; give the key the same type in all "
            "files [guardrail-conflict]\n"
            "error d/b.yml:1:9 models: must be a list of mappings, and is a mapping; write a list of mappings "
            "[guardrail-type]\n");
  EXPECT_EQ(
      lines(read({{"config.yml", "models: []\n"}, {"bad.yml", "a: [\n"}, {"rails.co", "\xff"}}).findings).substr(0, 60),
      "error d/rails.co: is not UTF-8; save it as UTF-8 [guardrail-");
  EXPECT_EQ(lines(read_configuration("d", {{"config.yml", std::string(2U << 20U, '#'), "c"}}).findings),
            "error c: is larger than 1 MiB; part it into several files [guardrail-files]\n"
            "error d: has no config.yml; write one, with `models:` and `rails:` [guardrail-files]\n");
  EXPECT_EQ(lines(read({{"config.yml", "models: []\n"}, {"config.py", "x = 1\n"}}).findings),
            "warning d/config.py: runs in the process of the actions, not in the server; define init(app), which "
            "registers actions [guardrail-unsupported]\n");
  EXPECT_EQ(lines(read({{"config.yml", "models: []\n"},
                        {"config.py",
                         "def register_filter(f):\n  pass\n\ndef init(app):\n  app.register_action(f, 'x')\n"
                         "  app.register_prompt_context('a', f)  # app.register_embedding_provider(f)\n"}})
                      .findings),
            "warning d/config.py:6:1: register_prompt_context() has no effect: prompts and vectors are made by the "
            "server; register filters and output parsers, which prompts take [guardrail-unsupported]\n");
  EXPECT_EQ(
      lines(read({{"config.yml", "models: []\nactions_server_url: http://a\n"}, {"actions.py", "x = 1\n"}}).findings),
      "warning d/actions.py: is not run, as there is an actions_server_url; let the server of actions have it, or "
      "remove the address [guardrail-unsupported]\n");
}

TEST(ConfigurationFaults, FiltersAndParsersOfTheCodeAreKnown) {
  const auto findings = [](std::string_view prompt, std::string_view code, std::string_view more = "") {
    return lines(read({{"config.yml", std::string("models: []\nprompts:\n- {task: self_check_input, ")
                                          .append(prompt)
                                          .append("}\n")
                                          .append(more)},
                       {"config.py", "def init(app):\n  " + std::string(code) + "\n"}})
                     .findings);
  };
  constexpr std::string_view loud = "app.register_filter(lambda a, b=1: a, 'loud')";
  EXPECT_EQ(findings("content: '{{ user_input | loud(2) }}'", loud), "");
  EXPECT_EQ(findings("messages: ['{{ history | colang | loud }}']", loud), "");
  EXPECT_EQ(findings("content: '{{ user_input | lout }}'", loud),
            "error d/config.yml:3:37 prompts[0].content: is no template: line 1, column 17: there is no filter "
            "\"lout\"; did you mean \"loud\"? in \"{{ user_input | lout }}\"; correct the template; its lines count "
            "from the beginning of this text [guardrail-prompt]\n");
  EXPECT_EQ(findings("content: '{{ user_input | lout }}'", "for f in all: app.register_filter(f, f.name)"), "")
      << "only running it gives the names";
  EXPECT_TRUE(findings("content: '{{ user_input | loud }}'", loud, "actions_server_url: http://a\n").contains("error"))
      << "the code is not run";
  EXPECT_EQ(findings("content: x, output_parser: mine", "app.register_output_parser(f, name='mine')"), "");
  EXPECT_EQ(findings("content: x, output_parser: mind", "app.register_output_parser(\n  f,\n  'mine',\n  )"),
            "error d/config.yml:3:55 prompts[0].output_parser: there is no parser \"mind\"; did you mean \"mine\"?; "
            "write one of the README's, register it in config.py, or leave it out: each task has its own "
            "[guardrail-prompt]\n");
  EXPECT_EQ(findings("content: x, output_parser: mind", "app.register_output_parser(f, NAME)"), "");
}

// Texts of the bot are rendered where turns are computed, which waits for no code.
TEST(ConfigurationFaults, FiltersOfTheCodeAreNoneOfTheBotsTexts) {
  const auto findings = [](std::string_view text) {
    return lines(read({{"config.yml", "models: []\n"},
                       {"m.co", "define flow\n  user ...\n  bot greet\n\ndefine bot greet\n  \"Hello\"\n  \"" +
                                    std::string(text) + "\"\n"},
                       {"config.py", "def init(app):\n  app.register_filter(f, 'loud')\n"}})
                     .findings);
  };
  EXPECT_EQ(findings("Hi {{ name | upper }}"), "");
  EXPECT_EQ(findings("Hi {{ name | loud }}"),
            "error d/m.co:7:3: the text cannot be read as a template: there is no filter \"loud\"; did you mean "
            "\"round\"?; write variables as $name or {{ name }}; filters of Python code belong to prompts: let an "
            "action make the text [colang-text]\n");
}

TEST(ConfigurationFaults, ActionsOfAPackageAreKnown) {
  const auto findings = [](std::string_view action) {
    return lines(read({{"config.yml", "models: []\n"},
                       {"m.co", "define flow\n  user ...\n  execute " + std::string(action) + "\n"},
                       {"actions/__init__.py", "from .prices import *\n"},
                       {"actions/prices.py", "@action()\ndef find_price(): pass\n"},
                       {"actions/deep/hours.py", "@action(name='hours')\nclass Hours: pass\n"},
                       {"config.py", "def init(app):\n  app.register_action(f, 'registered')\n"}})
                     .findings);
  };
  for (const char* known : {"find_price", "hours", "registered"})
    EXPECT_FALSE(findings(known).contains("error")) << known;
  EXPECT_TRUE(findings("find_hours").contains("error d/m.co"));
}

ReadConfiguration read_all(const std::string& yaml, std::string_view flow, std::string_view actions) {
  return read({{"config.yml", yaml}, {"m.co", flow}, {"actions.py", actions}});
}

TEST(ConfigurationFaults, FlowsAndTheirActions) {
  const std::string_view yaml = "rails:\n  output:\n    flows: [mine]\n    streaming: {enabled: true}\n";
  const std::string_view flow = "define subflow mine\n  $x = execute judge\n  if not $x\n    stop\n";
  const auto findings = [&](std::string_view actions, std::string_view more = {}) {
    return lines(read_all(std::string(yaml) + std::string(more), flow, actions).findings);
  };
  const std::string unknown = findings("@action(name='jugde')\ndef f(): pass\n");
  EXPECT_NE(unknown.find("d/m.co:2:"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("did you mean \"jugde\"?"), std::string::npos) << unknown;
  EXPECT_EQ(
      findings("@action()\ndef judge(): pass\n"),
      "warning d/config.yml:3:13 rails.output.flows: \"mine\" cannot judge a stream: its action judge does not say "
      "what its result means for a piece of the answer (output_mapping); requests with `stream: true` are refused; "
      "leave the rail out, or do not stream [guardrail-streaming]\n");
  EXPECT_EQ(findings("@action(output_mapping=bool)\ndef judge(): pass\n"), "");
  // What waits for the user, or asks the model for words, cannot judge pieces either.
  for (const auto& [line, why] : {std::pair{"user ...", "it waits for what comes next"},
                                  std::pair{"bot ...", "it asks the model for a text of its own"}}) {
    const std::string text = std::string("define subflow mine\n  ") + line + "\n  stop\n";
    EXPECT_NE(lines(read_all(std::string(yaml), text, "").findings).find(why), std::string::npos) << line;
  }
  // An action server may have any.
  EXPECT_EQ(findings("", "actions_server_url: http://a:1\n").substr(0, 8), "warning ");
}

}  // namespace
}  // namespace stackgate::guardrail
