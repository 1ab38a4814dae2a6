// Detectors over texts: no model is asked, but for jailbreaks where the configuration names a server, and for vectors
// of topics where it names a model of them.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "services/guardrail/actions/job.hpp"
#include "services/guardrail/actions/search.hpp"
#include "services/guardrail/configuration/detectors.hpp"
#include "services/guardrail/detect/injection.hpp"
#include "services/guardrail/detect/jailbreak.hpp"
#include "services/guardrail/detect/language.hpp"
#include "services/guardrail/detect/length.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

using jinja::Value;

const Detectors& detectors_of(const Job& job) {
  static const Detectors none;
  return job.configuration().detectors ? *job.configuration().detectors : none;
}

template <class T>
const T* of_source(const ByRail<T>& all, std::string_view source) {
  const std::optional<T>& found = source == "output" ? all.output : source == "retrieval" ? all.retrieval : all.input;
  const bool known = source == "input" || source == "output" || source == "retrieval";
  return known && found ? &*found : nullptr;
}

/// What the rail is about: a detector of the configuration and a text; nothing, and the job has failed, without one.
template <class T>
const T* detector(const JobPtr& job, const ByRail<T>& all, std::string_view setting) {
  const std::string source = job->text("source");
  const T* const found = of_source(all, source);
  if (found == nullptr) {
    job->fail(fmt::format("the configuration has no rails.config.{}.{}", setting, source));
    return nullptr;
  }
  if (job->find("text").text() != nullptr) return found;
  job->fail("there is no text to look at");
  return nullptr;
}

void detect_sensitive_data(const JobPtr& job) {
  if (const auto* found = detector(job, detectors_of(*job).sensitive_data, "sensitive_data_detection"))
    job->answer(Value(!found->find(job->find("text").bytes()).empty()));
}

void mask_sensitive_data(const JobPtr& job) {
  const auto* found = detector(job, detectors_of(*job).sensitive_data, "sensitive_data_detection");
  if (found == nullptr) return;
  const Value text = job->find("text");
  job->answer(Value(found->masked(text.bytes(), found->find(text.bytes()))));
}

void detect_regex_pattern(const JobPtr& job) {
  if (const auto* found = detector(job, detectors_of(*job).patterns, "regex_detection"))
    job->answer(Value(!found->matching(job->find("text").bytes()).empty()));
}

void redact_regex_pattern(const JobPtr& job) {
  const auto* found = detector(job, detectors_of(*job).patterns, "regex_detection");
  if (found == nullptr) return;
  const Value text = job->find("text");
  const auto redacted = [](const Span&) { return std::string_view("<REDACTED>"); };
  job->answer(Value(replaced(text.bytes(), found->find(text.bytes()), redacted)));
}

void check_length(const JobPtr& job) {
  if (const auto* limits = detector(job, detectors_of(*job).length, "length"))
    job->answer(Value(!length_excess(job->find("text").bytes(), *limits)));
}

void check_language(const JobPtr& job) {
  const auto* rules = detector(job, detectors_of(*job).language, "language");
  if (rules == nullptr) return;
  const std::string_view code = language_of(job->find("text").bytes()).code;
  job->answer(Value(code.empty() ? rules->allow_unknown : std::ranges::count(rules->allowed, code) > 0));
}

/// Of "name(arguments)", a line each.
void check_tool_calls(const JobPtr& job) {
  const auto& allowed = detectors_of(*job).allowed_functions;
  if (!allowed) return job->fail("the configuration has no rails.config.tool_calls");
  const Value calls = job->find("tool_calls");
  if (calls.text() == nullptr) return job->fail("there are no tool calls to look at");
  for (std::string_view rest = calls.bytes(); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (std::ranges::count(*allowed, line.substr(0, line.find('('))) == 0) return job->answer(Value(false));
  }
  job->answer(Value(true));
}

/// The nearest example decides. What is near to none is of another topic: not allowed where some are.
void check_topic(const JobPtr& job) {
  const auto& rules = detectors_of(*job).topic;
  const Value text = job->find("text");
  if (!rules) return job->fail("the configuration has no rails.config.topic.input");
  if (text.text() == nullptr) return job->fail("there is no text to look at");
  search(job, Searched::topics, std::string(text.bytes()), 1,
         [job, &rules](const SearchIndex& index, const std::vector<Nearest>& nearest) {
           if (nearest.empty()) return job->fail("the text has no vector to compare");
           const bool near = nearest.front().similarity >= rules->threshold;
           const bool denied = index.entries[nearest.front().index].group == 1;
           job->answer(Value(near ? !denied : rules->allowed.empty()));
         });
}

void injection_detection(const JobPtr& job) {
  const Value text = job->find("text");
  if (text.text() == nullptr) return job->fail("there is no text to look at");
  const InjectionRules& rules = detectors_of(*job).injection;
  if (!rules.compiled) return job->fail("the configuration has no rails.config.injection_detection");
  const Spans spans = rules.compiled->find(text.bytes());
  std::vector<Value> detections;
  for (const Span& each : spans) detections.emplace_back(Injection::rule_name(each.kind));
  const auto out = std::make_shared<jinja::Dict>();
  out->set(Value("is_injection"), Value(!spans.empty()));
  out->set(Value("action"), Value(rules.omit ? "omit" : "reject"));
  out->set(Value("text"), Value(rules.omit ? Injection::omitted(text.bytes(), spans) : std::string(text.bytes())));
  out->set(Value("detections"), Value(std::make_shared<const jinja::List>(std::move(detections))));
  job->answer(Value(jinja::DictPtr(out)));
}

/// {"jailbreak": true}; whatever else a server answers fails.
void take_verdict(const JobPtr& job, const std::string& body) {
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 16});
  const json::Value found = root ? json::value_at(&*root, {"jailbreak"}) : json::Value{};
  if (!found.is_boolean()) return job->fail("the jailbreak detection server's answer has no verdict");
  job->answer(Value(found.boolean()));
}

void jailbreak_detection_heuristics(const JobPtr& job) {
  const JailbreakRules& rules = detectors_of(*job).jailbreak;
  if (rules.server_endpoint.empty()) {
    const JailbreakScores scores = jailbreak_scores(job->find("user_message").bytes());
    return job->answer(Value(jailbreak_sign(scores, rules.own).has_value()));
  }
  std::string body = json::object_text([&](json::Writer& w) {
    w.member("prompt", job->find("user_message").bytes());
    w.member("lp_threshold", rules.length_per_perplexity);
    w.member("ps_ppl_threshold", rules.prefix_suffix_perplexity);
  });
  job->post(rules.server_endpoint, {}, std::move(body),
            [job](const std::string& answer) { take_verdict(job, answer); });
}

/// A NIM's classifier, or else the server that the heuristics ask as well.
void jailbreak_detection_model(const JobPtr& job) {
  const JailbreakRules& rules = detectors_of(*job).jailbreak;
  const bool nim = !rules.nim_base_url.empty();
  if (!nim && rules.server_endpoint.empty())
    return job->fail("rails.config.jailbreak_detection has no nim_base_url and no server_endpoint");
  std::string url = nim ? rules.nim_base_url : rules.server_endpoint;
  if (nim) {
    while (url.ends_with('/')) url.pop_back();
    url += (rules.nim_server_endpoint.starts_with('/') ? "" : "/") + rules.nim_server_endpoint;
  }
  std::string body = json::object_text(
      [&](json::Writer& w) { w.member(nim ? "input" : "prompt", job->find("user_message").bytes()); });
  job->post(url, nim ? rules.api_key_env : std::string(), std::move(body),
            [job](const std::string& answer) { take_verdict(job, answer); });
}

}  // namespace

std::span<const BuiltIn> detecting_actions() {
  static constexpr std::array<BuiltIn, 11> actions = {
      {{"detect_sensitive_data", detect_sensitive_data},
       {"mask_sensitive_data", mask_sensitive_data},
       {"detect_regex_pattern", detect_regex_pattern},
       {"redact_regex_pattern", redact_regex_pattern},
       {"check_length", check_length},
       {"check_language", check_language},
       {"check_topic", check_topic},
       {"check_tool_calls", check_tool_calls},
       {"injection_detection", injection_detection},
       {"jailbreak_detection_heuristics", jailbreak_detection_heuristics},
       {"jailbreak_detection_model", jailbreak_detection_model}}};
  return actions;
}

}  // namespace stackgate::guardrail
