// A guardrail configuration as it is served: everything of its folder read, merged, checked and compiled. Sources:
// the configuration guide of NeMo Guardrails; services.md section 5.2.
//
// Immutable; shared by all requests that use it.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/colang/program.hpp"
#include "services/guardrail/prompts/task.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::guardrail {

/// One of `models`: whom a task asks.
struct Model {
  std::string type;              // "main", "embeddings", or a name of the user's: "content_safety"
  std::string engine;            // "openai", "nim", …: all are OpenAI endpoints here
  std::string model;             // empty: what the request names, else what the endpoint lists first
  std::string base_url{};        // empty: the server's --inference-url
  std::string api_key_env{};     // variable that holds the key
  std::string parameters{"{}"};  // JSON object of the rest: temperature, max_tokens, …
  bool completion = false;       // mode: text: /completions instead of /chat/completions
  bool local = false;            // of type embeddings: this service's own vectors, no endpoint
};

/// `self check input`, or `content safety check input $model=content_safety`.
struct RailCall {
  std::string flow;                                // the name without its arguments
  std::map<std::string, std::string> arguments{};  // model → content_safety
  std::string text{};                              // as configured
  std::uint32_t index = 0;                         // into Program::flows
  colang::Place place{};                           // in its YAML file
};

struct RailList {
  std::vector<RailCall> flows{};
  bool parallel = false;
};

struct StreamRules {
  bool enabled = false;
  std::uint32_t chunk_size = 200;  // tokens, taken as words and punctuation
  std::uint32_t context_size = 50;
  bool stream_first = false;
};

struct DialogRules {
  bool single_call = false;
  bool fallback_to_multiple_calls = true;
  bool embeddings_only = false;
  std::optional<double> embeddings_only_threshold{};
  std::string embeddings_only_fallback_intent{};
};

/// `rails.config`, as JSON; what each built-in rail reads of it is compiled beside it.
struct Detectors;  // detectors.hpp

/// An output rail that cannot judge a text piece by piece: a request with `stream: true` is refused while there is one.
struct StreamObstacle {
  std::string rail;  // as configured
  std::string why;   // "it asks for the whole answer"
};

/// An action that Python code defines, as its text says.
struct PythonAction {
  std::string name;
  bool output_mapping = false;  // its decorator says how its result judges a piece of a stream
};

/// Code to be run by the process of actions: "actions.py", "config.py", "actions/prices.py".
struct PythonFile {
  std::string name;
  std::string text;
};

struct KnowledgePage {
  std::string name;  // "kb/prices.md"
  std::string text;
};

struct Configuration {
  std::string id;
  std::string description{};
  std::vector<Model> models{};
  std::string instructions{};  // general
  std::string sample_conversation{};
  RailList input{}, output{}, retrieval{}, tool_input{}, tool_output{};
  StreamRules streaming{};
  DialogRules dialog{};
  bool passthrough = false;
  bool exceptions = false;  // enable_rails_exceptions
  bool multi_step_generation = false;
  double lowest_temperature = 0.001;
  std::string actions_server_url{};
  jinja::Value custom_data{};
  jinja::Value config_value{};  // `$config` of flows: the merged YAML
  Prompts prompts{};
  std::shared_ptr<const Detectors> detectors{};
  std::vector<KnowledgePage> knowledge{};
  std::vector<PythonFile> python_files{};  // actions.py, config.py, and those of the folder actions/
  std::vector<PythonAction> python_actions{};
  bool any_python_action = false;  // it registers some whose names only running it tells
  PromptCode prompt_code{};        // of python_files
  std::vector<StreamObstacle> stream_obstacles{};
  colang::Program program{};
  std::uint32_t built_in_files = 0;  // of Program::files: the library's, which come first
  validate::Findings warnings{};

  const Model* find_model(std::string_view type) const;
  /// Whether the user defined dialog: intents with flows; otherwise a turn is one plain call of the main model.
  bool has_dialog() const;
  /// Whether chunks are looked for: there is a knowledge base, or code of the user's that is one.
  bool retrieves() const;
  /// Whether its turns search nothing and run nobody's code: what they compute themselves takes some 50 µs for each KB.
  bool is_quick() const;

  std::shared_ptr<const std::vector<struct File>> files{};  // that it was read from
};

using ConfigurationPtr = std::shared_ptr<const Configuration>;

/// One file of a configuration: its name within its folder ("config.yml", "kb/prices.md"), its text, and how it is
/// called towards the user ("default/config.yml", or a ConfigMap's key "default__config.yml").
struct File {
  std::string name;
  std::string text;
  std::string shown;
};

struct ReadConfiguration {
  ConfigurationPtr configuration{};  // empty when there is an error
  validate::Findings findings{};     // `path`: "default/config.yml:12:3 rails.input.flows[1]"
  /// What could be read, errors or not: for further checks, never to be served.
  ConfigurationPtr draft{};
};

/// Reads one configuration. Pure: no file, no network, no environment is looked at.
/// At most 1000 files, 1 MiB each and 16 MiB together. Several YAML files are joined in the order of their names:
/// mappings member by member, lists one behind the other, of other values the later one counts.
ReadConfiguration read_configuration(std::string_view id, const std::vector<File>& files);

/// Several ids of one request: models, rails, prompts and flows of all, the later wins; models of one type that differ
/// in engine or address are a finding.
ReadConfiguration combine(const std::vector<ConfigurationPtr>& configurations);

/// The configurations of a store. A folder: each subdirectory with a config file is one, named like it; one at the
/// top alone is `default`. A ConfigMap has flat keys: `<config>__<file>`, further `__` for subdirectories
/// ("strict__kb__prices.md"); without any `__` all keys are the one configuration `default`.
std::map<std::string, std::vector<File>> split_by_configuration(const std::vector<File>& store, bool flat_keys);
/// The same of a ConfigMap's keys, whether there is a `__` among them or not.
std::map<std::string, std::vector<File>> configurations_of_config_map(const std::vector<File>& keys);

}  // namespace stackgate::guardrail
