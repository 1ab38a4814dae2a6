// Training files as examples, with all that is wrong with them. Pure: the files' texts are the caller's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/model/chat/chat_templates.hpp"
#include "services/model/training_lines/line.hpp"
#include "services/trainer/data/example.hpp"
#include "services/trainer/data/tokens.hpp"

namespace stackgate::trainer {

struct DataFault {
  std::string file;
  std::uint64_t line = 0;  // from 1; 0: the file as a whole
  std::string problem;
};
/// "FILE:LINE: problem"
std::string to_text(const DataFault& fault);

struct Dataset {
  std::vector<Example> examples;
  std::uint64_t tokens = 0, trained_tokens = 0;
  std::uint64_t cut = 0;        // examples that were too long
  std::uint64_t skipped = 0;    // of these, examples of which nothing trained was left
  std::uint64_t last_only = 0;  // conversations of which only the last turn is trained
  std::uint64_t fault_count = 0;
  std::vector<DataFault> faults;  // the first 20; if there are any, nothing is to be trained
  std::uint64_t digest = 0;       // of all examples' tokens and of what is trained: equal for equal data
};

inline constexpr std::size_t most_data_faults = 20;

/// Takes a share of the examples out, drawn by the seed, one at least; what stays keeps its order, and one stays.
/// Needs two.
Dataset split_off(Dataset& from, double share, std::uint64_t seed);

class DatasetReader {
 public:
  /// Both must outlive this object. `most`: tokens of an example.
  DatasetReader(Tokens& tokens, const model::ChatTemplates& templates, std::size_t most)
      : tokens_(tokens), templates_(templates), most_(most) {}

  /// JSON lines; blank ones pass. Takes milliseconds per megabyte.
  void add_file(const std::string& name, std::string_view text);
  /// After the last file, once. No examples at all, or more skipped than half of them, are faults.
  Dataset finish();

 private:
  std::optional<std::string> add_line(std::string_view text, std::optional<model::TrainingLineKind>& kind);
  void fault(const std::string& file, std::uint64_t line, std::string problem);
  void digest(const Example& example);

  Tokens& tokens_;
  const model::ChatTemplates& templates_;
  std::size_t most_;
  std::string last_file_;
  json::Document document_;
  Dataset out_;
};

}  // namespace stackgate::trainer
