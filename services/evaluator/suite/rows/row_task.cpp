#include "services/evaluator/suite/rows/row_task.hpp"

#include <cmath>

#include <fmt/format.h>

#include "services/evaluator/suite/mean_scores.hpp"
#include "services/evaluator/suite/questions.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

using Text = std::expected<std::string, std::string>;

/// A row with the templates' values over it. Rows were checked when the task was made, so a fault here is one of an
/// answer: a template that asks for what it has not.
class OpenRow {
 public:
  OpenRow(const RowPlan& plan, const TaskRow& row) : plan_(plan) {
    const auto root = json::parse(row.text, document_, {.max_depth = 64, .max_bytes = largest_row});
    if (root) item_ = *root;
    context_ = row_context(item_, nullptr);
  }
  Text prompt() const { return render(*plan_.prompt); }
  /// What is scored: the model's answer, or that of the row.
  std::expected<Answer, std::string> answer(std::span<const Reply> replies) const {
    if (plan_.response) {
      auto text = render(*plan_.response);
      if (!text) return std::unexpected(std::move(text.error()));
      return Answer{.text = std::move(*text)};
    }
    if (replies.empty()) return std::unexpected("was not asked");
    if (!replies.front().answer) return std::unexpected(replies.front().fault);
    return *replies.front().answer;
  }
  /// From here on templates see `sample`.
  void set_answer(const Answer& answer) { context_ = row_context(item_, &answer); }
  Text render(const RowTemplate& one) const {
    if (!context_) return std::unexpected(context_.error());
    return one.text(*context_);
  }
  std::expected<std::vector<std::string>, std::string> references() const {
    if (!context_) return std::unexpected(context_.error());
    return plan_.reference->texts(*context_);
  }

 private:
  const RowPlan& plan_;
  json::Document document_;
  json::Value item_;
  std::expected<jinja::Value, std::string> context_;
};

/// What a sample's record is written of.
struct Scoring {
  std::vector<double> values{};
  std::vector<std::pair<std::string, double>> shown{};
  std::vector<std::string> references{}, faults{};
  std::string fault{};  // no scores at all

  void add(std::string name, double value) {
    values.push_back(value);
    shown.emplace_back(std::move(name), value);
  }
};

void score_similarity(const RowPlan& plan, const OpenRow& row, const std::string& text, Scoring& out) {
  if (!plan.similarities) return;
  auto references = row.references();
  if (!references) {
    out.fault = "params.reference: " + references.error();
    return;
  }
  out.references = std::move(*references);
  plan.similarities->score(text, out.references, out.values, out.faults);
  out.shown = plan.similarities->named(out.values);
}

void score_checks(const RowPlan& plan, const OpenRow& row, const std::string& text, Scoring& out) {
  for (const PlannedCheck& each : plan.checks) {
    const Text reference = row.render(each.reference);
    if (!reference) out.faults.push_back(fmt::format("{}: {}", each.name, reference.error()));
    out.add(each.name, !reference ? no_value : check_string(each.operation, text, *reference) ? 1 : 0);
  }
}

void score_judgements(const RowPlan& plan, const Reply* judge, Scoring& out) {
  for (const PlannedJudgement& each : plan.judgements) {
    std::expected<double, std::string> value = std::unexpected("the judge was not asked");
    if (judge != nullptr && judge->answer)
      value = each.pattern.read(judge->answer->text);
    else if (judge != nullptr)
      value = std::unexpected("the judge did not answer: " + judge->fault);
    if (value && (*value < each.least || *value > each.most))
      value = std::unexpected(
          fmt::format("the judge says {}, which is not between {} and {}", *value, each.least, each.most));
    if (!value) out.faults.push_back(fmt::format("{}: {}", each.name, value.error()));
    out.add(each.name, value.value_or(no_value));
  }
}

void write_scores(json::Writer& w, const Scoring& scoring) {
  w.object("scores", [&] {
    for (const auto& [name, value] : scoring.shown)
      if (std::isnan(value))
        w.member(name, nullptr);
      else
        w.member(name, value);
  });
  if (scoring.faults.empty()) return;
  w.array("faults", [&] {
    for (const std::string& each : scoring.faults) w.value(each);
  });
}

}  // namespace

std::expected<void, std::string> RowTask::check(const RowPlan& plan, const TaskRow& row) {
  OpenRow open(plan, row);
  const auto fault = [](std::string_view name, const std::string& why) {
    return std::unexpected(fmt::format("params.{} cannot be made of it: {}", name, why));
  };
  if (plan.prompt)
    if (const Text text = open.prompt(); !text) return fault("prompt", text.error());
  const auto answer = plan.response ? open.answer({}) : std::expected<Answer, std::string>(Answer{});
  if (!answer) return fault("response", answer.error());
  open.set_answer(*answer);
  if (plan.reference)
    if (const auto texts = open.references(); !texts) return fault("reference", texts.error());
  for (const PlannedCheck& each : plan.checks)
    if (const Text text = open.render(each.reference); !text)
      return fault(fmt::format("checks.{}.reference", each.name), text.error());
  if (plan.judge_prompt)
    if (const Text text = open.render(*plan.judge_prompt); !text) return fault("judge_prompt", text.error());
  return {};
}

std::vector<Asked> RowTask::next(std::size_t sample, std::span<const Reply> replies) const {
  OpenRow row(*plan_, rows_.rows.at(sample));
  const std::size_t before = plan_->prompt ? 1 : 0;
  if (replies.size() < before) {
    auto prompt = row.prompt();
    if (!prompt) return {};
    return {ask_model(plan_->request, std::move(*prompt))};
  }
  if (!plan_->judge_prompt || replies.size() > before) return {};
  const auto answer = row.answer(replies);
  if (!answer) return {};
  row.set_answer(*answer);
  auto prompt = row.render(*plan_->judge_prompt);
  if (!prompt) return {};
  return {ask_judge(plan_->request, std::move(*prompt))};
}

Scored RowTask::score(std::size_t sample, std::span<const Reply> replies) const {
  const TaskRow& text = rows_.rows.at(sample);
  OpenRow row(*plan_, text);
  const Text prompt = plan_->prompt ? row.prompt() : Text("");
  const auto answer = row.answer(replies);
  const std::size_t before = plan_->prompt ? 1 : 0;
  const Reply* judge = replies.size() > before ? &replies[before] : nullptr;
  Scoring scoring;
  if (!answer) {
    scoring.fault = answer.error();
  } else {
    row.set_answer(*answer);
    score_similarity(*plan_, row, answer->text, scoring);
    score_checks(*plan_, row, answer->text, scoring);
    score_judgements(*plan_, judge, scoring);
  }
  Scored out{.fault = scoring.fault};
  out.record = json::object_text([&](json::Writer& w) {
    w.key("item");
    w.raw(text.text);
    if (plan_->prompt && prompt) w.member("prompt", *prompt);
    if (answer) w.member("output_text", answer->text);
    if (answer && !answer->tool_calls.empty()) {
      w.key("tool_calls");
      w.raw(answer->tool_calls);
    }
    if (scoring.references.size() == 1) w.member("reference", scoring.references.front());
    if (scoring.references.size() > 1)
      w.array("references", [&] {
        for (const std::string& each : scoring.references) w.value(each);
      });
    if (judge != nullptr && judge->answer) w.member("judge", judge->answer->text);
    if (scoring.fault.empty())
      write_scores(w, scoring);
    else
      w.member("fault", scoring.fault);
  });
  if (scoring.fault.empty()) out.values = std::move(scoring.values);
  return out;
}

TaskResult RowTask::result(std::span<const std::vector<double>> values, std::uint64_t failed) const {
  TaskResult out{.name = name_, .version = "1", .samples = values.size() + failed, .failed = failed};
  std::size_t column = 0;
  if (plan_->similarities) {
    plan_->similarities->results(values, 0, out.scores);
    column = plan_->similarities->columns();
  }
  for (const PlannedCheck& each : plan_->checks)
    out.scores.push_back(mean_score("string-check", each.name, column_of(values, column++)));
  for (const PlannedJudgement& each : plan_->judgements)
    out.scores.push_back(mean_score("llm-judge", each.name, column_of(values, column++)));
  return out;
}

}  // namespace stackgate::evaluator
