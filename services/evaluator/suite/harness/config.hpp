// One task's settings as values: lm-evaluation-harness' TaskConfig, as far as it needs no Python. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/harness/filters.hpp"
#include "services/evaluator/suite/harness/metrics.hpp"
#include "services/evaluator/suite/harness/task_files.hpp"

namespace stackgate::evaluator::harness {

/// doc_to_text and its like: a column or a template of the row, a number, or a list that is the same for each row.
struct Source {
  enum class Kind : std::uint8_t { none, text, number, list } kind = Kind::none;
  std::string text{};
  std::int64_t number = 0;
  std::vector<std::string> list{};
  std::string place{};  // "tasks/x.yaml:12"

  bool is_set() const { return kind != Kind::none; }
};

struct Generation {
  std::vector<std::string> until{};
  std::optional<std::uint32_t> max_tokens{};
  double temperature = 0;
  std::optional<double> top_p{};
};

struct Fewshot {
  std::uint32_t count = 0;
  bool is_zero_by_file = false;          // the task file says 0: a request for more is ignored
  std::string split{};                   // "": that of training, of validation, of the test, whichever there is
  bool first_n = false;                  // else drawn
  std::vector<std::string> samples{};    // rows as JSON; with a split they are not looked at
  std::vector<std::uint32_t> indices{};  // of the split's rows; empty: all
  Source text{}, target{}, choice{};     // where they differ from the task's
  std::string place{};
};

/// A split's files, or what says where they are.
struct SplitFiles {
  std::string split{};
  std::vector<std::string> paths{};
  std::string place{};
};

struct TaskConfig {
  std::string name{}, alias{}, version{};
  std::string place{}, folder{};  // of its task file: "tasks/x.yaml:1", "tasks/"
  OutputType output = OutputType::generate_until;
  std::string dataset_path{}, dataset_name{};
  std::vector<SplitFiles> data_files{};
  std::string training_split{}, validation_split{}, test_split{};
  Source text{}, target{}, choice{}, description{}, gen_prefix{};
  std::string target_delimiter = " ", fewshot_delimiter = "\n\n";
  Fewshot fewshot{};
  Generation generation{};
  std::vector<MetricConfig> metrics{};
  std::vector<FilterPipeline> filters{};  // at least one
  std::uint32_t repeats = 1;

  const std::string& evaluated_split() const { return test_split.empty() ? validation_split : test_split; }
};

/// Every fault at once; what is returned is complete where there were no errors.
TaskConfig read_config(const ChosenTask& task, validate::Findings& findings);

}  // namespace stackgate::evaluator::harness
