#include "services/evaluator/suite/conversations/mt_bench_task.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "services/evaluator/suite/conversations/mt_bench_prompts.hpp"
#include "services/evaluator/suite/conversations/verdicts.hpp"
#include "services/evaluator/suite/mean_scores.hpp"
#include "services/evaluator/suite/questions.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::uint32_t turn_tokens = 1024;  // MT-Bench's

MtBenchRow open(const TaskRow& row) {
  json::Document document;
  const auto root = json::parse(row.text, document, {.max_depth = 64, .max_bytes = largest_row});
  return root ? read_mt_bench_row(*root).value_or(MtBenchRow{}) : MtBenchRow{};
}

/// The answers to the turns, up to the first that is missing.
std::vector<std::string> answers_of(const MtBenchRow& row, std::span<const Reply> replies) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < row.turns.size() && i < replies.size() && replies[i].answer; ++i)
    out.push_back(replies[i].answer->text);
  return out;
}

/// How many replies are the model's: up to the first that is missing, which ends the conversation.
std::size_t model_replies(const MtBenchRow& row, std::span<const Reply> replies) {
  const std::size_t answered = answers_of(row, replies).size();
  return std::min({answered + 1, row.turns.size(), replies.size()});
}

/// One turn: its value, and why there is none.
struct Rated {
  double value = no_value;
  std::string fault{};
  std::vector<std::string> judgments{};
};

Rated rated(std::span<const Reply> judges, bool in_pairs) {
  Rated out;
  for (const Reply& each : judges) {
    if (each.answer)
      out.judgments.push_back(each.answer->text);
    else
      out.fault = "the judge did not answer: " + each.fault;
  }
  if (!out.fault.empty()) return out;
  if (!in_pairs) {
    const auto rating = read_rating(out.judgments.at(0));
    out.value = rating.value_or(no_value);
    if (!rating) out.fault = rating.error();
    return out;
  }
  // The model is A in the first game and B in the second.
  const auto first = read_preference(out.judgments.at(0)), second = read_preference(out.judgments.at(1));
  if (!first || !second)
    out.fault = "the judge prefers none in brackets";
  else if (*first == Preference::a && *second == Preference::b)
    out.value = 1;
  else if (*first == Preference::b && *second == Preference::a)
    out.value = 0;
  else
    out.value = 0.5;
  return out;
}

std::vector<double> matching(std::span<const double> values, double wanted) {
  std::vector<double> out;
  for (const double each : values) out.push_back(std::isnan(each) ? no_value : each == wanted ? 1 : 0);
  return out;
}

}  // namespace

MtBenchTask::MtBenchTask(std::string name, EvaluationRequest request, TaskRows rows)
    : name_(std::move(name)), request_(std::move(request)), rows_(std::move(rows)) {
  request_.requests.max_tokens = std::max(turn_tokens, request_.requests.max_tokens);
  std::set<std::string> categories;
  for (const TaskRow& each : rows_.rows) categories.insert(open(each).category);
  categories_.assign(categories.begin(), categories.end());
}

std::vector<Asked> MtBenchTask::next(std::size_t sample, std::span<const Reply> replies) const {
  const MtBenchRow row = open(rows_.rows.at(sample));
  if (in_pairs() && row.baseline.empty()) return {};
  const std::vector<std::string> answers = answers_of(row, replies);
  const std::size_t asked = model_replies(row, replies);
  if (asked == replies.size() && answers.size() == asked && asked < row.turns.size()) {
    std::vector<ChatMessage> messages;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      messages.push_back({"user", row.turns[i]});
      messages.push_back({"assistant", answers[i]});
    }
    messages.push_back({"user", row.turns[asked]});
    Asked out = ask_model(request_, std::move(messages));
    out.question.temperature = request_.requests.temperature.value_or(temperature_of(row.category));
    return {std::move(out)};
  }
  if (replies.size() > asked) return {};
  return judges(row, answers);
}

std::vector<Asked> MtBenchTask::judges(const MtBenchRow& row, std::span<const std::string> answers) const {
  std::vector<Asked> out;
  const auto add = [&](JudgePrompt prompt) {
    out.push_back(ask_judge(request_, std::move(prompt.user), std::move(prompt.system)));
  };
  for (std::size_t turns = 1; turns <= answers.size(); ++turns) {
    Exchange exchange{.questions = row.turns, .answers = answers.first(turns)};
    if (wants_reference(row.category)) exchange.references = row.reference;
    if (!in_pairs()) {
      add(rating_prompt(exchange));
      continue;
    }
    const auto baseline = std::span(row.baseline).first(turns);
    add(pair_prompt(exchange, baseline));
    Exchange swapped = exchange;
    swapped.answers = baseline;
    add(pair_prompt(swapped, exchange.answers));
  }
  return out;
}

Scored MtBenchTask::score(std::size_t sample, std::span<const Reply> replies) const {
  const TaskRow& text = rows_.rows.at(sample);
  const MtBenchRow row = open(text);
  const std::vector<std::string> answers = answers_of(row, replies);
  const std::size_t asked = model_replies(row, replies), each = in_pairs() ? 2 : 1;
  Scored out;
  std::vector<Rated> turns(row.turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::size_t begin = asked + i * each;
    if (i < answers.size() && begin + each <= replies.size())
      turns[i] = rated(replies.subspan(begin, each), in_pairs());
    else
      turns[i].fault = i == answers.size() && i < replies.size() ? replies[i].fault : "was not asked";
  }
  if (answers.empty()) out.fault = turns.empty() ? "was not asked" : turns.front().fault;
  if (in_pairs() && row.baseline.empty()) out.fault = "the baseline has no answers to this question";
  if (out.fault.empty()) {
    out.values.push_back(static_cast<double>(std::ranges::find(categories_, row.category) - categories_.begin()));
    for (const Rated& turn : turns) out.values.push_back(turn.value);
  }
  out.record = json::object_text([&](json::Writer& w) {
    w.key("item");
    w.raw(text.text);
    w.array("answers", [&] {
      for (const std::string& one : answers) w.value(one);
    });
    if (!out.fault.empty()) return w.member("fault", out.fault);
    w.array("judgments", [&] {
      for (const Rated& turn : turns)
        for (const std::string& one : turn.judgments) w.value(one);
    });
    w.object("scores", [&] {
      for (std::size_t i = 0; i < turns.size(); ++i) {
        w.key(fmt::format("turn_{}", i + 1));
        if (std::isnan(turns[i].value))
          w.value(nullptr);
        else
          w.value(turns[i].value);
      }
    });
    w.array("faults", [&] {
      for (std::size_t i = 0; i < turns.size(); ++i)
        if (!turns[i].fault.empty()) w.value(fmt::format("turn_{}: {}", i + 1, turns[i].fault));
    });
  });
  return out;
}

TaskResult MtBenchTask::result(std::span<const std::vector<double>> values, std::uint64_t failed) const {
  TaskResult out{.name = name_, .version = "1", .samples = values.size() + failed, .failed = failed};
  std::vector<double> all;
  std::map<std::size_t, std::vector<double>> by_turn, by_category;
  for (const std::vector<double>& each : values)
    for (std::size_t turn = 1; turn < each.size(); ++turn) {
      all.push_back(each[turn]);
      by_turn[turn].push_back(each[turn]);
      by_category[static_cast<std::size_t>(each.front())].push_back(each[turn]);
    }
  const std::string metric = in_pairs() ? "pairwise" : "mt-bench", suffix = in_pairs() ? "_win_rate_adjusted" : "";
  if (in_pairs()) {
    out.scores.push_back(mean_score(metric, "win_rate", matching(all, 1)));
    out.scores.push_back(mean_score(metric, "loss_rate", matching(all, 0)));
    out.scores.back().higher_is_better = false;
    out.scores.push_back(mean_score(metric, "tie_rate", matching(all, 0.5)));
  }
  out.scores.push_back(mean_score(metric, in_pairs() ? "win_rate_adjusted" : "overall", all));
  for (const auto& [turn, column] : by_turn)
    out.scores.push_back(mean_score(metric, fmt::format("turn_{}{}", turn, suffix), column));
  for (const auto& [category, column] : by_category)
    out.scores.push_back(mean_score(metric, categories_.at(category) + suffix, column));
  return out;
}

}  // namespace stackgate::evaluator
