#include "services/evaluator/suite/harness/harness_task.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/jinja/to_json.hpp"
#include "services/kit/jinja/unicode.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator::harness {
namespace {

constexpr std::size_t most_stops = 4;  // that OpenAI's API takes; the answer is cut at the others here
/// What stands for a model's own beginning of a text where its endpoint gives no log-probability of a first token.
constexpr std::string_view beginning = "\n";

std::string cut_at(std::string text, std::span<const std::string> stops) {
  for (const std::string& each : stops)
    if (const std::size_t at = text.find(each); at != std::string::npos) text.resize(at);
  return text;
}

/// The row's own "choices", for the filter that reads them.
std::vector<std::string> choices_column(const DataRow& row) {
  json::Document document;
  std::vector<std::string> out;
  const auto root = json::parse(row.text, document);
  if (!root) return out;
  for (const json::Value& each : json::items(&*root, {"choices"})) out.push_back(json::scalar_text(each));
  return out;
}

void write_number(json::Writer& w, std::string_view name, double number) {
  if (std::isfinite(number))
    w.member(name, number);
  else
    w.member(name, nullptr);
}

void write_texts(json::Writer& w, std::string_view name, std::span<const std::string> texts) {
  w.array(name, [&] {
    for (const std::string& each : texts) w.value(each);
  });
}

}  // namespace

Question HarnessTask::question_about(const Pair& pair) const {
  return {.prompt = pair.context + pair.continuation,
          .max_tokens = 1,
          .temperature = 0,
          .seed = parts_.seed,
          .likelihood = true,
          .context_characters = jinja::count_points(pair.context)};
}

Question HarnessTask::question_of(const Prompt& prompt, std::uint32_t repeat) const {
  const Generation& generation = parts_.config.generation;
  Question out{.max_tokens = generation.max_tokens.value_or(parts_.requests.max_tokens),
               .temperature = parts_.requests.temperature.value_or(generation.temperature),
               .top_p = parts_.requests.top_p ? parts_.requests.top_p : generation.top_p,
               .stop = generation.until,
               .seed = parts_.seed + repeat};
  if (out.stop.size() > most_stops) out.stop.resize(most_stops);
  if (parts_.requests.chat)
    out.messages = prompt.chat();
  else
    out.prompt = prompt.whole(0);
  return out;
}

std::vector<Asked> HarnessTask::next(std::size_t sample, std::span<const Reply> replies) const {
  std::vector<Asked> out;
  const bool all_answered = std::ranges::all_of(replies, [](const Reply& each) { return each.answer.has_value(); });
  if (!replies.empty() && (all_answered || !wants_likelihoods())) return out;
  const auto made = sample_of(parts_, sample);
  if (!made) return out;
  if (!wants_likelihoods()) {
    for (std::uint32_t i = 0; i < parts_.config.repeats; ++i) out.push_back({.question = question_of(made->prompt, i)});
    return out;
  }
  if (replies.size() > made->pairs.size()) return out;
  for (std::size_t i = 0; i < made->pairs.size(); ++i) {
    const Pair& pair = made->pairs[i];
    if (replies.empty())
      out.push_back({.question = question_about(pair)});
    else if (pair.context.empty() && !replies[i].answer)
      out.push_back({.question = question_about({std::string(beginning), pair.continuation})});
  }
  return out;
}

Scored HarnessTask::score(std::size_t index, std::span<const Reply> replies) const {
  Scored out;
  const auto sample = sample_of(parts_, index);
  if (!sample) {
    out.fault = sample.error();
    out.record = json::object_text([&](json::Writer& w) { w.member("doc_id", std::uint64_t{index}); });
    return out;
  }
  if (!wants_likelihoods()) {
    score_texts(*sample, index, replies, out);
    return out;
  }
  std::vector<Likelihood> likelihoods;
  std::size_t again = sample->pairs.size();  // the next reply to a second question
  for (std::size_t i = 0; i < sample->pairs.size() && out.fault.empty(); ++i) {
    const Reply* reply = i < replies.size() ? &replies[i] : nullptr;
    if (reply != nullptr && !reply->answer && sample->pairs[i].context.empty() && again < replies.size())
      reply = &replies[again++];
    if (reply != nullptr && reply->answer && reply->answer->likelihood)
      likelihoods.push_back(*reply->answer->likelihood);
    else
      out.fault = reply == nullptr || reply->fault.empty() ? "has no log-probabilities" : reply->fault;
  }
  score_pairs(*sample, index, likelihoods, out);
  return out;
}

void HarnessTask::write_doc(json::Writer& w, const Sample& sample, std::size_t index) const {
  w.member("doc_id", std::uint64_t{index});
  w.key("doc");
  w.raw(parts_.rows->rows[index].text);
  w.key("target");
  jinja::write_json(w, sample.doc.target);
}

void HarnessTask::score_texts(const Sample& sample, std::size_t index, std::span<const Reply> replies,
                              Scored& out) const {
  std::vector<std::string> answers;
  for (const Reply& each : replies) {
    if (each.answer)
      answers.push_back(cut_at(each.answer->text, parts_.config.generation.until));
    else if (out.fault.empty())
      out.fault = each.fault.empty() ? "has no answer" : each.fault;
  }
  if (replies.empty()) out.fault = "has no answer";
  const auto& filters = parts_.config.filters;
  std::vector<std::vector<std::string>> left;
  std::vector<double> shown_values;
  if (out.fault.empty()) {
    const std::vector<std::string> choices = choices_column(parts_.rows->rows[index]);
    for (const FilterPipeline& each : filters) left.push_back(filtered(each, answers, choices));
    for (const MetricConfig& metric : parts_.config.metrics)
      for (const auto& each : left) {
        const std::size_t begin = out.values.size();
        score_text(metric, each.front(), sample.references, out.values);
        shown_values.push_back(shown(metric, std::span(out.values).subspan(begin)));
      }
  }
  out.record = json::object_text([&](json::Writer& w) {
    write_doc(w, sample, index);
    if (parts_.requests.chat)
      w.array("messages", [&] {
        for (const ChatMessage& each : sample.prompt.chat())
          w.object([&] {
            w.member("role", each.role);
            w.member("content", each.content);
          });
      });
    else
      w.member("prompt", sample.prompt.whole(0));
    write_texts(w, "resps", answers);
    if (left.size() == 1) {
      write_texts(w, "filtered_resps", left.front());
    } else if (!left.empty()) {
      w.object("filtered_resps", [&] {
        for (std::size_t i = 0; i < left.size(); ++i) write_texts(w, filters[i].name, left[i]);
      });
    }
    std::size_t at = 0;
    for (const MetricConfig& metric : parts_.config.metrics)
      for (std::size_t i = 0; i < left.size(); ++i) write_number(w, score_name(metric, i, ""), shown_values[at++]);
  });
}

void HarnessTask::score_pairs(const Sample& sample, std::size_t index, std::span<const Likelihood> likelihoods,
                              Scored& out) const {
  Choices choices{.texts = sample.doc.choices, .gold = sample.gold};
  const bool is_choice = parts_.config.output == OutputType::multiple_choice;
  for (std::size_t i = 0; i < likelihoods.size(); ++i) {
    (is_choice && i >= choices.texts.size() ? choices.unconditional : choices.loglikelihoods)
        .push_back(likelihoods[i].sum);
    choices.greedy.push_back(likelihoods[i].is_greedy);
  }
  std::vector<double> shown_values;
  for (const MetricConfig& metric : parts_.config.metrics) {
    if (!out.fault.empty()) break;
    const std::size_t begin = out.values.size();
    if (is_choice)
      score_choices(metric, choices, out.values);
    else if (parts_.config.output == OutputType::loglikelihood)
      score_likelihood(metric, likelihoods[0].sum, likelihoods[0].is_greedy, out.values);
    else
      score_rolling(metric, sample.pairs[0].continuation, likelihoods[0].sum, out.values);
    shown_values.push_back(shown(metric, std::span(out.values).subspan(begin)));
  }
  out.record = json::object_text([&](json::Writer& w) {
    write_doc(w, sample, index);
    // A context that all of them share is shown once.
    w.member("prompt", sample.pairs.front().context);
    w.array("arguments", [&] {
      for (const Pair& pair : sample.pairs)
        w.array([&] {
          if (pair.context != sample.pairs.front().context) w.value(pair.context);
          w.value(pair.continuation);
        });
    });
    w.array("resps", [&] {
      for (const Likelihood& each : likelihoods)
        w.array([&] {
          w.value(each.sum);
          w.value(each.is_greedy);
        });
    });
    for (std::size_t i = 0; i < shown_values.size(); ++i)
      write_number(w, score_name(parts_.config.metrics[i], 0, ""), shown_values[i]);
  });
}

std::string HarnessTask::score_name(const MetricConfig& metric, std::size_t filter, std::string_view behind) const {
  const auto& filters = parts_.config.filters;
  const bool several = filters.size() > 1 && !wants_likelihoods();
  return fmt::format("{}{}{}{}", metric.kind->name, behind, several ? "," : "", several ? filters[filter].name : "");
}

TaskResult HarnessTask::result(std::span<const std::vector<double>> values, std::uint64_t failed) const {
  TaskResult out{.name = parts_.config.name,
                 .version = parts_.config.version,
                 .num_fewshot = parts_.examples.count(),
                 .samples = values.size() + failed,
                 .failed = failed,
                 .groups = parts_.groups};
  std::size_t column = 0;
  const std::size_t filters = wants_likelihoods() ? 1 : parts_.config.filters.size();
  for (const MetricConfig& metric : parts_.config.metrics)
    for (std::size_t i = 0; i < filters; ++i) {
      Score score = aggregated(metric, values, column, parts_.bootstrap_rounds);
      score.name = score_name(metric, i, "");
      score.error_name = score_name(metric, i, "_stderr");
      out.scores.push_back(std::move(score));
      column += width_of(metric.kind->shape);
    }
  return out;
}

}  // namespace stackgate::evaluator::harness
