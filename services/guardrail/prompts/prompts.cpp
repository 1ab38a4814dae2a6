// Which prompt a task has.
#include <algorithm>

#include "services/guardrail/prompts/task.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

/// How well a prompt's `models` name what is asked: 0 not at all, then for all, the engine, the model, both.
int fit_of(const Prompt& prompt, std::string_view engine, std::string_view model) {
  if (prompt.models.empty()) return 1;
  int best = 0;
  for (const std::string& each : prompt.models) {
    if (each == concat({engine, "/", model}))
      best = std::max(best, 4);
    else if (each == model || model.ends_with(concat({"/", each})))
      best = std::max(best, 3);
    else if (each == engine || concat({engine, "/", model}).starts_with(concat({each, "/"})))
      best = std::max(best, 2);
  }
  return best;
}

const Prompt* best_of(const std::vector<Prompt>& prompts, std::string_view task, std::string_view engine,
                      std::string_view model, std::string_view mode) {
  const Prompt* found = nullptr;
  int best = 0;
  for (const Prompt& each : prompts) {
    if (each.task != task || (each.mode != mode && each.mode != "standard")) continue;
    // The mode decides among those that fit alike.
    const int fit = fit_of(each, engine, model) * 2 + (each.mode == mode ? 1 : 0);
    if (fit < 2 || fit < best) continue;
    best = fit;
    found = &each;
  }
  return found;
}

}  // namespace

const Prompt* Prompts::find(std::string_view task, std::string_view engine, std::string_view model) const {
  const std::string_view bare = task.substr(0, task.find(" $"));
  for (const std::string_view name : {task, bare})
    if (const Prompt* found = best_of(prompts, name, engine, model, mode)) return found;
  for (const std::string_view name : {task, bare})
    if (const Prompt* found = best_of(default_prompts(), name, engine, model, mode)) return found;
  return nullptr;
}

const std::vector<std::string_view>& known_tasks() {
  static const std::vector<std::string_view> tasks = {
      "general",
      "generate_user_intent",
      "generate_next_steps",
      "generate_bot_message",
      "generate_intent_steps_message",
      "generate_value",
      "self_check_input",
      "self_check_output",
      "self_check_facts",
      "self_check_hallucination",
      "content_safety_check_input",
      "content_safety_check_output",
      "topic_safety_check_input",
      "llama_guard_check_input",
      "llama_guard_check_output",
  };
  return tasks;
}

}  // namespace stackgate::guardrail
