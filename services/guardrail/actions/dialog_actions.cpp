// What a dialog asks a model for: intents, next steps, messages, values; and the knowledge base.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "services/guardrail/actions/conversation.hpp"
#include "services/guardrail/actions/literal.hpp"
#include "services/guardrail/actions/search.hpp"
#include "services/guardrail/prompts/history.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

using jinja::Value;

constexpr std::size_t shown_examples = 5;
constexpr std::size_t searched_examples = 10;  // of a single call: not each has a flow
constexpr std::size_t shown_chunks = 3;
constexpr float least_likeness_of_chunks = 0.1F;
constexpr std::size_t longest_name = 200;

/// The texts of the nearest, the least near first, as the nearest then stands next to the question.
std::string shown(const SearchIndex& index, const std::vector<Nearest>& nearest) {
  std::vector<std::string_view> texts;
  for (const Nearest& each : nearest) {
    const std::string& text = index.entries[each.index].shown;
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
  std::string out;
  for (const std::string_view each : texts) out.append(out.empty() ? "" : "\n").append(each);
  return out;
}

void give_intent(const JobPtr& job, const std::string& name) {
  job->answer(Value(name), {{"last_user_intent", Value(name)}});
}

/// Names are one line and short, whatever the model wrote.
bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= longest_name && !text.contains('\n') && !text.contains('"');
}

/// Without an intent of this turn: that of an earlier one would mislead.
Value history_without_intent(const JobPtr& job) {
  SharedVariables context = job->context();
  context.set("last_user_intent", jinja::None{});
  return history_events(job->environment(), context);
}

void ask_for_intent(const JobPtr& job, std::string examples, const std::vector<std::string>& names) {
  job->ask_task({.name = "generate_user_intent",
                 .type = "generate_user_intent",
                 .values = {{"examples", Value(std::move(examples))},
                            {"potential_user_intents", Value(fmt::format("{}", fmt::join(names, ", ")))},
                            {"history", history_without_intent(job)}},
                 .temperature = job->configuration().lowest_temperature},
                [job](const Parsed& parsed) {
                  if (!is_name(parsed.text)) return job->fail("the model named no intent");
                  give_intent(job, parsed.text);
                });
}

void generate_user_intent(const JobPtr& job) {
  search(job, Searched::examples, job->text("user_message"), shown_examples,
         [job](const SearchIndex& index, const std::vector<Nearest>& nearest) {
           const auto& intents = job->configuration().program.user_intents;
           const DialogRules& rules = job->configuration().dialog;
           const auto name_of = [&](const Nearest& each) { return intents[index.entries[each.index].group].name; };
           if (rules.embeddings_only) {
             if (!nearest.empty() && nearest.front().similarity >= rules.embeddings_only_threshold.value_or(-1))
               return give_intent(job, name_of(nearest.front()));
             if (!rules.embeddings_only_fallback_intent.empty())
               return give_intent(job, rules.embeddings_only_fallback_intent);
           }
           std::vector<std::string> names;
           const auto add = [&](const std::string& name) {
             if (std::ranges::find(names, name) == names.end()) names.push_back(name);
           };
           for (const Nearest& each : nearest) add(name_of(each));
           for (const auto& each : intents)
             if (each.examples.empty() || nearest.empty()) add(each.name);
           ask_for_intent(job, shown(index, nearest), names);
         });
}

void give_next_steps(const JobPtr& job, const Parsed& parsed) {
  const bool many = job->configuration().multi_step_generation && !parsed.steps.empty();
  if (!many) {
    if (!is_name(parsed.text)) return job->fail("the model named no next step");
    return job->answer(Value(parsed.text));
  }
  if (!parsed.steps.front().starts_with("bot ")) return job->fail("the model's first step is not the bot's");
  std::vector<Value> steps;
  for (const std::string& each : parsed.steps) {
    if (!is_name(each)) break;
    steps.emplace_back(each);
  }
  if (steps.empty()) return job->fail("the model named no next step");
  job->answer(Value(std::make_shared<const jinja::List>(std::move(steps))));
}

void generate_next_step(const JobPtr& job) {
  const std::string intent = job->text("last_user_intent");
  search(job, Searched::flows, fmt::format("user {}\n", intent), shown_examples,
         [job](const SearchIndex& index, const std::vector<Nearest>& nearest) {
           job->ask_task({.name = "generate_next_steps",
                          .type = "generate_next_steps",
                          .values = {{"examples", Value(shown(index, nearest))},
                                     {"multi_step", Value(job->configuration().multi_step_generation)}},
                          .temperature = job->configuration().lowest_temperature},
                         [job](const Parsed& parsed) { give_next_steps(job, parsed); });
         });
}

void generate_bot_message(const JobPtr& job) {
  std::string intent = job->text("intent");
  search(job, Searched::bot_messages, intent, shown_examples,
         [job, intent](const SearchIndex& index, const std::vector<Nearest>& nearest) {
           job->ask_task({.name = "generate_bot_message",
                          .type = "generate_bot_message",
                          .values = {{"examples", Value(shown(index, nearest))},
                                     {"bot_intent", Value(intent)},
                                     {"history", history_events(job->environment(), job->context(), intent)}}},
                         [job](const Parsed& parsed) {
                           if (parsed.text.empty()) return job->fail("the model wrote no message");
                           job->answer(Value(parsed.text));
                         });
         });
}

/// An example, and how the first flow goes on that begins with its intent; "" without such a flow.
std::string with_its_flow(const Configuration& configuration, const SearchEntry& example,
                          const std::vector<SearchEntry>& flows) {
  const std::string first = fmt::format("user {}\n", configuration.program.user_intents[example.group].name);
  const auto flow = std::ranges::find_if(flows, [&](const SearchEntry& each) { return each.shown.starts_with(first); });
  if (flow == flows.end()) return {};
  const std::string_view rest = std::string_view(flow->shown).substr(first.size());
  std::string out = concat({example.shown, rest});
  const std::size_t last = rest.rfind("bot ");
  if (last == std::string_view::npos) return out;
  const colang::BotMessage* message =
      configuration.program.find_bot_message(std::string(rest.substr(last + 4, rest.find('\n', last) - last - 4)));
  if (message != nullptr && !message->sources.empty())
    out += fmt::format("  \"{}\"\n", escaped(message->sources.front()));
  return out;
}

void answer_intent_steps_message(const JobPtr& job, const Parsed& parsed) {
  const IntentSteps read = read_intent_steps(parsed.text);
  const auto out = std::make_shared<jinja::Dict>();
  const std::string intent = is_name(read.user_intent) ? read.user_intent : std::string();
  out->set(Value("user_intent"), Value(intent));
  out->set(Value("bot_intent"), Value(is_name(read.bot_intent) ? read.bot_intent : std::string()));
  out->set(Value("bot_message"), Value(read.bot_message));
  Variables updates;
  if (!intent.empty()) updates.emplace("last_user_intent", Value(intent));
  job->answer(Value(jinja::DictPtr(out)), std::move(updates));
}

void generate_intent_steps_message(const JobPtr& job) {
  search(job, Searched::examples, job->text("user_message"), searched_examples,
         [job](const SearchIndex& index, const std::vector<Nearest>& nearest) {
           const Configuration& configuration = job->configuration();
           const std::vector<SearchEntry> flows = search_entries(configuration, Searched::flows);
           std::vector<std::string> examples, names;
           for (const Nearest& each : nearest) {
             const SearchEntry& entry = index.entries[each.index];
             const std::string& name = configuration.program.user_intents[entry.group].name;
             if (std::ranges::find(names, name) == names.end()) names.push_back(name);
             std::string example = with_its_flow(configuration, entry, flows);
             if (!example.empty() && examples.size() < shown_examples) examples.push_back(std::move(example));
           }
           std::ranges::reverse(examples);  // the nearest next to the question
           job->ask_task({.name = "generate_intent_steps_message",
                          .type = "generate_intent_steps_message",
                          .values = {{"examples", Value(fmt::format("{}", fmt::join(examples, "\n")))},
                                     {"potential_user_intents", Value(fmt::format("{}", fmt::join(names, ", ")))},
                                     {"history", history_without_intent(job)}},
                          .temperature = configuration.lowest_temperature},
                         [job](const Parsed& parsed) { answer_intent_steps_message(job, parsed); });
         });
}

void generate_value(const JobPtr& job) {
  job->ask_task({.name = "generate_value",
                 .type = "generate_value",
                 .values = {{"var_name", job->find("name")}, {"instructions", job->find("instructions")}},
                 .temperature = job->configuration().lowest_temperature},
                [job](const Parsed& parsed) { job->answer(read_literal(parsed.text)); });
}

void retrieve_relevant_chunks(const JobPtr& job) {
  search(job, Searched::chunks, job->text("user_message"), shown_chunks,
         [job](const SearchIndex& index, const std::vector<Nearest>& nearest) {
           std::string out;
           for (const Nearest& each : nearest)
             if (each.similarity >= least_likeness_of_chunks)
               out.append(out.empty() ? "" : "\n\n").append(index.entries[each.index].shown);
           job->answer(Value(std::move(out)));
         });
}

}  // namespace

std::span<const BuiltIn> dialog_actions() {
  static constexpr std::array<BuiltIn, 6> actions = {{{"generate_user_intent", generate_user_intent},
                                                      {"generate_next_step", generate_next_step},
                                                      {"generate_bot_message", generate_bot_message},
                                                      {"generate_intent_steps_message", generate_intent_steps_message},
                                                      {"generate_value", generate_value},
                                                      {"retrieve_relevant_chunks", retrieve_relevant_chunks}}};
  return actions;
}

}  // namespace stackgate::guardrail
