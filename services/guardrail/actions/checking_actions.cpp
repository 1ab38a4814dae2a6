// Checks by a model. Their answers are what the anchor's flows expect; an answer that says neither yes nor no blocks.
#include <array>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "services/guardrail/actions/conversation.hpp"
#include "services/guardrail/actions/job.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::guardrail {
namespace {

using jinja::Value;

using WithVerdict = void (*)(const JobPtr& job, const Parsed& parsed);

void check(const JobPtr& job, Job::Task task, WithVerdict then) {
  task.temperature = job->configuration().lowest_temperature;
  job->ask_task(std::move(task), [job, then](const Parsed& parsed) {
    if (!parsed.safe)
      log::warning("a check's answer is neither yes nor no", {{"action", job->request().action},
                                                              {"configuration", job->configuration().id},
                                                              {"rail", job->request().rail_name}});
    then(job, parsed);
  });
}

void allowed(const JobPtr& job, const Parsed& parsed) { job->answer(Value(parsed.safe.value_or(false))); }

/// {"allowed": …, "policy_violations": […]}
void allowed_with_violations(const JobPtr& job, const Parsed& parsed) {
  std::vector<Value> violations;
  violations.reserve(parsed.categories.size());
  for (const std::string& each : parsed.categories) violations.emplace_back(each);
  const auto out = std::make_shared<jinja::Dict>();
  out->set(Value("allowed"), Value(parsed.safe.value_or(false)));
  out->set(Value("policy_violations"), Value(std::make_shared<const jinja::List>(std::move(violations))));
  job->answer(Value(jinja::DictPtr(out)));
}

void on_topic(const JobPtr& job, const Parsed& parsed) {
  const auto out = std::make_shared<jinja::Dict>();
  out->set(Value("on_topic"), Value(parsed.safe.value_or(false)));
  job->answer(Value(jinja::DictPtr(out)));
}

void self_check(const JobPtr& job) {
  check(job, {.name = job->request().action, .type = job->request().action}, allowed);
}

/// Nothing to hold the answer against: nothing is wrong with it.
void self_check_facts(const JobPtr& job) {
  const std::string evidence = job->text("relevant_chunks");
  if (evidence.empty()) return job->answer(Value(1.0));
  check(job,
        {.name = "self_check_facts",
         .type = "self_check_facts",
         .values = {{"evidence", Value(evidence)}, {"response", Value(job->text("bot_message"))}}},
        [](const JobPtr& each, const Parsed& parsed) { each->answer(Value(parsed.safe.value_or(false) ? 1.0 : 0.0)); });
}

/// Answers to the same conversation at a high temperature, side by side; what the model made up differs among them.
struct Samples {
  std::mutex mutex;
  std::string text;
  int left = 2;
};

void compare(const JobPtr& job, const std::string& paragraph) {
  check(job,
        {.name = "self_check_hallucination",
         .type = "self_check_hallucination",
         .values = {{"statement", Value(job->text("bot_message"))}, {"paragraph", Value(paragraph)}}},
        [](const JobPtr& each, const Parsed& parsed) { each->answer(Value(!parsed.safe.value_or(false))); });
}

void self_check_hallucination(const JobPtr& job) {
  const auto samples = std::make_shared<Samples>();
  const auto target = *job->target("main");
  const int count = samples->left;
  for (int i = 0; i < count; ++i) {
    Conversation conversation = plain_conversation(job->environment(), job->context());
    ModelRequest request{.task = "self_check_hallucination_sample",
                         .messages = std::move(conversation.before),
                         .messages_json = std::move(conversation.messages),
                         .temperature = 1.0};
    job->ask(target, std::move(request), [job, samples](const ModelAnswer& answer) {
      std::string paragraph;
      {
        const std::scoped_lock lock(samples->mutex);
        samples->text.append(answer.text).append("\n\n");
        if (--samples->left > 0) return;
        paragraph = std::move(samples->text);
      }
      compare(job, paragraph);
    });
  }
}

/// The rail's model is a parameter ("… $model=content_safety"); the prompt's task has the same suffix.
void check_by_model(const JobPtr& job, WithVerdict then) {
  std::string model = job->text("model");
  if (model.empty()) model = job->text("model_name");
  if (model.empty()) return job->fail("the rail names no model; write it as \"… $model=NAME\"");
  check(job, {.name = fmt::format("{} $model={}", job->request().action, model), .type = model, .falls_back = false},
        then);
}

void content_safety(const JobPtr& job) { check_by_model(job, allowed_with_violations); }
void topic_safety(const JobPtr& job) { check_by_model(job, on_topic); }
void llama_guard(const JobPtr& job) {
  check(job, {.name = job->request().action, .type = "llama_guard", .falls_back = false}, allowed_with_violations);
}

}  // namespace

std::span<const BuiltIn> checking_actions() {
  static constexpr std::array<BuiltIn, 9> actions = {{{"self_check_input", self_check},
                                                      {"self_check_output", self_check},
                                                      {"self_check_facts", self_check_facts},
                                                      {"self_check_hallucination", self_check_hallucination},
                                                      {"content_safety_check_input", content_safety},
                                                      {"content_safety_check_output", content_safety},
                                                      {"topic_safety_check_input", topic_safety},
                                                      {"llama_guard_check_input", llama_guard},
                                                      {"llama_guard_check_output", llama_guard}}};
  return actions;
}

}  // namespace stackgate::guardrail
