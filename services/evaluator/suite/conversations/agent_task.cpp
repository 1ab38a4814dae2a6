#include "services/evaluator/suite/conversations/agent_task.hpp"

#include <algorithm>
#include <cmath>

#include "services/evaluator/suite/conversations/agent_prompts.hpp"
#include "services/evaluator/suite/conversations/trajectory.hpp"
#include "services/evaluator/suite/conversations/verdicts.hpp"
#include "services/evaluator/suite/mean_scores.hpp"
#include "services/evaluator/suite/questions.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::size_t most_topics = 20;

struct OpenTrajectory {
  json::Document document{};
  json::Value row{};
  Trajectory trajectory{};

  explicit OpenTrajectory(const TaskRow& from) {
    if (const auto root = json::parse(from.text, document, {.max_depth = 64, .max_bytes = largest_row})) {
      row = *root;
      trajectory = read_trajectory(row).value_or(Trajectory{});
    }
  }
};

/// The scores of a sample, by name, or why there are none.
struct AgentScores {
  std::vector<std::pair<std::string, double>> scores{};
  std::string reason{};
};

std::vector<std::string> names_of(AgentMetric metric) {
  const std::string name(agent_metric_names.at(static_cast<std::size_t>(metric)));
  if (metric != AgentMetric::topic_adherence) return {name};
  return {name, name + "_precision", name + "_recall"};
}

/// "" where a judge's reply is there.
std::string away(const Reply& reply) {
  return reply.answer ? std::string() : "the judge did not answer: " + reply.fault;
}

struct Outcome {
  std::string wanted{}, reached{}, fault{};
};
Outcome outcome_of(const json::Value& row, const Reply& reply) {
  Outcome out{.fault = away(reply)};
  if (!out.fault.empty()) return out;
  out.wanted = json::text(&row, {"reference"});
  if (out.wanted.empty()) out.wanted = read_line(reply.answer->text, "Goal");
  out.reached = read_line(reply.answer->text, "Outcome");
  if (out.wanted.empty() || out.reached.empty()) out.fault = "the judge does not say what was wanted and reached";
  return out;
}

AgentScores score_goal(const json::Value& row, std::span<const Reply> replies) {
  AgentScores out;
  if (replies.empty()) return {.reason = "the judge was not asked"};
  if (Outcome outcome = outcome_of(row, replies[0]); !outcome.fault.empty())
    return {.reason = std::move(outcome.fault)};
  if (replies.size() < 2 || !replies[1].answer) return {.reason = replies.size() < 2 ? "" : away(replies[1])};
  const auto verdict = read_yes_no(replies[1].answer->text);
  if (!verdict) return {.reason = "the judge says neither [[yes]] nor [[no]]"};
  out.scores = {{names_of(AgentMetric::goal_accuracy)[0], *verdict ? 1 : 0}};
  return out;
}

/// Topics by whether they were answered, and allowed. Two replies for each, behind that which names them.
AgentScores score_topics(std::span<const Reply> replies) {
  if (replies.empty()) return {.reason = "the judge was not asked"};
  if (!replies[0].answer) return {.reason = away(replies[0])};
  const std::size_t topics = read_list(replies[0].answer->text, most_topics).size();
  if (topics == 0) return {.reason = "the judge names no topics"};
  double answered_allowed = 0, answered_else = 0, refused_allowed = 0;
  for (std::size_t i = 0; i < topics; ++i) {
    if (replies.size() < 3 + 2 * i) return {.reason = "the judge was not asked about every topic"};
    const Reply &first = replies[1 + 2 * i], &second = replies[2 + 2 * i];
    if (!first.answer || !second.answer) return {.reason = away(first.answer ? second : first)};
    const auto answered = read_yes_no(first.answer->text), allowed = read_yes_no(second.answer->text);
    if (!answered || !allowed) return {.reason = "the judge says neither [[yes]] nor [[no]]"};
    if (*answered) ++(*allowed ? answered_allowed : answered_else);
    if (!*answered && *allowed) ++refused_allowed;
  }
  const auto share = [](double part, double rest) { return part == 0 ? 0 : part / (part + rest); };
  const double precision = share(answered_allowed, answered_else), recall = share(answered_allowed, refused_allowed);
  const double f1 = precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
  const auto names = names_of(AgentMetric::topic_adherence);
  return {.scores = {{names[0], f1}, {names[1], precision}, {names[2], recall}}};
}

}  // namespace

std::optional<AgentMetric> agent_metric_named(std::string_view name) {
  const auto* const found = std::ranges::find(agent_metric_names, name);
  if (found == agent_metric_names.end()) return std::nullopt;
  return static_cast<AgentMetric>(found - agent_metric_names.begin());
}

std::expected<void, std::string> fits_agent_metric(AgentMetric metric, const json::Value& row) {
  if (const auto read = read_trajectory(row); !read) return std::unexpected(read.error());
  const json::Value *calls = row.find("reference_tool_calls"), *topics = row.find("reference_topics");
  if (metric == AgentMetric::tool_call_accuracy && (calls == nullptr || !calls->is_array()))
    return std::unexpected(R"(has no list "reference_tool_calls")");
  if (metric != AgentMetric::topic_adherence) return {};
  if (topics == nullptr || topics->items().empty()) return std::unexpected(R"(has no list "reference_topics")");
  if (!std::ranges::all_of(topics->items(), &json::Value::is_string))
    return std::unexpected(R"(has "reference_topics" that are no texts)");
  return {};
}

std::vector<Asked> AgentTask::next(std::size_t sample, std::span<const Reply> replies) const {
  if (metric_ == AgentMetric::tool_call_accuracy) return {};
  const OpenTrajectory open(rows_->rows.at(sample));
  const std::string& transcript = open.trajectory.transcript;
  if (metric_ == AgentMetric::goal_accuracy) {
    if (replies.empty()) return {ask_judge(request_, outcome_prompt(transcript))};
    if (replies.size() > 1) return {};
    const Outcome outcome = outcome_of(open.row, replies[0]);
    if (!outcome.fault.empty()) return {};
    return {ask_judge(request_, reached_prompt(outcome.wanted, outcome.reached))};
  }
  if (replies.empty()) return {ask_judge(request_, topics_prompt(transcript))};
  if (replies.size() > 1 || !replies[0].answer) return {};
  std::vector<std::string> allowed;
  for (const json::Value& each : json::items(&open.row, {"reference_topics"})) allowed.emplace_back(each.string());
  std::vector<Asked> out;
  for (const std::string& topic : read_list(replies[0].answer->text, most_topics)) {
    out.push_back(ask_judge(request_, answered_prompt(transcript, topic)));
    out.push_back(ask_judge(request_, belongs_prompt(allowed, topic)));
  }
  return out;
}

Scored AgentTask::score(std::size_t sample, std::span<const Reply> replies) const {
  const TaskRow& text = rows_->rows.at(sample);
  const OpenTrajectory open(text);
  AgentScores found;
  if (metric_ == AgentMetric::goal_accuracy)
    found = score_goal(open.row, replies);
  else if (metric_ == AgentMetric::topic_adherence)
    found = score_topics(replies);
  else
    found.scores = {{names_of(metric_)[0],
                     tool_call_accuracy(open.trajectory.calls, json::items(&open.row, {"reference_tool_calls"}))}};
  if (found.scores.empty())
    for (std::string& name : names_of(metric_)) found.scores.emplace_back(std::move(name), no_value);
  Scored out;
  for (const auto& [name, value] : found.scores) out.values.push_back(value);
  out.record = json::object_text([&](json::Writer& w) {
    w.key("item");
    w.raw(text.text);
    w.array("judgments", [&] {
      for (const Reply& each : replies)
        if (each.answer) w.value(each.answer->text);
    });
    w.object("scores", [&] {
      for (const auto& [name, value] : found.scores)
        if (std::isnan(value))
          w.member(name, nullptr);
        else
          w.member(name, value);
    });
    if (!found.reason.empty()) w.member("reason", found.reason);
  });
  return out;
}

TaskResult AgentTask::result(std::span<const std::vector<double>> values, std::uint64_t failed) const {
  TaskResult out{.name = name_, .version = "1", .samples = values.size() + failed, .failed = failed};
  const auto names = names_of(metric_);
  for (std::size_t i = 0; i < names.size(); ++i)
    out.scores.push_back(mean_score(names[0], names[i], column_of(values, i)));
  return out;
}

}  // namespace stackgate::evaluator
