#include "services/evaluator/suite/harness/harness.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "services/evaluator/suite/harness/config.hpp"
#include "services/evaluator/suite/harness/harness_task.hpp"
#include "services/evaluator/suite/harness/splits.hpp"
#include "services/evaluator/suite/harness/templates.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace harness {
namespace {

using validate::Findings;

constexpr std::size_t most_row_faults = 20;  // of one task
constexpr std::size_t most_findings = 200;
constexpr std::array<std::string_view, 2> loaders = {"json", "jsonl"};

Columns columns_of(const Split& split) {
  Columns out;
  if (split.rows.empty()) return out;
  json::Document document;
  if (const auto row = json::parse(split.rows.front().text, document))
    for (const json::Member& member : row->members()) out.emplace(member.key);
  return out;
}

/// Rows that the task file has itself.
SplitPtr samples_of(const Fewshot& fewshot) {
  auto out = std::make_shared<Split>();
  const std::size_t colon = fewshot.place.rfind(':');
  const auto line = to_number<std::uint32_t>(std::string_view(fewshot.place).substr(colon + 1)).value_or(0);
  out->files.emplace_back(0, fewshot.place.substr(0, colon));
  for (const std::string& each : fewshot.samples) out->rows.push_back({.text = each, .line = line});
  return out;
}

class Maker {
 public:
  Maker(const EvaluationRequest& request, const DataSource& data, Findings& findings)
      : request_(request), data_(data), findings_(findings), splits_(data) {}

  std::unique_ptr<Task> make(const ChosenTask& chosen) {
    const std::size_t before = errors();
    TaskParts parts{.config = read_config(chosen, findings_),
                    .groups = chosen.groups,
                    .requests = request_.requests,
                    .seed = request_.seed,
                    .bootstrap_rounds = request_.bootstrap_rounds};
    log_what_is_not_loaded(chosen);
    if (parts.config.output != OutputType::generate_until && parts.requests.chat) no_chat(parts.config);
    if (!parts.config.evaluated_split().empty()) rows(parts);
    compile(parts);
    if (errors() > before) return nullptr;
    check_rows(parts);
    return errors() > before ? nullptr : std::make_unique<HarnessTask>(std::move(parts));
  }

 private:
  std::size_t errors() const {
    return static_cast<std::size_t>(
        std::ranges::count(findings_, validate::Severity::error, &validate::Finding::severity));
  }
  void wrong(std::string place, std::string problem, std::string fix) {
    findings_.push_back(
        {.rule = "evaluation-data", .path = std::move(place), .problem = std::move(problem), .fix = std::move(fix)});
  }

  void log_what_is_not_loaded(const ChosenTask& chosen) {
    const auto found = chosen.settings.find("dataset_path");
    if (found == chosen.settings.end()) return;
    const std::string_view path = found->second.value.string();
    const bool is_folder =
        std::ranges::any_of(data_.paths, [&](const std::string& each) { return each.starts_with(path); });
    if (path.empty() || is_folder || std::ranges::find(loaders, path) != loaders.end()) return;
    harness::wrong(findings_, found->second,
                   fmt::format("names \"{}\", which is not loaded: rows are read from the data set's files", path),
                   "leave it out, or write json", validate::Severity::warning);
  }

  void no_chat(const TaskConfig& config) {
    if (std::exchange(reported_no_chat_, true)) return;
    findings_.push_back(
        {.rule = "evaluation-task",
         .path = "params.format",
         .problem = fmt::format("is chat, and {} needs log-probabilities of given texts, which only /completions gives",
                                config.name),
         .fix = R"(write "completions", or take tasks of the output type generate_until)"});
  }

  void rows(TaskParts& parts) {
    TaskConfig& config = parts.config;
    Fewshot& fewshot = config.fewshot;
    if (request_.num_fewshot && fewshot.is_zero_by_file && *request_.num_fewshot > 0)
      findings_.push_back(
          {.rule = "evaluation-data",
           .severity = validate::Severity::warning,
           .path = fewshot.place,
           .problem = fmt::format("num_fewshot is 0, so that {} has no examples, whatever is asked for", config.name),
           .fix = "take it out of the task file"});
    if (request_.num_fewshot && !fewshot.is_zero_by_file) fewshot.count = *request_.num_fewshot;
    if (config.output == OutputType::loglikelihood_rolling) fewshot.count = 0;  // there is no context
    std::string from = fewshot.split;
    for (const std::string* each : {&config.training_split, &config.validation_split, &config.test_split})
      if (from.empty() && fewshot.samples.empty()) from = *each;
    const bool own = fewshot.count > 0 && from == config.evaluated_split();
    const std::size_t limit = request_.limit.value_or(most_rows);
    parts.rows = splits_.read(config, config.evaluated_split(), own ? most_rows : limit, config.place, findings_);
    if (parts.rows == nullptr) return;
    parts.samples = static_cast<std::uint32_t>(std::min(limit, parts.rows->rows.size()));
    if (fewshot.count == 0) return;
    const SplitPtr pool = own            ? parts.rows
                          : from.empty() ? samples_of(fewshot)
                                         : splits_.read(config, from, most_rows, config.place, findings_);
    if (pool == nullptr) return;
    const std::size_t size = fewshot.indices.empty() ? pool->rows.size() : fewshot.indices.size();
    const std::size_t needed = fewshot.count + (own ? 1U : 0U);
    if (size < needed && !data_.beginnings)
      return wrong(fewshot.place.empty() ? config.place : fewshot.place,
                   fmt::format("{} examples of {} are asked for, and {} has {} rows{}", fewshot.count, config.name,
                               from.empty() ? "fewshot_config.samples" : fmt::format("\"{}\"", from), size,
                               own ? ", of which one is the question itself" : ""),
                   "lower num_fewshot, or add rows");
    parts.examples = Examples(pool, fewshot, fewshot.count, own, parts.samples, request_.seed);
  }

  void compile(TaskParts& parts) {
    const TaskConfig& config = parts.config;
    const Columns columns = parts.rows == nullptr ? Columns{} : columns_of(*parts.rows);
    const Columns of_examples = parts.examples.pool() == nullptr ? columns : columns_of(*parts.examples.pool());
    const auto one = [&](const Source& source, const Columns& known, std::string_view key) {
      auto out = RowTemplate::compile(source, known);
      if (out) return std::move(*out);
      wrong(source.place, fmt::format("{} is no template: {}", key, out.error()), "write it as Jinja2 has it");
      return RowTemplate();
    };
    parts.templates = {one(config.text, columns, "doc_to_text"), one(config.target, columns, "doc_to_target"),
                       one(config.choice, columns, "doc_to_choice")};
    parts.description = one(config.description, columns, "description");
    parts.gen_prefix = one(config.gen_prefix, columns, "gen_prefix");
    if (parts.examples.pool() == nullptr || errors() > 0) return;
    const Fewshot& fewshot = config.fewshot;
    const auto either = [](const Source& own, const Source& other) -> const Source& {
      return own.is_set() ? own : other;
    };
    parts.example_templates = {one(either(fewshot.text, config.text), of_examples, "fewshot_config.doc_to_text"),
                               one(either(fewshot.target, config.target), of_examples, "fewshot_config.doc_to_target"),
                               one(either(fewshot.choice, config.choice), of_examples, "fewshot_config.doc_to_choice")};
  }

  void check_rows(const TaskParts& parts) {
    std::size_t faults = 0;
    const auto add = [&](const Split& split, std::size_t row, std::string fault) {
      if (fault.empty() || ++faults > most_row_faults) return;
      // The same row of the same file is of several tasks.
      if (const std::string place = split.place(row); reported_.insert(place + fault).second)
        findings_.push_back({.rule = "evaluation-data",
                             .path = place,
                             .problem = fmt::format("{} (task {})", fault, parts.config.name),
                             .fix = "correct the row, or the task's templates"});
    };
    for (const std::uint32_t row : parts.examples.all()) add(*parts.examples.pool(), row, fault_of_example(parts, row));
    if (faults > 0) return;  // they are a part of each prompt
    for (std::size_t i = 0; i < parts.samples && faults < most_row_faults; ++i) add(*parts.rows, i, fault_of(parts, i));
  }

  const EvaluationRequest& request_;
  const DataSource& data_;
  Findings& findings_;
  Splits splits_;
  std::set<std::string> reported_{};
  bool reported_no_chat_ = false;
};

}  // namespace
}  // namespace harness

std::expected<std::vector<std::unique_ptr<Task>>, validate::Findings> make_harness_tasks(
    const EvaluationRequest& request, const DataSource& data, validate::Findings* warnings) {
  validate::Findings findings;
  harness::TaskFiles files(data);
  harness::Maker maker(request, data, findings);
  std::vector<std::unique_ptr<Task>> out;
  for (const harness::ChosenTask& each : files.choose(request.tasks, findings)) {
    if (findings.size() > harness::most_findings) break;
    if (auto task = maker.make(each)) out.push_back(std::move(task));
  }
  if (validate::has_errors(findings)) {
    if (findings.size() > harness::most_findings) findings.resize(harness::most_findings);
    return std::unexpected(std::move(findings));
  }
  if (warnings != nullptr) warnings->insert(warnings->end(), findings.begin(), findings.end());
  return out;
}

}  // namespace stackgate::evaluator
