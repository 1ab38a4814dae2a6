#include "services/evaluator/suite/calls/call_task.hpp"

#include <cmath>
#include <map>

#include "services/evaluator/metrics/tool_calls.hpp"
#include "services/evaluator/suite/calls/call_row.hpp"
#include "services/evaluator/suite/calls/functions.hpp"
#include "services/evaluator/suite/mean_scores.hpp"
#include "services/evaluator/suite/questions.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

// The columns of a sample.
constexpr std::size_t file_column = 0, correct_column = 1, names_column = 2, exact_column = 3;

struct OpenCallRow {
  json::Document document{};
  std::expected<CallRow, std::string> row = std::unexpected("is no row");

  OpenCallRow(const TaskRow& from, std::string_view category) {
    if (const auto root = json::parse(from.text, document, {.max_depth = 64, .max_bytes = largest_row}))
      row = read_call_row(*root, category);
  }
};

struct Verdict {
  bool correct = false;
  std::string why{};  // it is not
  double names = no_value, exact = no_value;
};

Verdict verdict_of(const CallRow& row, const json::Value& calls) {
  Verdict out;
  switch (row.expects) {
    case CallRow::Expects::syntax:
      out.why = match_calls(calls, row.expected, row.functions);
      break;
    case CallRow::Expects::calls: {
      const CallAccuracy found = call_accuracy(calls, row.expected);
      out.names = found.names ? 1 : 0;
      out.exact = found.names_and_arguments ? 1 : 0;
      if (!found.names_and_arguments) out.why = found.names ? "the arguments differ" : "the functions differ";
      break;
    }
    case CallRow::Expects::none:
      if (!calls.items().empty()) out.why = "calls a function where none fits";
      break;
    case CallRow::Expects::any:
      if (calls.items().empty()) out.why = "calls no function";
      break;
    case CallRow::Expects::unknown:
      out.why = "nothing is known of the calls that are expected";
      break;
  }
  out.correct = out.why.empty();
  return out;
}

}  // namespace

CallTask::CallTask(std::string name, std::string version, EvaluationRequest request, TaskRows rows,
                   std::vector<std::string> categories)
    : name_(std::move(name)),
      version_(std::move(version)),
      request_(std::move(request)),
      rows_(std::move(rows)),
      categories_(std::move(categories)) {}

std::vector<Asked> CallTask::next(std::size_t sample, std::span<const Reply> replies) const {
  const TaskRow& text = rows_.rows.at(sample);
  const OpenCallRow open(text, categories_.at(text.file));
  if (!replies.empty() || !open.row || open.row->expects == CallRow::Expects::unknown) return {};
  Asked out = ask_model(request_, open.row->messages);
  out.question.tools = tools_of(open.row->functions);
  return {std::move(out)};
}

Scored CallTask::score(std::size_t sample, std::span<const Reply> replies) const {
  const TaskRow& text = rows_.rows.at(sample);
  const OpenCallRow open(text, categories_.at(text.file));
  Scored out;
  std::string calls_text = "[]";
  Verdict verdict;
  if (!open.row) {
    out.fault = open.row.error();
  } else if (replies.empty() || !replies.front().answer) {
    out.fault = replies.empty() ? verdict_of(*open.row, {}).why : replies.front().fault;
  } else {
    calls_text = calls_of(replies.front().answer->tool_calls, open.row->functions);
    json::Document document;
    verdict = verdict_of(*open.row, json::parse(calls_text, document).value_or(json::Value()));
    out.values = {static_cast<double>(text.file), verdict.correct ? 1.0 : 0.0, verdict.names, verdict.exact};
  }
  out.record = json::object_text([&](json::Writer& w) {
    w.key("item");
    w.raw(text.text);
    w.member("category", categories_.at(text.file));
    if (!out.fault.empty()) return w.member("fault", out.fault);
    w.member("output_text", replies.front().answer->text);
    w.key("tool_calls");
    w.raw(calls_text);
    w.object("scores", [&] {
      w.member("accuracy", verdict.correct ? 1 : 0);
      if (std::isnan(verdict.names)) return;
      w.member("function_name_accuracy", verdict.names);
      w.member("function_name_and_args_accuracy", verdict.exact);
    });
    if (!verdict.why.empty()) w.member("reason", verdict.why);
  });
  return out;
}

TaskResult CallTask::result(std::span<const std::vector<double>> values, std::uint64_t failed) const {
  TaskResult out{.name = name_, .version = version_, .samples = values.size() + failed, .failed = failed};
  std::map<std::string, std::vector<double>> by_category;
  std::vector<double> named, exact;  // of rows with tool_calls alone: the others have none to have
  for (const std::vector<double>& each : values) {
    by_category[categories_.at(static_cast<std::size_t>(each.at(file_column)))].push_back(each.at(correct_column));
    if (std::isnan(each.at(names_column))) continue;
    named.push_back(each.at(names_column));
    exact.push_back(each.at(exact_column));
  }
  std::vector<double> means;
  for (const auto& [category, rows] : by_category) {
    out.scores.push_back(mean_score("accuracy", category + "_accuracy", rows));
    means.push_back(out.scores.back().value);
  }
  // The categories are no sample of categories, so their mean has neither error nor spread.
  Score overall = mean_score("accuracy", "overall_accuracy", means);
  overall.error = no_value;
  overall.spread = {};
  out.scores.push_back(std::move(overall));
  out.scores.push_back(mean_score("accuracy", "overall_accuracy_weighted", column_of(values, correct_column)));
  if (named.empty()) return out;
  out.scores.push_back(mean_score("tool-calling-accuracy", "function_name_accuracy", named));
  out.scores.push_back(mean_score("tool-calling-accuracy", "function_name_and_args_accuracy", exact));
  return out;
}

}  // namespace stackgate::evaluator
