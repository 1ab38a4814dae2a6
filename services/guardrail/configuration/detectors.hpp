// What the built-in rails read of `rails.config`, compiled. Immutable; any number of threads.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "services/guardrail/detect/injection.hpp"
#include "services/guardrail/detect/jailbreak.hpp"
#include "services/guardrail/detect/length.hpp"
#include "services/guardrail/detect/patterns.hpp"
#include "services/guardrail/detect/sensitive_data.hpp"

namespace stackgate::guardrail {

/// Of what is said, of what is answered, of what the knowledge base holds.
template <class T>
struct ByRail {
  std::optional<T> input{}, output{}, retrieval{};  // nothing: the configuration says nothing about it
};

struct JailbreakRules {
  std::string server_endpoint{};         // empty: this service judges by itself, with its own thresholds
  double length_per_perplexity = 89.79;  // of the endpoint, whose model is GPT-2 large
  double prefix_suffix_perplexity = 1845.65;
  JailbreakThresholds own{};
  std::string nim_base_url{};  // of "jailbreak detection model"
  std::string nim_server_endpoint{"classify"};
  std::string api_key_env{};
};

struct InjectionRules {
  std::vector<std::string> injections{"code", "sqli", "template", "xss"};
  bool omit = false;                    // what was found is taken out; else the message is refused
  std::optional<Injection> compiled{};  // of both; of a configuration that was read always there
};

/// Of the service's own rails "check language on …".
struct LanguageRules {
  std::vector<std::string> allowed{};  // ISO 639-1, in lower case
  bool allow_unknown = true;           // short texts, and languages that are not told apart
};

/// Of the service's own rail "check topic on input": examples of what may be talked about, and of what may not.
struct TopicRules {
  std::vector<std::string> allowed{}, denied{};
  double threshold = 0.4;  // cosine; of another topic is what is nearer to no example
};

struct Detectors {
  ByRail<SensitiveData> sensitive_data{};
  ByRail<Patterns> patterns{};
  JailbreakRules jailbreak{};
  InjectionRules injection{};
  ByRail<LengthLimits> length{};
  ByRail<LanguageRules> language{};
  std::optional<TopicRules> topic{};                            // of the input
  std::optional<std::vector<std::string>> allowed_functions{};  // of tool calls; nothing: none was named
};

}  // namespace stackgate::guardrail
